"""The inputs of running matches in the store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import Setup, new_match
from botdrome.server.tables import kept_table
from botdrome.server.tables.kept_table import (
    InputKeeper,
    KeptMatch,
    KeptTable,
    chunks_in,
    unpack_head,
)
from botdrome.server.tables.table import Subscriber
from botdrome.server.tables.timing import MoveTimes, TickTimers, never
from botdrome.store.entries import Fenced, MatchEntry, StoreUnavailable
from botdrome.store.store import Store, open_store
from tests.patience import PATIENCE
from tests.server.tables.test_table import Hearer

pytestmark = pytest.mark.anyio

GAME = "noughts-and-crosses"


class MemoryRows:
    """Rows that are written when the test says so."""

    def __init__(self) -> None:
        self.rows: dict[int, bytes] = {}
        self.changed, self.open = asyncio.Event(), asyncio.Event()
        self.open.set()
        self.problem: Exception | None = None
        self.tries = 0
        self.elsewhere: set[str] = set()
        """Matches that run at other nodes."""

    async def write(self, number: int, data: bytes) -> None:
        self.tries += 1
        self.changed.set()
        await self.open.wait()
        if self.problem is not None:
            raise self.problem
        self.rows[number] = data
        self.changed.set()

    async def delete_before(self, number: int) -> None:
        self.rows = {one: data for one, data in self.rows.items() if one >= number}
        self.changed.set()

    async def running(self, match_ids: Sequence[str]) -> set[str]:
        return self.elsewhere & set(match_ids)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    @property
    def matches(self) -> dict[str, KeptMatch]:
        return matches_in(list(self.rows.values()))


def matches_in(rows: list[bytes]) -> dict[str, KeptMatch]:
    found: dict[str, KeptMatch] = {}
    for row in rows:
        for chunk in chunks_in(row):
            found.setdefault(chunk.match, KeptMatch()).add(chunk)
    return found


def lines_of(table: KeptTable) -> list[bytes]:
    return table.match.input_log.some(0, len(table.match.input_log))


def a_table(
    store: Store, keeper: InputKeeper, match_id: str, *seated: Hearer, game: str = GAME
) -> KeptTable:
    row, entry = CATALOGUE[game], MatchEntry(match_id, game, ("ada", "bob"), 0)
    store.begin(entry)
    times = MoveTimes(Match(row.game, 2, row.terms, 1), 300, never, asyncio.get_running_loop())
    table = KeptTable(entry, times, store, 1024, TickTimers(), keeper)
    for player, one in enumerate(seated):
        table.seat(player, one)
    table.subscribe(Subscriber(over=lambda _: keeper.forget(table)))
    table.start()
    return table


@asynccontextmanager
async def kept() -> AsyncIterator[tuple[Store, InputKeeper, MemoryRows]]:
    store, rows = await open_store("sqlite:///:memory:"), MemoryRows()
    keeper = InputKeeper(rows)
    yield store, keeper, rows
    await keeper.close()
    await store.close()


async def test_a_move_that_waits_for_those_of_others_is_stored() -> None:
    async with kept() as (store, keeper, rows):
        table = a_table(store, keeper, "one", game="battlecube")
        await rows.until(lambda: bool(rows.rows))
        before = len(lines_of(table))
        assert table.submit(0, [{"task": "NOOP"}], b"") == "accepted"
        assert len(lines_of(table)) > before
        await rows.until(lambda: rows.matches["one"].lines == lines_of(table))


async def test_inputs_of_all_matches_are_in_one_row() -> None:
    async with kept() as (store, keeper, rows):
        one, two = a_table(store, keeper, "one"), a_table(store, keeper, "two")
        one.submit(0, {"mark": "X", "space": [0, 0]}, b"")
        two.submit(0, {"mark": "X", "space": [1, 1]}, b"")
        await rows.until(lambda: bool(rows.rows))
        assert {match: found.lines for match, found in matches_in([rows.rows[1]]).items()} == {
            "one": lines_of(one),
            "two": lines_of(two),
        }
        head = unpack_head(rows.matches["one"].head)
        assert head.entry == one.entry
        again = new_match(head.setup, CATALOGUE[GAME].game)
        assert (again.seed, again.terms, again.players) == (one.match.seed, one.match.terms, 2)
        two.abort("")
        one.submit(1, {"mark": "O", "space": [2, 2]}, b"")
        await rows.until(lambda: len(rows.rows) == 2)
        assert rows.matches["one"].lines == lines_of(one)


async def test_a_change_that_is_merged_into_a_stored_one_is_stored_again() -> None:
    async with kept() as (store, keeper, rows):
        table = a_table(store, keeper, "one", game="battlecube")
        for pause in (5, 7):
            table.amend({}, pause)
            await rows.until(
                lambda pause=pause: any(b"[{},%d]" % pause in row for row in rows.rows.values())  # type: ignore[misc]
            )
        assert rows.matches["one"].lines == lines_of(table)


async def test_an_outage_delays_inputs_and_stops_no_match() -> None:
    async with kept() as (store, keeper, rows):
        rows.problem = StoreUnavailable("away")
        table = a_table(store, keeper, "one")
        with capture_logs() as logs:
            await rows.until(lambda: rows.tries > 1)
            assert table.submit(0, {"mark": "X", "space": [0, 0]}, b"") == "accepted"
            rows.problem = None
            await rows.until(lambda: b'"move"' in b"".join(rows.rows.values()))
        assert rows.matches["one"].lines == lines_of(table)
        assert [line["event"] for line in logs] == [
            "the store cannot be written",
            "the store can be written again",
        ]


async def test_a_node_that_was_declared_dead_stores_nothing_more() -> None:
    async with kept() as (store, keeper, rows):
        rows.problem = Fenced("dead")
        table = a_table(store, keeper, "one")
        await rows.until(lambda: rows.tries == 1)
        rows.problem = None
        table.submit(0, {"mark": "X", "space": [0, 0]}, b"")
        assert not await keeper.flush([table])
        assert not rows.rows and rows.tries == 1


async def add_inputs(rows: MemoryRows, *tables: KeptTable) -> None:
    before = max(rows.rows, default=0)
    for table in tables:
        table.match.stall(1, 0)
        table.amend({}, 1)
    await rows.until(lambda: max(rows.rows, default=0) > before)


async def test_rows_stay_while_a_match_that_was_released_runs_at_another_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_table, "LEAST", 1000)
    async with kept() as (store, keeper, rows):
        names = ("one", *(f"gone {number}" for number in range(19)))
        one, *gone = [a_table(store, keeper, name, game="battlecube") for name in names]
        await add_inputs(rows, one, *gone)
        lines, rows.elsewhere = lines_of(gone[0]), {"gone 0"}
        for table in gone:
            keeper.forget(table)
        assert keeper._tables == {"one": one}
        while not keeper._next_look:
            await add_inputs(rows, one)
        assert keeper._released == {"gone 0"}
        await add_inputs(rows, one)
        assert 1 in rows.rows and rows.matches["gone 0"].lines == lines
        rows.elsewhere, keeper._next_look = set(), 1  # the rows have grown
        while 1 in rows.rows:
            await add_inputs(rows, one)
        assert set(rows.matches) == {"one"}


async def test_rows_stay_if_a_match_is_released_while_rows_are_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_table, "LEAST", 1000)
    monkeypatch.setattr(kept_table, "AGAIN", 3)
    async with kept() as (store, keeper, rows):
        names = ("one", "gone", *(f"passing {number}" for number in range(19)))
        one, gone, *passing = [a_table(store, keeper, name, game="battlecube") for name in names]
        for _ in range(5):
            await add_inputs(rows, one, gone)
        await add_inputs(rows, *passing, *passing)
        for table in passing:
            keeper.forget(table)
        while not keeper._cut:
            await add_inputs(rows, one)
        lines, rows.elsewhere = lines_of(gone), {"gone"}
        keeper.forget(gone)
        while keeper._cut:
            await add_inputs(rows, one)
        assert 1 in rows.rows and rows.matches["gone"].lines == lines


async def test_rows_of_matches_that_are_over_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_table, "LEAST", 1000)
    monkeypatch.setattr(kept_table, "AGAIN", 3)
    async with kept() as (store, keeper, rows):
        tables = [a_table(store, keeper, name, game="battlecube") for name in ("one", "two")]
        for _ in range(5):
            await add_inputs(rows, *tables)
        passing = [
            a_table(store, keeper, f"passing {number}", game="battlecube") for number in range(19)
        ]
        await add_inputs(rows, tables[0], *passing, *passing)
        for table in passing:
            keeper.forget(table)
        while 1 in rows.rows:
            await add_inputs(rows, tables[0])
        assert set(rows.matches) == {"one", "two"}
        for table in tables:
            assert rows.matches[table.entry.id].lines == lines_of(table)
            assert isinstance(unpack_head(rows.matches[table.entry.id].head).setup, Setup)


def test_a_torn_row_is_ignored() -> None:
    assert chunks_in(b"\x93torn") == []
