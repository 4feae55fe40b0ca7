"""Commands of an operator: the store of a server, and the nodes of a cluster."""

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import timedelta
from functools import partial
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
from msgspec import Struct
from typer import Argument, Option

from botdrome.cli.options import LOCAL, MOST_LISTED, Database, Json, Server
from botdrome.cli.sources import OPERATOR, OperatorServer, server_at
from botdrome.cli.terminal import (
    CommandError,
    CommandFailed,
    command,
    complain,
    note,
    print_columns,
    print_json,
    say,
)
from botdrome.client.rest import ServerProblem, segment
from botdrome.server.lobby.tokens import new_token
from botdrome.server.settings import Settings
from botdrome.store.battlebot import documents, translated
from botdrome.store.entries import (
    BadExport,
    BrokenMatch,
    MatchEntry,
    StoreUnavailable,
    Wanted,
)
from botdrome.store.sqlite import open_private
from botdrome.store.store import Store, backup_sqlite, open_store

store_command = partial(command, StoreUnavailable, BrokenMatch, ValueError, ServerProblem)
Name = Annotated[str, Argument(help="The name of the node.")]


@store_command()
async def export(
    file: Annotated[
        Path | None, Argument(help="The target file. \\[default: standard output]")
    ] = None,
    form: Annotated[
        str,
        Option(
            "--format",
            help="store: all data, for `import`; jsonl or parquet: a row per match and player.",
        ),
    ] = "store",
    db: Database = "",
) -> None:
    """Export all data of a server as JSON lines, or the results as a table."""
    target = None if file == STANDARD else file
    if form not in ("store", "jsonl", "parquet"):
        raise CommandError(f"there is no format {form!r}; there are store, jsonl, parquet")
    if form == "parquet" and target is None:
        raise CommandError(
            "--format parquet writes a file; name it: botdrome admin export matches.parquet "
            "--format parquet"
        )
    url = store_url(db, existing=True)
    if form == "store":
        return await _export(url, target)
    try:
        await _export_rows(url, target, form)
    except ModuleNotFoundError:
        raise CommandFailed(NO_PYARROW) from None


@store_command(name="import")
async def import_files(
    files: Annotated[
        list[Path],
        Argument(help="Files written by `export`, or by mongoexport from a Battlebot database."),
    ],
    db: Database = "",
) -> int:
    """Import files of `export`, or the bots and games of a Battlebot server.

    Existing entries stay unchanged.
    """
    return 0 if await _take_in(store_url(db), files) else 1


@store_command()
def backup(file: Annotated[Path, Argument(help="The file to write.")], db: Database = "") -> None:
    """Copy the SQLite file of a server; the server may be running."""
    backup_sqlite(store_url(db, existing=True), file)


@store_command()
async def operator_token(db: Database = "") -> None:
    """Create a new operator token, and print it. The old token and its sessions end at once."""
    async with opened_store(store_url(db)) as store:
        say(await new_token(store))


@command(ServerProblem)
def nodes(server: Server = LOCAL, json: Json = False) -> None:
    """List the nodes of a cluster."""
    rest = server_at(server)
    found = rest.get(f"nodes?limit={MOST_LISTED}")
    if json:
        print_json(found)
    elif found["nodes"]:
        print_columns([HEAD, *map(_row, found["nodes"])])
    else:
        note(f"{rest.url} is a single server: {HOW}")


@command(ServerProblem)
def drain(name: Name, server: OperatorServer = OPERATOR) -> None:
    """Have a node take no new matches before you stop it.

    Other nodes go on with those that do not end within the seconds of its setting `drain`.
    """
    _change_node(name, server, True)
    note(f"{name} takes no new matches. Other nodes go on with those that do not end in time.")


@command(ServerProblem)
def undrain(name: Name, server: OperatorServer = OPERATOR) -> None:
    """Have a drained node take matches again."""
    _change_node(name, server, False)
    note(f"{name} takes matches again.")


def _change_node(name: str, server: OperatorServer, draining: bool) -> None:
    server.ask(f"operator/nodes/{segment(name)}", {"draining": draining}, "PUT")


HOW = "`botdrome serve --db postgresql://... --nats nats://...` joins a cluster."
HEAD = ("node", "tables", "connections", "waiting", "CPU", "age", "", "version", "address", "games")


def _row(node: dict[str, Any]) -> tuple[str, ...]:
    numbers = [str(node[key]) for key in ("tables", "connections", "waiting")]
    age = str(timedelta(seconds=node["seconds"]))
    state = "starting" if not node["url"] else "draining" if node["draining"] else ""
    games = ", ".join(node["games"]) or "-"
    return (
        node["name"], *numbers, f"{node['cpu']:.0%}", age, state, node["version"], node["url"],
        games,
    )  # fmt: skip


SQLITE = "sqlite:///"


def store_url(db: str, existing: bool = False) -> str:
    """Return the URL of the store, as for the server; empty: the default.

    `existing`: raise StoreUnavailable if an SQLite file is missing, so that reading does not
    create it.
    """
    url = Settings(db=db).store_url
    if existing and url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).exists():
        raise StoreUnavailable(f"{url}: the store does not exist")
    return url


@asynccontextmanager
async def opened_store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


STANDARD = Path("-")
"""Standard output or input."""
OURS = b'{"kind":'
"""The beginning of a Botdrome export."""


PAGE = 2_000
"""Matches per query, and per group of rows in a Parquet file."""
NO_PYARROW = "--format parquet needs pyarrow: pip install 'botdrome[parquet]'"

Rows = list["SeatRow"]


class SeatRow(Struct, frozen=True):
    """A player of a match. Times are in milliseconds since 1970; what is not known is None."""

    match: str
    game: str
    contest: str | None
    status: str
    started: int
    ended: int | None
    seed: str
    options: str
    """As JSON."""
    pace: str
    players: int
    seat: int
    bot: str
    place: int | None
    score: float | None
    cause: str | None


async def _export(url: str, file: Path | None) -> None:
    output = nullcontext(sys.stdout.buffer)
    async with opened_store(url) as store:
        with open(file, "wb", opener=open_private) if file else output as target:
            async for line in store.export():
                target.write(line)
            target.flush()


async def _take_in(url: str, files: Sequence[Path]) -> bool:
    """Return False if something was left out."""
    new, complaints = 0, Complaints()
    async with opened_store(url) as store:
        for file in files:
            complaints.file = file
            try:
                new += await store.restore(_lines(file, complaints))
            except BadExport as problem:
                raise BadExport(f"{file}: {problem}") from None
    note(f"{new} entries were new")
    return not complaints.count


class Complaints:
    """Reports and counts the entries that are left out."""

    def __init__(self) -> None:
        self.file, self.count = STANDARD, 0

    def add(self, words: str) -> None:
        self.count += 1
        complain(f"{self.file}: {words}; left out")


async def _lines(file: Path, complaints: Complaints) -> AsyncIterator[bytes]:
    """Yield the lines of an export, translated if the file is from a Battlebot database."""
    with nullcontext(_standard_input()) if file == STANDARD else file.open("rb") as source:
        ours = source.peek(len(OURS)).lstrip().startswith(OURS)
        for line in source if ours else translated(documents(source), complaints.add):
            yield line


def _standard_input() -> BufferedReader:
    """Return a stream that can be peeked into."""
    return BufferedReader(cast(Any, sys.stdin.buffer))


async def _export_rows(url: str, file: Path | None, form: str) -> None:
    write, close = _parquet(file) if form == "parquet" and file else _line_writer(file)
    try:
        async with opened_store(url) as store:
            async for rows in _pages(store):
                write(rows)
    finally:
        close()


async def _pages(store: Store) -> AsyncIterator[Rows]:
    offset = 0
    while matches := await store.matches(Wanted(oldest_first=True, limit=PAGE, offset=offset)):
        yield [row for match in matches for row in rows_of(match)]
        offset += len(matches)


def rows_of(match: MatchEntry) -> Rows:
    result, options = match.result, msgspec.json.encode(match.options).decode()
    return [
        SeatRow(
            match.id,
            match.game,
            match.contest,
            match.status,
            match.started,
            match.ended,
            str(match.seed),
            options,
            match.pace,
            len(match.players),
            seat,
            bot,
            *(
                (result.places[seat], float(result.scores[seat]), result.causes[seat])
                if result
                else (None, None, None)
            ),
        )
        for seat, bot in enumerate(match.players)
    ]


def _line_writer(file: Path | None) -> tuple[Callable[[Rows], None], Callable[[], None]]:
    target = file.open("wb") if file else sys.stdout.buffer
    encoder = msgspec.json.Encoder()

    def write(rows: Rows) -> None:
        target.write(encoder.encode_lines(rows))

    return write, target.close if file else target.flush


def _parquet(file: Path) -> tuple[Callable[[Rows], None], Callable[[], None]]:
    """Raise ModuleNotFoundError without pyarrow."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    kinds: dict[Any, Any] = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    fields = [(field.name, *_kind(field.type)) for field in msgspec.structs.fields(SeatRow)]
    schema = arrow.schema(
        [arrow.field(name, kinds[kind], nullable) for name, kind, nullable in fields]
    )
    writer = parquet.ParquetWriter(file, schema)

    def write(rows: Rows) -> None:
        writer.write_table(
            arrow.Table.from_pylist([msgspec.structs.asdict(row) for row in rows], schema=schema)
        )

    return write, writer.close


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Return the type of a column, and whether it may be None."""
    kinds = getattr(annotation, "__args__", (annotation,))
    return kinds[0], len(kinds) > 1
