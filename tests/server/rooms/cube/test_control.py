"""Organisers control games that run, and clients watch them."""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.games.battlecube import TOO_MANY, Battlecube
from botdrome.games.options import with_options
from botdrome.match.record import read, verify
from tests.server.clients import PATIENCE, registered, server
from tests.server.clients import bot as native_bot
from tests.server.rooms.cube.clients import NOOP, bot, fence, organiser, saying, starts
from tests.server.rooms.cube.test_games import EAST, Patient, losses, names

pytestmark = pytest.mark.anyio

CORNERS = starts(A=(0, 0, 0), B=(3, 3, 3))
SETUP = {"maxNumOfTicks": 100, "edgeLength": 4, "speed": 0, "numOfTasksPerTick": 1}


async def replays(house: RunningServer, game_id: str) -> None:
    """The stored match replays to the same result."""
    match, record = await house.arena.store.match(game_id), await house.arena.store.record(game_id)
    assert match is not None and record is not None
    verify(read(record), with_options(Battlecube(), match.options))


# Change.


async def test_another_cube_from_the_next_round_on(tmp_path: Path) -> None:
    """The size, the tasks and the places change; the bombs are gone."""
    ann, bob = Patient(), Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(bob) as second,
        organiser(house) as one,
    ):
        game_id = await one.new_game(
            ("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS
        )
        await ann.answer([{"task": "BOMB", "x": 1, "y": 1, "z": 1}])
        await bob.answer()
        assert (await bob.asked.get()).body["items"], "there is a bomb"
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"edgeLength": 50, "numOfTasksPerTick": 2})
        await fence(one)
        await ann.answer()
        bob.let(NOOP)
        asked = await ann.answer([*NOOP, {"task": "MOVE"}])
        assert asked.body["gameInfo"]["edgeLength"] == 50
        assert asked.body["gameInfo"]["numOfTasksPerTick"] == 2
        assert asked.body["items"] == []
        assert await one.until("NEXT_TICK")
        await bob.answer([*NOOP, *NOOP])
        events = await one.until("GAME_ENDED")
        assert losses(events)["A"]["cause"]["error"] == "VALIDATION_ERROR"
        assert events[-1][1]["winner"]["score"] == 3
        await replays(house, game_id)


async def test_an_end_that_has_passed_ends_the_game(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(saying(NOOP)) as second,
        organiser(house) as one,
    ):
        await one.new_game(
            ("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS
        )
        for _ in range(3):
            await ann.answer()
        await asyncio.wait_for(ann.asked.get(), PATIENCE)
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"maxNumOfTicks": 2})
        await fence(one)
        ann.let(NOOP)
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert (end["result"], {score["score"] for score in end["scores"]}) == ("TIE", {4})


async def test_the_speed_can_be_changed_while_a_game_stands_still(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as ann, organiser(house) as one:
        slow = {"maxNumOfTicks": 3, "speed": 60_000, "playerStartPositions": CORNERS}
        game_id = await one.new_game(("A", ann.url), ("B", ann.url), **slow)
        assert names(await one.until("PLAYER_DID_NOTHING")) == ["NEXT_TICK", "PLAYER_DID_NOTHING"]
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"maxNumOfTicks": 3, "speed": 1, "id": game_id})
        assert (await one.until("GAME_ENDED"))[-1][1]["result"] == "TIE"
        await replays(house, game_id)


async def test_an_update_is_checked_first_and_is_silent_without_a_game(tmp_path: Path) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"speed": -1})
        assert (await one.error())["details"][0]["message"] == '"speed" must be a positive number'
        await one.emit("GAME_SETUP_UPDATE", SETUP)
        assert await fence(one) == []
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"id": "nothing"})
        assert await one.error() == {"error": "UNKNOWN_GAME", "details": "There is no game nothing"}


async def test_a_cube_that_is_too_small_is_refused_and_the_game_goes_on(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(saying(EAST)) as second,
        organiser(house) as one,
    ):
        await one.new_game(
            ("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS
        )
        await one.receive()
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"edgeLength": 1})
        assert await one.error() == {"error": "INVALID_GAME_CONFIGURATION", "details": TOO_MANY}
        await ann.answer()
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["name"] == "A"


# Pause, resume, stop.


async def test_a_game_can_be_paused_and_resumed(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(saying(NOOP)) as second,
        organiser(house) as one,
    ):
        game_id = await one.new_game(
            ("A", first.url), ("B", second.url), maxNumOfTicks=2, playerStartPositions=CORNERS
        )
        await one.emit("PAUSE_GAME", {"id": game_id})
        assert names(await one.until("GAME_PAUSED")) == ["NEXT_TICK", "GAME_PAUSED"]
        await ann.answer()
        assert names(await one.until("PLAYER_DID_NOTHING")) == ["PLAYER_DID_NOTHING"]
        await one.emit("PAUSE_GAME")
        assert names(await fence(one)) == ["PLAYER_DID_NOTHING"], (
            "without a pause the next state would have come with it"
        )
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"maxNumOfTicks": 2, "speed": 5})
        assert await fence(one) == []
        assert ann.asked.empty()
        await one.emit("RESUME_GAME", game_id)
        assert await one.receive() == ("GAME_RESUMED", {"id": game_id})
        await one.emit("RESUME_GAME")
        await ann.answer()
        events = await one.until("GAME_ENDED")
        assert names(events) == [
            "NEXT_TICK",
            "PLAYER_DID_NOTHING",
            "PLAYER_DID_NOTHING",
            "GAME_ENDED",
        ]
        await replays(house, game_id)


async def test_a_pause_ends_after_a_limit(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path, cube_pause_limit=0.05) as house,
        bot(ann) as first,
        organiser(house) as one,
    ):
        await one.new_game(
            ("A", first.url), ("B", first.url), maxNumOfTicks=2, playerStartPositions=CORNERS
        )
        await one.emit("PAUSE_GAME")
        events = await one.until("GAME_PAUSED")
        for _ in range(4):
            ann.let(NOOP)
        events += await one.until("GAME_ENDED")
        assert {"GAME_PAUSED", "GAME_RESUMED"} <= set(names(events))


async def test_a_game_can_be_stopped(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one:
        game_id = await one.new_game(("A", first.url), ("B", first.url))
        await one.emit("STOP_GAME", {"id": game_id})
        events = await one.until("GAME_ENDED")
        assert events[-1][1]["result"] == "STOPPED"
        assert "winner" not in events[-1][1]
        match = await house.arena.store.match(game_id)
        assert match is not None
        assert (match.status, match.reason) == ("aborted", "its organiser stopped it")
        for event in ("STOP_GAME", "PAUSE_GAME", "RESUME_GAME"):
            await one.emit(event, {"id": game_id})
            assert (await one.error())["error"] == "UNKNOWN_GAME"


# Spectators.


async def test_others_may_watch_but_not_touch(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        game_id = await one.new_game(
            ("A", first.url), maxNumOfTicks=1, playerStartPositions=CORNERS[:1]
        )
        await asyncio.wait_for(ann.asked.get(), PATIENCE)
        await two.emit("LIST_GAMES")
        listed = {"id": game_id, "players": ["A"], "currentTick": 0, "yours": False}
        assert await two.receive() == ("GAMES", {"games": [listed]})
        await two.emit("WATCH_GAME", {"id": game_id})
        assert await two.receive() == ("GAME_WATCHED", {"id": game_id, "players": ["A"]})
        state = await two.receive()
        assert state == await one.receive()
        await two.emit("STOP_GAME", {"id": game_id})
        assert (await two.error())["error"] == "NOT_YOUR_GAME"
        ann.let(NOOP)
        seen, told = await two.until("GAME_ENDED"), await one.until("GAME_ENDED")
        assert seen[:-1] == told[:-1]
        assert seen[-1][1]["scores"][0] == {"name": "A", "highScore": 1, "score": 1}, (
            "addresses are not for everybody"
        )


async def test_watching_ends_when_one_wishes(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        game_id = await one.new_game(("A", first.url), ("B", first.url))
        await two.emit("WATCH_GAME", game_id)
        await two.until("NEXT_TICK")
        await two.emit("UNWATCH_GAME", game_id)
        assert await fence(two) == []
        await one.emit("STOP_GAME")
        await one.until("GAME_ENDED")
        assert await fence(two) == []
        for event in ("WATCH_GAME", "UNWATCH_GAME"):
            await two.emit(event, game_id)
            assert (await two.error())["error"] == "UNKNOWN_GAME"


async def test_a_game_of_native_bots_can_be_watched_as_well(tmp_path: Path) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        logins = [
            await registered(house, name, "battlecube") | {"options": {"edge": 9}}
            for name in ("ada", "bea")
        ]
        async with native_bot(house, logins[0]) as ada, native_bot(house, logins[1]) as bea:
            await ada.receive()
            (live,) = house.desk.tables.live()
            await one.emit("WATCH_GAME", live.id)
            assert names(await one.until("NEXT_TICK")) == ["GAME_WATCHED", "NEXT_TICK"]
            await ada.send(NOOP)
            await bea.send("nonsense")
            events = await one.until("GAME_ENDED")
            assert list(losses(events)) == [live.players[1 if live.players[1] == "bea" else 0]]
