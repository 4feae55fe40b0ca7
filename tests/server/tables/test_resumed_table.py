"""Matches that go on at another node."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE, restored_game
from botdrome.match.inputs import DECODE
from botdrome.match.record import Resumption
from botdrome.protocols import load_settings
from botdrome.server.tables.flight_records import written
from botdrome.server.tables.kept_table import (
    MOVED,
    NOBODY_BACK,
    InputKeeper,
    KeptTable,
    pack,
    unpack_head,
)
from botdrome.server.tables.running_tables import RunningTables
from botdrome.server.tables.table import Subscriber
from botdrome.store.entries import MatchEntry
from botdrome.store.store import Store, open_store
from tests.patience import PATIENCE
from tests.server.clients import leap
from tests.server.tables.test_input_keeper import MemoryRows
from tests.server.tables.test_table import Hearer

pytestmark = pytest.mark.anyio

MOVES = [
    (0, {"mark": "X", "space": [0, 0]}),
    (1, {"mark": "O", "space": [1, 1]}),
    (0, {"mark": "X", "space": [0, 1]}),
]
GRACE = 1000.0
"""Seconds; tests move the clock."""


class TwoNodes:
    """A node that has died, and the tables of another."""

    def __init__(self, store: Store) -> None:
        self.store, self.rows = store, MemoryRows()
        self.here = RunningTables(store, load_settings({"db": "sqlite:///:memory:"}))
        self.here.keeper = InputKeeper(MemoryRows())
        self.over = asyncio.Event()

    async def played(self, game: str, moves: list[tuple[int, Any]]) -> KeptTable:
        """Return a table of the dead node after these moves."""
        there = RunningTables(self.store, load_settings({"db": "sqlite:///:memory:"}))
        there.keeper = InputKeeper(self.rows)
        row = CATALOGUE[game]
        table = there.set_table(row.game, row.terms, ("ada", "bob"), ("", ""))
        assert isinstance(table, KeptTable)
        self.store.begin(table.entry)
        table.start()
        for player, move in moves:
            table.submit(player, move, b"")
        await self.rows.until(lambda: self._lines(table.entry.id) == len(table.match.input_log))
        await there.keeper.close()
        if table._timer is not None:
            table._timer.cancel()
        return table

    def _lines(self, match_id: str) -> int:
        kept = self.rows.matches.get(match_id)
        return -1 if kept is None else len(kept.lines)

    def resumed(self, match_id: str, expected: set[int], grace: float = GRACE) -> KeptTable:
        kept = self.rows.matches[match_id]
        head = unpack_head(kept.head)
        resumption = Resumption(
            head.setup, restored_game(head.setup), (DECODE(line).input for line in kept.lines)
        )
        while resumption.advance(100):
            pass
        table = self.here.resume(head.entry, resumption)
        table.subscribe(Subscriber(over=lambda _: self.over.set()))
        table.go_on(expected, grace)
        return table

    async def result(self, table: KeptTable) -> MatchEntry:
        async with asyncio.timeout(PATIENCE):
            await self.over.wait()
        entry = await self.store.match(table.entry.id)
        assert entry is not None
        return entry


@asynccontextmanager
async def two_nodes() -> AsyncIterator[TwoNodes]:
    store = await open_store("sqlite:///:memory:")
    nodes = TwoNodes(store)
    yield nodes
    for live in nodes.here.live():
        table = nodes.here[live.id]
        assert table is not None
        table.abort("the test is over")
        await nodes.over.wait()
    assert nodes.here.keeper is not None
    await nodes.here.keeper.close()
    await store.close()


async def turn() -> None:
    """Let callbacks that are due run."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_match_goes_on_when_its_players_are_back() -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        table = nodes.resumed(before.entry.id, {0, 1})
        assert table.match.position == before.match.position
        ada, bob = Hearer(), Hearer()
        for player, hearer in enumerate((ada, bob)):
            assert table.rejoin(player, hearer)
            state = json.loads(hearer.told[0])["state"]
            assert (state["board"][0], state["waitingFor"]) == (["X", "X", ""], ["bob"])
            assert not table.rejoin(player, hearer)
        table.submit(1, {"mark": "O", "space": [2, 2]}, b"")
        assert json.loads(ada.told[1])["state"]["board"][2] == ["", "", "O"]
        await turn()
        table.submit(0, {"mark": "X", "space": [0, 2]}, b"")
        entry = await nodes.result(table)
        assert (entry.status, entry.result and entry.result.places) == ("ended", (1, 2))
        record = await nodes.store.record(entry.id)
        assert record is not None and b'"stall"' in record
        flight = await nodes.store.flight(entry.id, 0)
        assert flight is not None and MOVED.encode() in written(flight)


async def test_a_player_that_comes_after_a_move_is_told_how_the_match_stands() -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        table, ada, bob = nodes.resumed(before.entry.id, {0, 1}), Hearer(), Hearer()
        assert table.take_again(1, bob)
        table.submit(1, {"mark": "O", "space": [2, 2]}, b"")
        assert not table.take_again(0, ada) and not ada.told
        assert table.rejoin(0, ada)
        (told,) = ada.told
        assert json.loads(told)["state"]["board"][2] == ["", "", "O"]
        await turn()
        assert table.wait_for(0, GRACE) and table.take_again(0, Hearer())


async def test_nobody_loses_time_while_players_are_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        table = nodes.resumed(before.entry.id, {0, 1})
        now, due = table.now(), table.match.deadline
        monkeypatch.setattr(asyncio.get_running_loop(), "time", asyncio.get_running_loop().time)
        leap(GRACE / 2)
        assert table.rejoin(0, Hearer()) and table.now() == now
        bob = Hearer()
        assert table.rejoin(1, bob)
        table.leave(1)
        assert table.rejoin(1, bob)
        await turn()
        assert table.match.deadline == due and table.now() - now < GRACE * 100
        table.leave(1)
        assert (await nodes.result(table)).status == "ended"


async def test_time_runs_again_after_a_timer_rang_while_a_player_was_expected() -> None:
    async with two_nodes() as nodes:
        row = CATALOGUE["noughts-and-crosses"]
        table = nodes.here.set_table(row.game, row.terms, ("ada", "bob"), ("", ""))
        assert isinstance(table, KeptTable)
        table.subscribe(Subscriber(over=lambda _: nodes.over.set()))
        for player in range(2):
            table.seat(player, Hearer())
        nodes.store.begin(table.entry)
        table.start()
        assert table.wait_for(0, GRACE) and table._timer is not None
        table._timer.cancel()
        table._ring()
        assert table._timer is None
        assert table.take_again(0, Hearer())
        await turn()
        assert table._timer is not None


async def test_after_the_grace_period_the_terms_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        table = nodes.resumed(before.entry.id, {0, 1})
        assert table.rejoin(0, Hearer())
        monkeypatch.setattr(asyncio.get_running_loop(), "time", asyncio.get_running_loop().time)
        leap(GRACE)
        result = (await nodes.result(table)).result
        assert result is not None and (result.places, result.causes) == (
            (1, 2),
            ("complete", "disconnect"),
        )


async def test_a_match_to_which_nobody_returns_is_aborted() -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        entry = await nodes.result(nodes.resumed(before.entry.id, {0, 1}, grace=0.0))
        assert (entry.status, entry.reason) == ("aborted", NOBODY_BACK)


async def test_a_result_that_was_not_stored_is_stored() -> None:
    async with two_nodes() as nodes:
        before = await nodes.played("noughts-and-crosses", MOVES)
        before.match.conclude(100)
        nodes.rows.rows[99] = pack([before.unsaved()])
        table = nodes.resumed(before.entry.id, set())
        assert (await nodes.result(table)).status == "ended"
