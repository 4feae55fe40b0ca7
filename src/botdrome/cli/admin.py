"""Commands of an operator: the store of a server, and the nodes of a cluster."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer
from msgspec import Struct

from botdrome.cli.contest import Json, attempt
from botdrome.cli.contest_server import Token, needed_token, reached
from botdrome.cli.join import LOCAL, MOST_LISTED, Server, print_columns
from botdrome.cli.options import Database
from botdrome.cli.terminal import REFUSED, Terminal, complain
from botdrome.client.rest import RestServer, segment
from botdrome.server.lobby.tokens import new_token
from botdrome.server.settings import Settings
from botdrome.store.battlebot import documents, translated
from botdrome.store.entries import (
    BadExport,
    BadStoreUrl,
    BrokenMatch,
    MatchEntry,
    StoreUnavailable,
    Wanted,
)
from botdrome.store.opening import backup_sqlite, open_store
from botdrome.store.sqlite import open_private
from botdrome.store.store import Store

app = typer.Typer()


@app.command("export")
def export_command(
    file: Annotated[
        Path | None, typer.Argument(help="The target file. \\[default: standard output]")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="store: all data, for `import`; jsonl or parquet: a row per match and player.",
        ),
    ] = "store",
    db: Database = "",
) -> None:
    """Export all data of a server as JSON lines, or the results as a table."""
    if form == "store":
        raise typer.Exit(export(db, file))
    raise typer.Exit(export_rows(db, file, form))


@app.command("import")
def take_in_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files written by `export`, or by mongoexport from a Battlebot database."
        ),
    ],
    db: Database = "",
) -> None:
    """Import files of `export`, or the bots and games of a Battlebot server.

    Existing entries stay unchanged.
    """
    raise typer.Exit(take_in(db, files))


@app.command("backup")
def backup_command(
    file: Annotated[Path, typer.Argument(help="The file to write.")], db: Database = ""
) -> None:
    """Copy the SQLite file of a server; the server may be running."""
    raise typer.Exit(backup(db, file))


@app.command("operator-token")
def operator_token_command(db: Database = "") -> None:
    """Create a new operator token, and print it. The old token and its sessions end at once."""
    raise typer.Exit(operator_token(db))


SQLITE = "sqlite:///"


def store_url(db: str) -> str:
    """Return the URL of the store, as for the server; empty: the default."""
    return Settings(db=db).store_url


def existing(url: str) -> str:
    """Raise StoreUnavailable if an SQLite file is missing, so that reading does not create it."""
    file = url.removeprefix(SQLITE)
    if url.startswith(SQLITE) and not Path(file).exists():
        raise StoreUnavailable(f"{url}: the store does not exist")
    return url


STANDARD = Path("-")
"""Standard output or input."""
OURS = b'{"kind":'
"""The beginning of a Botdrome export."""


def export(db: str, file: Path | None) -> int:
    return _attempt(
        lambda: asyncio.run(_export(existing(store_url(db)), None if file == STANDARD else file))
    )


def take_in(db: str, files: Sequence[Path]) -> int:
    return _attempt(lambda: asyncio.run(_take_in(store_url(db), files)))


def backup(db: str, target: Path) -> int:
    return _attempt(lambda: backup_sqlite(existing(store_url(db)), target))


def operator_token(db: str) -> int:
    return _attempt(
        lambda: Terminal().print(asyncio.run(_new_token(store_url(db))), soft_wrap=True)
    )


async def _new_token(url: str) -> str:
    store = await open_store(url)
    try:
        return await new_token(store)
    finally:
        await store.close()


def _attempt(work: Callable[[], bool | None]) -> int:
    """Return the exit status. `work` returns False if it left something out."""
    try:
        done = work()
    except (BadStoreUrl, BrokenMatch, StoreUnavailable, OSError, ValueError) as problem:
        complain(problem)
        return 1
    return 1 if done is False else 0


async def _export(url: str, file: Path | None) -> None:
    store = await open_store(url)
    target = open(file, "wb", opener=open_private) if file else sys.stdout.buffer  # noqa: SIM115
    try:
        async for line in store.export():
            target.write(line)
        target.flush()
    finally:
        if file:
            target.close()
        await store.close()


async def _take_in(url: str, files: Sequence[Path]) -> bool:
    """Return False if something was left out."""
    store, new, complaints = await open_store(url), 0, Complaints()
    try:
        for file in files:
            complaints.file = file
            try:
                new += await store.restore(_lines(file, complaints))
            except BadExport as problem:
                raise BadExport(f"{file}: {problem}") from None
    finally:
        await store.close()
    Terminal(stderr=True).print(f"{new} entries were new")
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


def export_rows(db: str, file: Path | None, form: str) -> int:
    """Return the exit status."""
    if form not in ("jsonl", "parquet"):
        complain(f"there is no format {form!r}; there are store, jsonl, parquet")
        return REFUSED
    target = None if file == STANDARD else file
    if form == "parquet" and target is None:
        complain(
            "--format parquet writes a file; name it: botdrome export matches.parquet --format "
            "parquet"
        )
        return REFUSED
    try:
        asyncio.run(_export_rows(existing(store_url(db)), target, form))
    except (BadStoreUrl, StoreUnavailable) as problem:
        complain(problem)
        return 1
    except ModuleNotFoundError:
        complain(NO_PYARROW)
        return 1
    except OSError as error:
        complain(f"{error.filename or file}: {error.strerror}")
        return 1
    return 0


async def _export_rows(url: str, file: Path | None, form: str) -> None:
    write, close = _parquet(file) if form == "parquet" and file else _line_writer(file)
    try:
        store = await open_store(url)
        try:
            async for rows in _pages(store):
                write(rows)
        finally:
            await store.close()
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


nodes = typer.Typer(help="List the nodes of a cluster, or drain one before you stop it.")

Name = Annotated[str, typer.Argument(help="The name of the node.")]


@nodes.callback(invoke_without_command=True)
def listed(context: typer.Context, server: Server = LOCAL, json: Json = False) -> None:
    if context.invoked_subcommand is None:
        raise typer.Exit(list_nodes(server, json))


@nodes.command()
def drain(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Move the matches of a node to others, and have it take no new ones, before you stop it."""
    raise typer.Exit(change_node(server, token, name, True))


@nodes.command()
def undrain(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Have a drained node take matches again."""
    raise typer.Exit(change_node(server, token, name, False))


app.add_typer(nodes, name="nodes")

HOW = "`botdrome serve --db postgresql://... --nats nats://...` joins a cluster."
HEAD = ("node", "address", "version", "tables", "connections", "waiting", "CPU", "age", "games", "")


def list_nodes(server: str, as_json: bool) -> int:
    def work(rest: RestServer) -> int:
        found = rest.get(f"nodes?limit={MOST_LISTED}")
        if as_json:
            sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        elif found["nodes"]:
            print_columns([HEAD, *map(_row, found["nodes"])])
        else:
            Terminal(stderr=True).print(f"{rest.url} is a single server: {HOW}", soft_wrap=True)
        return 0

    return reached(server, work)


def _row(node: dict[str, Any]) -> tuple[str, ...]:
    numbers = [str(node[key]) for key in ("tables", "connections", "waiting")]
    state = "starting" if not node["url"] else "draining" if node["draining"] else ""
    games = ", ".join(node["games"]) or "-"
    return (
        node["name"],
        node["url"],
        node["version"],
        *numbers,
        f"{node['cpu']:.0%}",
        _age(node["seconds"]),
        games,
        state,
    )


def _age(seconds: int) -> str:
    return str(timedelta(seconds=seconds))


def change_node(server: str, token: str, name: str, draining: bool) -> int:
    def work(rest: RestServer) -> int:
        rest.get(
            f"operator/nodes/{segment(name)}", needed_token(token), {"draining": draining}, "PUT"
        )
        words = (
            "takes no new matches, and moves its own to other nodes"
            if draining
            else "takes matches again"
        )
        Terminal(stderr=True).print(f"{name} {words}.", soft_wrap=True)
        return 0

    return attempt(name, lambda: reached(server, work))
