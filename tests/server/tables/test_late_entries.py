"""What ends at a node that is not the home of its rooms any more counts at the home, once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from botdrome.server.rooms.duel_leaderboard import LATE, DuelLeaderboard, open_duel_leaderboard
from botdrome.server.tables import late_entries
from botdrome.store.opening import open_store
from botdrome.store.store import Note, Store, StoreUnavailable, Unstorable
from tests.patience import until
from tests.server.rooms.duel.clients import board_won_by

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(late_entries, "LOOK", 0.0)
    opened = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield opened
    await opened.close()


async def former_home(store: Store) -> DuelLeaderboard:
    table = await open_duel_leaderboard(store)
    table.late.leave()
    return table


async def end_late(store: Store, table: DuelLeaderboard, number: int = 1) -> None:
    match = f"m{number}"
    await store.keep(table.enter(match, number, [board_won_by(0)]))
    table.settle(match)
    assert table.settled


async def test_the_next_home_counts_it(store: Store) -> None:
    table = await former_home(store)
    await table.arrive("ada")
    await end_late(store, table)
    await table.depart("ada")
    assert await store.notes("duel") == {} and table.lines(0, 9) == []
    homes = [await open_duel_leaderboard(store) for _ in range(2)]
    for home in homes:
        assert [(name, line.wins, line.total_games) for name, line in home.lines(0, 9)] == [
            ("ada", 1, 1),
            ("bob", 0, 1),
        ]
        assert (ada := home.line("ada")) and ada.total_seconds > 0
        assert [board.match for board in await home.boards_of("bob")] == ["m1"]
    assert await store.notes(LATE) == {}


async def test_the_present_home_counts_it_with_its_own(store: Store) -> None:
    table, home = await former_home(store), DuelLeaderboard(store, {})
    await home.load(watch=True)
    await store.keep(home.enter("own", 7, [board_won_by(1)]))
    home.settle("own")
    for number in (1, 2):
        await end_late(store, table, number)
        await until(lambda number=number: (line := home.line("ada")) and line.wins == number)  # type: ignore[misc]
    home.late.leave()
    await until(lambda: home.settled)
    after = await open_duel_leaderboard(store)
    assert (
        after.lines(0, 9) == home.lines(0, 9)
        and (ada := after.line("ada"))
        and ada.total_games == 3
    )


async def test_it_counts_later_if_the_home_dies_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await former_home(store)
    await end_late(store, table)
    with monkeypatch.context() as patched:
        patched.setattr(store, "keep", fails(StoreUnavailable("declared dead")))
        with pytest.raises(StoreUnavailable):
            await table.load()
    assert table.settled and table.late.away
    await table.load()
    assert (line := table.line("ada")) and line.wins == 1 and not table.late.away


async def test_rooms_that_are_left_meanwhile_are_not_counted_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, home, read = await former_home(store), DuelLeaderboard(store, {}), store.notes
    await end_late(store, table)

    async def leave_then_read(book: str) -> dict[str, dict[str, object]]:
        if book == LATE:
            home.late.close()
        return await read(book)

    monkeypatch.setattr(store, "notes", leave_then_read)
    await home.load(watch=True)
    assert home.line("ada") is None and await read(LATE)


async def test_what_cannot_be_read_or_stored_does_not_stop_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await former_home(store)
    await store.keep([Note(LATE, "a newer version", {"boards": "?"})])
    await end_late(store, table)
    home = await open_duel_leaderboard(store)
    assert (line := home.line("ada")) and line.wins == 1
    assert list(await store.notes(LATE)) == ["a newer version"]
    await end_late(store, table, 2)
    with monkeypatch.context() as patched:
        patched.setattr(store, "keep", fails(Unstorable("it is too long"), at_most=1))
        again = await open_duel_leaderboard(store)
    assert (line := again.line("ada")) and line.wins == 1 and again.settled


async def test_an_outage_delays_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table, home, read, tried = (
        await former_home(store),
        DuelLeaderboard(store, {}),
        store.notes,
        asyncio.Event(),
    )
    await home.load(watch=True)

    async def fail(_: str) -> dict[str, dict[str, object]]:
        monkeypatch.setattr(store, "notes", read)
        tried.set()
        raise StoreUnavailable("away")

    monkeypatch.setattr(store, "notes", fail)
    await tried.wait()
    await end_late(store, table)
    await until(lambda: home.line("ada"))
    home.late.close()


def fails(problem: Exception, at_most: int = 99) -> object:
    left = [at_most]

    async def keep(notes: Sequence[Note], **_: object) -> None:
        left[0] -= bool(notes)
        if notes and left[0] >= 0:
            raise problem

    return keep
