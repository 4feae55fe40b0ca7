"""Organisers control games that run, and clients watch them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import House
from botdrome.games.battlecube import TOO_MANY, Battlecube
from botdrome.games.options import with_options
from botdrome.match.record import read, verify
from tests.server.clients import PATIENCE, registered, server
from tests.server.clients import bot as native_bot
from tests.server.cubes import NOOP, bot, fence, game, organiser, saying, starts
from tests.server.test_cube import EAST, Patient, losses, names

pytestmark = pytest.mark.anyio

CORNERS = starts(A=(0, 0, 0), B=(3, 3, 3))
SETUP = {"maxNumOfTicks": 100, "edgeLength": 4, "speed": 0, "numOfTasksPerTick": 1}


async def replays(house: House, game_id: str) -> None:
    """The stored match replays to the same result."""
    match, record = await house.arena.store.match(game_id), await house.arena.store.record(game_id)
    assert match is not None and record is not None
    verify(read(record), with_options(Battlecube(), match.options))


# Change.


async def test_another_cube_from_the_next_round_on(tmp_path: Path) -> None:
    """The size, the tasks and the places change; the bombs are gone."""
    ann, bob = Patient(), Patient()
    async with server(tmp_path) as house, bot(ann) as first, bot(bob) as second, organiser(house) as one:
        game_id = await one.new_game(("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS)
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
    async with server(tmp_path) as house, bot(ann) as first, bot(saying(NOOP)) as second, organiser(house) as one:
        await one.new_game(("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS)
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
    async with server(tmp_path) as house, bot(ann) as first, bot(saying(EAST)) as second, organiser(house) as one:
        await one.new_game(("A", first.url), ("B", second.url), **SETUP, playerStartPositions=CORNERS)
        await one.receive()
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"edgeLength": 1})
        assert await one.error() == {"error": "INVALID_GAME_CONFIGURATION", "details": TOO_MANY}
        await ann.answer()
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["name"] == "A"


# Pause, resume, stop.


async def test_a_game_can_be_paused_and_resumed(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, bot(saying(NOOP)) as second, organiser(house) as one:
        game_id = await one.new_game(("A", first.url), ("B", second.url), maxNumOfTicks=2, playerStartPositions=CORNERS)
        await one.emit("PAUSE_GAME", {"id": game_id})
        assert names(await one.until("GAME_PAUSED")) == ["NEXT_TICK", "GAME_PAUSED"]
        await ann.answer()
        assert names(await one.until("PLAYER_DID_NOTHING")) == ["PLAYER_DID_NOTHING"]
        await one.emit("PAUSE_GAME")
        assert names(await fence(one)) == ["PLAYER_DID_NOTHING"], "without a pause the next state would have come with it"
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"maxNumOfTicks": 2, "speed": 5})
        assert await fence(one) == []
        assert ann.asked.empty()
        await one.emit("RESUME_GAME", game_id)
        assert await one.receive() == ("GAME_RESUMED", {"id": game_id})
        await one.emit("RESUME_GAME")
        await ann.answer()
        events = await one.until("GAME_ENDED")
        assert names(events) == ["NEXT_TICK", "PLAYER_DID_NOTHING", "PLAYER_DID_NOTHING", "GAME_ENDED"]
        await replays(house, game_id)


async def test_a_pause_ends_after_a_limit(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path, cube_pause_limit=0.05) as house, bot(ann) as first, organiser(house) as one:
        await one.new_game(("A", first.url), ("B", first.url), maxNumOfTicks=2, playerStartPositions=CORNERS)
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


# Those who watch.


async def test_others_may_watch_but_not_touch(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one, organiser(house) as two:
        game_id = await one.new_game(("A", first.url), maxNumOfTicks=1, playerStartPositions=CORNERS[:1])
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
        assert seen[-1][1]["scores"][0] == {"name": "A", "highScore": 1, "score": 1}, "addresses are not for everybody"


async def test_watching_ends_when_one_wishes(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one, organiser(house) as two:
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
        logins = [await registered(house, name, "battlecube") | {"options": {"edge": 9}} for name in ("ada", "bea")]
        async with native_bot(house, logins[0]) as ada, native_bot(house, logins[1]) as bea:
            await ada.receive()
            (live,) = house.desk.floor.live()
            await one.emit("WATCH_GAME", live.id)
            assert names(await one.until("NEXT_TICK")) == ["GAME_WATCHED", "NEXT_TICK"]
            await ada.send(NOOP)
            await bea.send("nonsense")
            events = await one.until("GAME_ENDED")
            assert list(losses(events)) == [live.players[1 if live.players[1] == "bea" else 0]]


# Coming and going.


async def test_a_game_goes_on_when_its_organiser_leaves(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, bot(saying(NOOP)) as second, organiser(house) as two:
        async with organiser(house) as one:
            game_id = await one.new_game(("A", first.url), ("B", second.url), playerStartPositions=CORNERS)
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
    async with server(tmp_path, cube_games=2) as house, bot(Patient()) as first, organiser(house) as one:
        for _ in range(3):
            await one.emit("NEW_GAME", game(("A", first.url), ("B", first.url)))
        events = await one.until("ERROR")
        assert events[-1][1]["details"] == "There are 2 games of yours already"


async def test_no_game_begins_when_the_server_is_stopping(tmp_path: Path) -> None:
    ann = Patient()
    async with server(tmp_path, drain=PATIENCE) as house, bot(ann) as first, organiser(house) as one:
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
    nonsense: list[Any] = [None, True, 5, -1, 1.5, "", "x" * 500, [], [[]], {}, {"id": 5}, {"setup": None}, {"players": {}}]
    events = ["NEW_GAME", "GAME_SETUP_UPDATE", "STOP_GAME", "PAUSE_GAME", "RESUME_GAME", "WATCH_GAME", "UNWATCH_GAME"]
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one, organiser(house) as two:
        await one.new_game(("A", first.url), maxNumOfTicks=1, playerStartPositions=CORNERS[:1])
        for event in events:
            for value in nonsense:
                await two.emit(event, value)
        told = await fence(two)
        assert {event for event, _ in told} == {"ERROR"}
        assert len(told) >= len(nonsense) * len(events) - 9, "only a missing id may mean all games of one's own"
        await ann.answer()
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["name"] == "A"


async def test_only_so_many_games_are_watched_at_once(tmp_path: Path) -> None:
    async with server(tmp_path, cube_games=1) as house, bot(Patient()) as first, organiser(house) as one, organiser(house) as two:
        game_ids = [await who.new_game(("A", first.url), ("B", first.url)) for who in (one, two)]
        await two.emit("WATCH_GAME", game_ids[0])
        assert (await two.until("ERROR"))[-1][1]["details"] == "You watch 1 games already"


# Trouble.


async def fails(*_: Any) -> Any:
    raise OSError("no space left on device")


async def test_a_result_that_cannot_be_stored_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = Patient()
    async with server(tmp_path) as house, bot(ann) as first, organiser(house) as one:
        await one.new_game(("A", first.url))
        monkeypatch.setattr(house.arena.store, "finish", fails)
        await ann.answer()
        assert (await one.until("ERROR"))[-1][1] == {"error": "GAME_LOST", "details": "The result could not be stored"}


async def test_a_game_that_cannot_be_set_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as first, organiser(house) as one:
        with monkeypatch.context() as broken:
            broken.setattr(house.arena.store, "bot", fails)
            await one.emit("NEW_GAME", game(("A", first.url)))
            assert (await one.error())["error"] == "INTERNAL_ERROR"
        await one.new_game(("A", first.url), playerStartPositions=CORNERS[:1])
        assert (await one.until("GAME_ENDED"))[-1][1]["result"] == "WINNER_FOUND"
