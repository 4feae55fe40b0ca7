"""The limits of organisers' games, and games that end because the organiser leaves or a
call fails.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.server.clients import PATIENCE, server
from tests.server.rooms.cube.clients import NOOP, bot, fence, game, organiser, saying
from tests.server.rooms.cube.test_control import CORNERS
from tests.server.rooms.cube.test_games import Patient

pytestmark = pytest.mark.anyio


# Coming and going.


async def test_a_game_goes_on_when_its_organiser_leaves(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(saying(NOOP)) as second,
        organiser(house) as two,
    ):
        async with organiser(house) as one:
            game_id = await one.new_game(
                ("A", first.url), ("B", second.url), playerStartPositions=CORNERS
            )
        await two.emit("WATCH_GAME", game_id)
        await two.until("NEXT_TICK")
        for _ in range(3):
            await ann.answer()
        assert (await two.until("GAME_ENDED"))[-1][1]["result"] == "TIE"


async def test_but_only_for_so_long(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path, cube_keep=0.2) as house, bot(ann) as first, organiser(house) as two:
        async with organiser(house) as one:
            game_id = await one.new_game(("A", first.url), ("B", first.url))
            await two.emit("WATCH_GAME", game_id)
            await two.until("NEXT_TICK")
        assert (await two.until("GAME_ENDED"))[-1][1]["result"] == "STOPPED"
        match = await house.arena.store.match(game_id)
        assert match is not None
        assert match.reason == "its organiser left"


async def test_one_organiser_has_only_so_many_games(tmp_path: Path) -> None:
    async with (
        server(tmp_path, cube_games=2) as house,
        bot(Patient()) as first,
        organiser(house) as one,
    ):
        for _ in range(3):
            await one.emit("NEW_GAME", game(("A", first.url), ("B", first.url)))
        events = await one.until("ERROR")
        assert events[-1][1]["details"] == "You have 2 games already"


async def test_no_game_begins_when_the_server_is_stopping(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path, drain=PATIENCE) as house,
        bot(ann) as first,
        organiser(house) as one,
    ):
        await one.new_game(("A", first.url), playerStartPositions=CORNERS[:1])
        await one.receive()
        closing = asyncio.ensure_future(house.desk.close())
        await asyncio.sleep(0)
        await one.emit("NEW_GAME", game(("A", first.url)))
        assert (await one.error())["details"] == "The server is stopping"
        await ann.answer()
        assert (await one.until("GAME_ENDED"))[-1][1]["result"] == "WINNER_FOUND"
        await closing


async def test_bad_events_do_not_disturb_other_games(tmp_path: Path) -> None:
    """Every event with every kind of nonsense, while a game runs beside."""
    nonsense: list[Any] = [
        None,
        True,
        5,
        -1,
        1.5,
        "",
        "x" * 500,
        [],
        [[]],
        {},
        {"id": 5},
        {"setup": None},
        {"players": {}},
    ]
    events = [
        "NEW_GAME",
        "GAME_SETUP_UPDATE",
        "STOP_GAME",
        "PAUSE_GAME",
        "RESUME_GAME",
        "WATCH_GAME",
        "UNWATCH_GAME",
    ]
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        await one.new_game(("A", first.url), maxNumOfTicks=1, playerStartPositions=CORNERS[:1])
        for event in events:
            for value in nonsense:
                await two.emit(event, value)
        told = await fence(two)
        assert {event for event, _ in told} == {"ERROR"}
        assert len(told) >= len(nonsense) * len(events) - 9, (
            "only a missing id may mean all games of one's own"
        )
        await ann.answer()
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["name"] == "A"


async def test_only_so_many_games_are_watched_at_once(tmp_path: Path) -> None:
    async with (
        server(tmp_path, cube_games=1) as house,
        bot(Patient()) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        game_ids = [await who.new_game(("A", first.url), ("B", first.url)) for who in (one, two)]
        await two.emit("WATCH_GAME", game_ids[0])
        assert (await two.until("ERROR"))[-1][1]["details"] == "You watch 1 game already"


# Trouble.


async def fails(*_: Any) -> Any:
    raise OSError("no space left on device")


async def test_a_result_that_cannot_be_stored_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one:
        await one.new_game(("A", first.url))
        monkeypatch.setattr(house.arena.store, "finish", fails)
        await ann.answer()
        assert (await one.until("ERROR"))[-1][1] == {
            "error": "GAME_LOST",
            "details": "The result could not be stored",
        }


async def test_a_game_that_cannot_be_set_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as first, organiser(house) as one:
        with monkeypatch.context() as broken:
            broken.setattr(house.arena.store, "bot_and_alike", fails)
            await one.emit("NEW_GAME", game(("A", first.url)))
            assert (await one.error())["error"] == "INTERNAL_ERROR"
        await one.new_game(("A", first.url), playerStartPositions=CORNERS[:1])
        assert (await one.until("GAME_ENDED"))[-1][1]["result"] == "WINNER_FOUND"
