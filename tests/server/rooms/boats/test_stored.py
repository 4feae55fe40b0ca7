"""The statistics of boat games are those of stored games: in memory, in files and on the host's
screen.
"""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.cli.boats.host import _read_statistics
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boat_statistics import ENTRIES, GAMES, PLAYERS, BoatStatistics
from botdrome.server.rooms.boats import shown
from botdrome.store.entries import Unstorable
from tests.patience import until
from tests.server.holding import hold_back, notes_of
from tests.server.rooms.boats.clients import boat_rooms, boat_server, sailors, the_room

pytestmark = pytest.mark.anyio

PLAN = BoatRoomSettings(title="Tea", goal=1)


def books(house: RunningServer) -> BoatStatistics:
    return boat_rooms(house).statistics


async def test_nothing_is_told_shown_or_written_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "db"
    async with (
        boat_server(tmp_path, PLAN, boats_dir=str(folder)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        held = hold_back(house.arena.store, monkeypatch)
        ann.send("S|bob|6|3")
        await bob.until("N|bob")
        bob.send("K")
        finish = await held.next()
        heard = [asyncio.ensure_future(each.rest()) for each in (ann, bob)]
        assert [book for book, _ in notes_of(finish)] == [ENTRIES]
        assert (books(house).games, books(house).players, folder.exists()) == ({}, {}, False)
        (game,) = shown(the_room(house))["games"]
        assert [row["skips"] for row in game["players"]] == [0, 0], (
            "the turn that ended the game was told to nobody"
        )
        assert not any(lines.done() for lines in heard)
        await held.write()
        for lines in await asyncio.gather(*heard):
            assert any(line.startswith("F|") for line in lines)
        await books(house).folded()
        assert (
            books(house).players["ann"]["gamesPlayed"]
            == books(house).games["Tea"]["gameCount"]
            == 1
        )
    assert "gamesPlayed=1\n" in (folder / "player.ann.ini").read_text()


async def test_nothing_remains_of_a_game_that_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "db"
    async with boat_server(tmp_path, PLAN, boats_dir=str(folder)) as house:
        for refused in (True, False):
            with monkeypatch.context() as patched:
                held = hold_back(house.arena.store, patched)
                async with sailors(house, "ann", "bob") as (ann, bob):
                    ann.send("S|bob|6|3")
                    await bob.until("N|bob")
                    bob.send("K")
                    await held.write(Unstorable("it is too long") if refused else None)
                    rest = await ann.rest()
                assert any(line.startswith("F|") for line in rest) is not refused
                await books(house).folded()
                assert books(house).players.get("ann", {}).get("gamesPlayed", 0) == (
                    0 if refused else 1
                )
        before = dict(books(house).games), dict(books(house).players)
        assert before == (
            await house.arena.store.notes(GAMES),
            await house.arena.store.notes(PLAYERS),
        )
    async with boat_server(tmp_path, PLAN, boats_dir=str(folder)) as house:
        assert (books(house).games, books(house).players) == before


async def test_games_that_end_while_others_are_being_stored_count_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without one of them, if that cannot be stored."""
    async with (
        boat_server(tmp_path, PLAN) as house,
        sailors(house, "ann", "bob"),
        sailors(house, "cat", "dan"),
    ):
        held = hold_back(house.arena.store, monkeypatch)
        for game in tuple(the_room(house).games):
            game.abort()
        await until(lambda: len(held.waiting) >= 2)
        await held.write(Unstorable("it is too long"))
        await books(house).folded()
        assert books(house).games == {}
        await held.write()
        await books(house).folded()
        assert books(house).games["Tea"]["gameCount"] == 1
        assert (await house.arena.store.notes(GAMES))["Tea"]["gameCount"] == 1


async def test_files_that_a_killed_server_did_not_write_are_written_at_the_next_start(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "db"
    async with boat_server(tmp_path, PLAN) as house, sailors(house, "ann", "bob") as (ann, _):
        the_room(house).games[0].abort()
        await ann.rest()
    async with boat_server(tmp_path, PLAN, boats_dir=str(folder)):
        pass
    assert "gameCount=1\n" in (folder / "game.Tea.ini").read_text()
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert sorted(before) == ["game.Tea.ini", "player.ann.ini", "player.bob.ini"]
    async with boat_server(tmp_path, PLAN, boats_dir=str(folder)):
        pass
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


async def test_a_game_that_ends_after_its_rooms_have_moved_counts_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with boat_server(tmp_path, PLAN) as house, sailors(house, "ann", "bob") as (ann, _):
        books(house).leave()
        the_room(house).games[0].abort()
        await ann.rest()
        assert books(house).players == {} and len(await house.arena.store.notes(ENTRIES)) == 1
        url = f"sqlite:///{house.arena.store.source.place}"
    stats = await _read_statistics(url)
    assert stats.players["ann"]["gamesPlayed"] == stats.games["Tea"]["total.aborted"] == 1
    async with boat_server(tmp_path, PLAN) as house:
        assert (books(house).games, books(house).players) == (stats.games, stats.players)
        assert await house.arena.store.notes(ENTRIES) == {}
