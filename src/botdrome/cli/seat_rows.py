"""`botdrome export --format jsonl|parquet`: one row for each player of each match, for people who
want the data.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.cli.store_commands import STANDARD, existing, store_url
from botdrome.cli.terminal import REFUSED, complain
from botdrome.store.opening import open_store
from botdrome.store.store import BadStoreUrl, MatchEntry, Store, StoreUnavailable, Wanted

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
        asyncio.run(_export(existing(store_url(db)), target, form))
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


async def _export(url: str, file: Path | None, form: str) -> None:
    write, close = _parquet(file) if form == "parquet" and file else _lines(file)
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


def _lines(file: Path | None) -> tuple[Callable[[Rows], None], Callable[[], None]]:
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
