"""Statistics: what ends at any node is stored as an entry, and counts at the home, once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.rooms.duel import ENTRIES, DuelLeaderboard
from botdrome.server.tables import statistics
from botdrome.store.entries import Note, StoreUnavailable, Unstorable
from botdrome.store.store import Store, open_store
from tests.patience import until
from tests.server.rooms.duel.clients import (
    arrive,
    board_won_by,
    open_duel_leaderboard,
    store_boards,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(statistics, "LOOK", 0.0)
    monkeypatch.setattr(statistics, "PAUSE", 0.0)
    opened = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield opened
    await opened.close()


async def former_home(store: Store) -> DuelLeaderboard:
    table = await open_duel_leaderboard(store)
    table.leave()
    return table


async def end_late(store: Store, table: DuelLeaderboard, number: int = 1) -> None:
    match = f"m{number}"
    await store_boards(store, table, match, number, [board_won_by(0)])
    assert table.settled


async def test_lines_are_shown_when_they_are_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, keep, asked, go_on = (
        await open_duel_leaderboard(store),
        store.keep,
        asyncio.Event(),
        asyncio.Event(),
    )

    async def held(*words: Any, **other: Any) -> None:
        asked.set()
        await go_on.wait()
        await keep(*words, **other)

    await store.keep(home.enter("m", 1, [board_won_by(0)]))
    monkeypatch.setattr(store, "keep", held)
    home.look()
    await asked.wait()
    assert (home.line("ada"), home.settled) == (None, False)
    go_on.set()
    await home.folded()
    assert (line := home.line("ada")) and line.wins == 1 and home.settled


async def test_entries_are_folded_together_in_the_order_of_their_boards(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, keep, kept = await former_home(store), store.keep, list[Sequence[Note]]()
    for number in (10, 9):
        await end_late(store, table, number)

    async def noted(notes: Sequence[Note], **other: Any) -> None:
        kept.append(notes)
        await keep(notes, **other)

    monkeypatch.setattr(store, "keep", noted)
    home = await open_duel_leaderboard(store)
    assert len(kept) == 1
    later, earlier = await home.boards_of("ada")
    assert (earlier.id, earlier.rating1, later.id) == (9, 1200, 10) and later.rating1 > 1200


async def test_an_entry_that_is_stored_during_a_round_counts_in_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, read = await open_duel_leaderboard(store), store.notes
    await store.keep(home.enter("m", 1, [board_won_by(0)]))

    async def read_then_store(book: str) -> dict[str, dict[str, object]]:
        monkeypatch.setattr(store, "notes", read)
        found = await read(book)
        await store.keep(home.enter("n", 2, [board_won_by(0)]))
        home.look()
        return found

    monkeypatch.setattr(store, "notes", read_then_store)
    home.look()
    await home.folded()
    assert (line := home.line("ada")) and line.wins == 2


async def test_an_entry_that_is_stored_while_a_home_opens_counts_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, read = await former_home(store), store.notes
    await end_late(store, former)
    home = DuelLeaderboard(store, {})

    async def read_then_store(book: str) -> dict[str, dict[str, object]]:
        if book != ENTRIES:
            return await read(book)
        monkeypatch.setattr(store, "notes", read)
        found = await read(book)
        await store.keep(home.enter("n", 2, [board_won_by(0)]))
        home.look()
        if home._round is not None and home._round is not asyncio.current_task():
            await home._round
        return found

    def wins() -> int:
        line = home.line("ada")
        return 0 if line is None else line.wins

    monkeypatch.setattr(statistics, "PAUSE", 3600.0)
    monkeypatch.setattr(store, "notes", read_then_store)
    await home.load(watch=True)
    await until(lambda: wins() == 2 and home.settled)
    assert home._timer is not None  # the pause ends, and entries that came in it are folded
    assert home._timer.when() > asyncio.get_running_loop().time() + 1800
    home.leave()


async def test_entries_of_a_pause_are_folded_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "PAUSE", 3600.0)
    home, keep, kept = await open_duel_leaderboard(store), store.keep, list[Sequence[Note]]()
    await store_boards(store, home, "first", 1, [board_won_by(0)])
    for number in (2, 3):
        await store.keep(home.enter(f"m{number}", number, [board_won_by(0)]))
        home.look()
    assert home.settled and (line := home.line("ada")) and line.wins == 1

    async def noted(notes: Sequence[Note], **other: Any) -> None:
        kept.append(notes)
        await keep(notes, **other)

    monkeypatch.setattr(store, "keep", noted)
    await home.folded()  # a reader does not wait for the end of the pause
    assert len(kept) == 1 and (line := home.line("ada")) and line.wins == 3


async def test_the_next_home_counts_it(store: Store) -> None:
    table = await former_home(store)
    await arrive(table, "ada")
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
    assert await store.notes(ENTRIES) == {}


async def test_the_present_home_counts_it_with_its_own(store: Store) -> None:
    table, home = await former_home(store), DuelLeaderboard(store, {})
    await home.load(watch=True)
    await store_boards(store, home, "own", 7, [board_won_by(1)])
    for number in (1, 2):
        await end_late(store, table, number)
        await until(lambda number=number: (line := home.line("ada")) and line.wins == number)  # type: ignore[misc]
    home.leave()
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
    assert table.settled and table.line("ada") is None
    await table.load()
    assert (line := table.line("ada")) and line.wins == 1


async def test_rooms_that_are_left_meanwhile_are_not_counted_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, home, read = await former_home(store), DuelLeaderboard(store, {}), store.notes
    await end_late(store, table)

    async def leave_then_read(book: str) -> dict[str, dict[str, object]]:
        if book == ENTRIES:
            home.leave()
        return await read(book)

    monkeypatch.setattr(store, "notes", leave_then_read)
    await home.load(watch=True)
    assert home.line("ada") is None and await read(ENTRIES)


async def test_what_cannot_be_read_or_stored_does_not_stop_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await former_home(store)
    await store.keep([Note(ENTRIES, "a newer version", {"boards": "?"})])
    await end_late(store, table)
    home = await open_duel_leaderboard(store)
    assert (line := home.line("ada")) and line.wins == 1
    assert list(await store.notes(ENTRIES)) == ["a newer version"]
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
    home.leave()


def fails(problem: Exception, at_most: int = 99) -> object:
    left = [at_most]

    async def keep(notes: Sequence[Note], **_: object) -> None:
        left[0] -= bool(notes)
        if notes and left[0] >= 0:
            raise problem

    return keep
