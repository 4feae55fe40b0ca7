"""Between two boards: the first is on disk before anybody is told of it, and before the second
starts.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.options import with_options
from botdrome.match.match import News
from botdrome.match.record import read, verify
from botdrome.server.tables import table as table_module
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import Unstorable
from botdrome.store.store import Store
from tests.server.holding import Held, hold_back
from tests.server.tables.test_table import Hearer, running

pytestmark = pytest.mark.anyio

TOP, BOTTOM = ([{"x": x, "y": y} for x in range(5)] for y in (0, 4))


class Watcher:
    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.ended = False

    def show(self, message: bytes) -> None:
        self.shown.append(json.loads(message))

    def end(self) -> None:
        self.ended = True


class Scene:
    """A table with two listeners and a spectator, and a store that holds back."""

    def __init__(self, table: Table, store: Store, over: asyncio.Event, held: Held) -> None:
        self.table, self.store, self.over, self.held = table, store, over, held
        self.hearers = Hearer(), Hearer()
        self.watcher = Watcher()
        for player, hearer in enumerate(self.hearers):
            table.seat(player, hearer)
        table.watch(self.watcher)

    def play(self, first: int) -> None:
        """The board that this player starts and wins."""
        for turn in range(5):
            self.table.submit(first, TOP[turn], b"{}")
            if turn < 4:
                self.table.submit(1 - first, BOTTOM[turn], b"{}")

    def told(self) -> int:
        """How much anybody was told so far."""
        return sum(len(hearer.told) for hearer in self.hearers) + len(self.watcher.shown)

    async def write_all(self) -> None:
        while not self.over.is_set():
            await self.held.write()


@asynccontextmanager
async def scene(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    async with running(folder, "gomoku") as (table, store, over):
        with monkeypatch.context() as patched:
            yield Scene(table, store, over, hold_back(store, patched))


async def test_a_board_is_told_when_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        before = at.told()
        finish = await at.held.next()
        assert finish.status == "running" and finish.result is not None
        assert [board.places for board in finish.result.boards] == [(1, 2), (1, 1)]
        assert at.told() == before == 2 * 8 + 1 + 8  # the last stone was told to nobody
        await at.held.write()
        last = json.loads(at.hearers[0].told[-1])["state"]
        assert last["boardsPlayed"] == [{"ada": 1, "bob": 2}] and last["waitingFor"] == ["bob"]
        assert [shown["event"]["event"] for shown in at.watcher.shown[-3:]] == [
            "played",
            "board ended",
            "began",
        ]
        at.play(1)
        await at.write_all()
        stored = await at.store.match("m")
        assert stored is not None and stored.status == "ended"


async def test_a_record_with_a_break_in_it_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        await at.held.write()
        at.table.leave(0)
        await at.write_all()
        stored = await at.store.record("m")
        assert stored is not None
        record = read(stored)
        verify(record, with_options(CATALOGUE["gomoku"].game, record.setup.options))


async def test_the_clock_stands_still_in_a_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock[0])
    async with scene(tmp_path, monkeypatch) as at:
        clock[0] += 2.0
        at.play(0)
        await at.held.next()
        clock[0] += 3600.0
        assert at.table.now() == 2000
        at.table._ring()
        assert at.table.match.result is None
        await at.held.write()
        assert at.table.now() == 2000 and at.table.match.deadline == 7500
        clock[0] += 5.5
        at.table._ring()
        await at.write_all()
        assert at.table.match.result is not None and at.table.match.result.causes == (
            "complete",
            "timeout",
        )


async def test_a_move_that_comes_in_a_break_is_noted_and_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        at.table.submit(1, {"x": 7, "y": 7}, b"early")
        await at.held.write()
        assert at.table.match.view(None)["moves"] == [] and at.table.match.awaited == [1]
        at.table.leave(1)
        await at.write_all()
        flight = await at.store.flight("m", 1)
        assert flight is not None and b"the next board has not started" in flight


async def test_a_player_that_leaves_in_a_break_loses_the_next_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        at.table.leave(0)
        assert at.table.match.result is None
        await at.held.write()
        await at.write_all()
        result = at.table.match.result
        assert result is not None and [board.places for board in result.boards] == [(1, 2), (2, 1)]
        assert at.hearers[1].failed == [False] and at.hearers[0].failed == []


async def test_a_spectator_that_comes_in_a_break_sees_what_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        assert at.table.past(0) is None, "the end of the board is not told yet"
        late = Watcher()
        at.table.watch(late)
        assert len(late.shown[0]["view"]["moves"]) == 8 and late.shown[0]["bots"] == ["ada", "bob"]
        await at.held.write()
        assert [shown["event"]["event"] for shown in late.shown[1:]] == [
            "played",
            "board ended",
            "began",
        ]
        lines = at.table.past(0)
        assert lines is not None and b'"game":"gomoku"' in lines[0] and len(lines) == 10
        assert at.table.past(9) == lines[9:] and at.table.past(10) == []
        monkeypatch.setattr(table_module, "SOME_BYTES", 1)
        assert at.table.past(0) == lines[:2] and at.table.past(2) == lines[2:3]
        another = Watcher()
        at.table.watch(another)
        assert another.shown[0]["view"]["moves"] == [] and another.shown[0]["bots"] == [
            "bob",
            "ada",
        ]
        at.table.abort("enough")
        await at.write_all()


async def test_a_match_is_aborted_in_a_break_after_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        at.table.abort("the server was stopped")
        await at.write_all()
        stored = await at.store.match("m")
        assert stored is not None and (stored.status, stored.reason) == (
            "aborted",
            "the server was stopped",
        )
        assert stored.result is not None and stored.result.boards[0].places == (1, 2)


async def test_a_board_that_cannot_be_stored_is_told_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        before = at.told()
        await at.held.write(Unstorable("too long"))
        assert (await at.held.next()).reason == "a board could not be stored"
        await at.held.write(Unstorable("too long"))
        await at.over.wait()
        assert at.told() == before
        assert [hearer.failed for hearer in at.hearers] == [[True], [True]] and at.watcher.ended


async def test_a_match_does_not_hang_where_a_board_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(table: Table) -> None:
        raise LookupError("which board?")

    async with scene(tmp_path, monkeypatch) as at:
        at.table.subscribe(Subscriber(stored=forget))
        at.play(0)
        await at.write_all()
        stored = await at.store.match("m")
        assert stored is not None and stored.status == "aborted"


async def test_what_fails_in_a_break_keeps_nothing_else_from_happening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(now: int) -> News:
        raise LookupError("which player?")

    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        at.table._inform(fail)
        at.table.abort("the server was stopped")
        await at.write_all()
        stored = await at.store.match("m")
        assert stored is not None and stored.reason == "the server was stopped"


async def test_a_killed_server_keeps_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch) as at:
        at.play(0)
        await at.held.write()
        await at.store.abort_running("it crashed", 5000)
        stored = await at.store.match("m")
        assert stored is not None and stored.result is not None and stored.result.aborted
        assert [board.places for board in stored.result.boards] == [(1, 2), (1, 1)]
        record = await at.store.record("m")
        assert record is not None
        verify(read(record), CATALOGUE["gomoku"].game)
        at.table.abort("enough")
        await at.write_all()
