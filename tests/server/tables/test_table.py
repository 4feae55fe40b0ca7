"""The table: a match and the clock."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Player
from botdrome.match.match import Match
from botdrome.server.tables.audience import SeatedPlayer
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.tables.timing import MoveTimes, TickTimers, never
from botdrome.store.entries import MatchEntry, Note
from botdrome.store.store import Store, open_store
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.writers import MatchWriters

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def running(
    folder: Path, game: str, *seated: SeatedPlayer, behind: Callable[[], bool] = never
) -> AsyncIterator[tuple[Table, Store, asyncio.Event]]:
    """A table where a match has begun, and the event set when it is over and stored."""
    store, row, over = (
        await open_store(f"sqlite:///{folder}/x.db"),
        CATALOGUE[game],
        asyncio.Event(),
    )
    entry = MatchEntry("m", game, ("ada", "bob"), 0)
    store.begin(entry)
    times = MoveTimes(Match(row.game, 2, row.terms, 1), 300, behind, asyncio.get_running_loop())
    table = Table(entry, times, store, 1024, TickTimers())
    table.subscribe(Subscriber(over=lambda _: over.set()))
    for player, one in enumerate(seated):
        table.seat(player, one)
    table.start()
    yield table, store, over
    table.abort("the test is over")
    await over.wait()
    await store.close()


def beats_noted() -> tuple[float, float]:
    """How many, and the seconds by which they were late."""
    name = "botdrome_beat_lateness_seconds"
    count, late = (
        REGISTRY.get_sample_value(f"{name}_count"),
        REGISTRY.get_sample_value(f"{name}_sum"),
    )
    assert count is not None and late is not None
    return count, late


@pytest.mark.parametrize(("game", "beats"), [("bumblebots", 1), ("noughts-and-crosses", 0)])
async def test_a_beat_that_a_message_finds_overdue_counts_as_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, beats: int
) -> None:
    clock = [100.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock[0])
    async with running(tmp_path, game) as (table, _, _):
        due = table.match.deadline
        assert due is not None
        clock[0] += due / 1000 + 0.125
        before = beats_noted()
        table.submit(0, {}, b"{}")
        after = beats_noted()
        assert after[0] - before[0] == beats
        assert after[1] - before[1] == pytest.approx(0.125 * beats)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [(Table.conclude, ("ended", "")), (lambda table: table.abort("first"), ("aborted", "first"))],
)
async def test_what_is_over_is_not_broken_off_afterwards(
    tmp_path: Path, end: Callable[[Table], None], outcome: tuple[str, str]
) -> None:
    """It is stored in the next turns of the loop: a cancellation meanwhile comes too late."""
    async with running(tmp_path, "noughts-and-crosses") as (table, store, over):
        end(table)
        table.abort("too late")
        await over.wait()
        stored = await store.match("m")
        assert stored is not None
        assert (stored.status, stored.reason) == outcome


class Hearer:
    """Somebody at a table, and how it was dismissed."""

    def __init__(self) -> None:
        self.told: list[bytes] = []
        self.failed: list[bool] = []
        self.network = self.late = 0.0

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        writers.join(player, Battlebot)

    def tell(self, messages: list[bytes]) -> None:
        self.told += messages

    def network_time(self) -> float:
        return self.network

    def delay(self) -> float:
        return self.late

    def dismiss(self, failed: bool) -> None:
        self.failed.append(failed)


def without_ink(table: Table) -> tuple[Note, ...]:
    raise OSError("no ink")


def fail(table: Table) -> None:
    raise AssertionError("nothing was stored")


async def test_where_the_books_cannot_be_kept_no_result_is_told(tmp_path: Path) -> None:
    async with running(tmp_path, "noughts-and-crosses") as (table, store, over):
        hearer = Hearer()
        table.seat(0, hearer)
        table.subscribe(Subscriber(notes=without_ink, stored=fail))
        table.conclude()
        await over.wait()
        assert (hearer.told, hearer.failed) == ([], [True])
        stored = await store.match("m")
        assert stored is not None
        assert stored.status == "running"


class Observer:
    """A bookkeeper that records the messages sent and the results stored at each call."""

    def __init__(self, hearer: Hearer, store: Store) -> None:
        self._hearer, self._store = hearer, store
        self.calls: list[tuple[str, bool]] = []

    def notes(self, table: Table) -> tuple[Note, ...]:
        self.calls.append(("notes", bool(self._hearer.told)))
        return (Note("book", "ada", {"wins": 1}),)

    def stored(self, table: Table) -> None:
        self.calls.append(("stored", bool(self._hearer.told)))


async def test_books_are_stored_with_the_result_and_told_once_they_are_stored(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "noughts-and-crosses") as (table, store, over):
        hearer = Hearer()
        table.seat(0, hearer)
        observer = Observer(hearer, store)
        table.subscribe(Subscriber(notes=observer.notes, stored=observer.stored))
        table.conclude()
        await over.wait()
        assert observer.calls == [("notes", False), ("stored", False)]
        assert await store.notes("book") == {"ada": {"wins": 1}}
        assert (len(hearer.told), hearer.failed) == (1, [False])


async def test_a_match_that_others_aborted_in_the_store_has_no_result_to_tell(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "noughts-and-crosses") as (table, store, over):
        hearer = Hearer()
        table.seat(0, hearer)
        await store.abort_running("the server ended without notice", 1)
        with capture_logs() as logs:
            table.conclude()
            await over.wait()
        assert (hearer.told, hearer.failed, table.stored) == ([], [True], False)
        assert [line["event"] for line in logs] == [
            "a result was not stored, and is told to nobody"
        ]


async def test_the_flight_record_of_a_player_that_is_told_nothing_is_bounded(
    tmp_path: Path,
) -> None:
    """Such as a house bot."""
    async with running(tmp_path, "gomoku") as (table, store, over):
        for _ in range(40):
            (player,) = table.match.awaited
            move = next(iter(table.match.position.moves(table.match.seat_of(player))))
            assert table.submit(player, move, bytes(400)) == "accepted"
        table.conclude()
        await over.wait()
        flights = [await store.flight("m", player) for player in range(2)]
        assert all(flight and len(flight) <= 1024 + 400 for flight in flights)
