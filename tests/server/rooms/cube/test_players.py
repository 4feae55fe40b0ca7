"""Players of a Battlecube game: called bots, house bots and waiting bots, in any mix."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from botdrome.server.tables.flight_records import written
from botdrome.store.entries import Wanted
from botdrome.wire import cube as cube_writer
from tests.patience import until
from tests.server.clients import bot as waiting
from tests.server.clients import client, deaf_port, registered, server
from tests.server.rooms.cube.clients import NOOP, bot, game, organiser, saying, starts
from tests.server.rooms.cube.test_games import CORNERS, EAST, Patient

pytestmark = pytest.mark.anyio


# The players at the table.


async def test_any_mix_sits_at_one_table(tmp_path: Path) -> None:
    """A bot that is called, one of the house, and one on the native protocol; with a pause between
    the ticks.
    """
    async with server(tmp_path) as house, bot(saying(NOOP)) as ann, organiser(house) as one:
        login = await registered(house, "native", "battlecube")
        async with client(house) as native:
            await native.send(login)
            await native.receive()
            await one.emit("LIST_GAMES")
            await one.receive()
            players = [("A", ann.url), ("native", "bot:native"), ("Petra", "house:random")]
            far = starts(A=(0, 0, 0), native=(999, 999, 999), Petra=(0, 500, 0))
            game_id = await one.new_game(
                *players, edgeLength=1000, speed=20, playerStartPositions=far
            )
            answered = 0
            while (message := await native.receive())["state"]["result"] is None:
                assert message["state"]["bots"] == ["A", "native", "Petra"]
                if "native" in message["state"]["waitingFor"]:
                    await native.send(NOOP)
                    answered += 1
            assert answered == 3
            assert message["state"]["result"]["players"]["native"]["cause"] == "complete"
            end = (await one.until("GAME_ENDED"))[-1][1]
            assert end["id"] == game_id
            assert {score["name"]: score["url"] for score in end["scores"]} == dict(players) | {
                "A": ann.url
            }


async def test_the_others_are_called_once_for_a_tick_in_which_a_dead_player_leaves(
    tmp_path: Path,
) -> None:
    ann, ben = Patient(), Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as a,
        bot(ben) as b,
        organiser(house) as one,
    ):
        async with waiting(house, await registered(house, "native", "battlecube")) as native:
            where = starts(native=(3, 0, 0), A=(0, 0, 0), B=(0, 3, 0))
            players = [("native", "bot:native"), ("A", a.url), ("B", b.url)]
            await one.new_game(*players, playerStartPositions=where)
            await native.receive()
            await native.send(EAST)
            for each in (ann, ben):
                await each.answer()
            await until(lambda: len(a.asked) == len(b.asked) == 2)
        while (event := await one.receive())[0] != "PLAYER_LOST" or "details" not in event[1]:
            pass
        for _ in range(2):
            for each in (ann, ben):
                each.let(NOOP)
        await one.until("GAME_ENDED")
        for called in (a, b):
            assert [call.body["gameInfo"]["currentTick"] for call in called.asked] == [0, 1, 2]


@pytest.mark.parametrize(
    ("player", "details"),
    [
        (("ghost", "bot:ghost"), "The bot ghost does not wait here for a game"),
        (("other", "bot:ghost"), "bot:ghost plays under its own name, ghost"),
        (("other", "connect:taken"), "connect:taken plays under its own name, taken"),
        (("%74aken", "connect:%74aken"), "connect:%74aken plays under its own name, taken"),
        (("taken", "connect:taken"), "taken is a registered bot: its token is needed"),
        (("x", "house:nobody"), "There is no bot house:nobody"),
        (("house:x", "http://127.0.0.1:1"), "names that begin with house: are those of house bots"),
    ],
)
async def test_players_that_are_refused(
    tmp_path: Path, player: tuple[str, str], details: str
) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await registered(house, "taken", "battlecube")
        await one.emit("NEW_GAME", game(player))
        assert await one.error() == {"error": "INVALID_GAME_CONFIGURATION", "details": details}


async def test_a_registered_bot_plays_under_its_name_with_its_token(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as ann, organiser(house) as one:
        login = await registered(house, "taken", "battlecube")
        wanted = game(("taken", ann.url))
        wanted["players"][0] |= {"token": login["password"], "version": "1.2"}
        await one.emit("NEW_GAME", wanted)
        events = await one.until("GAME_ENDED")
        (match,) = await house.arena.store.matches(Wanted())
        assert match.versions == ("1.2",)
        assert events[-1][1]["winner"]["name"] == "taken"
        assert login["password"] not in json.dumps(events)
        assert login["password"] not in json.dumps(ann.asked[0].body)


async def test_a_bot_to_which_calls_are_carried(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        client(house, "/connect") as carrier,
        organiser(house) as one,
    ):
        login = await registered(house, "far away", "battlecube")
        await carrier.send({"name": "far away", "password": login["password"]})
        await carrier.receive()
        wanted = game(("far away", "connect:far%20away"))
        wanted["players"][0]["token"] = login["password"]
        await one.emit("NEW_GAME", wanted)
        call = await carrier.receive()
        assert json.loads(call["body"])["currentPlayer"] == {
            "name": "far away",
            "url": "connect:far%20away",
        }
        await carrier.send({"call": call["call"], "status": 200, "body": json.dumps(NOOP)})
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["score"] == 1


async def test_house_bots_among_themselves(tmp_path: Path) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await one.new_game(
            ("house:random", "house:random"), ("Petra", "house:survivor"), maxNumOfTicks=5
        )
        assert (await one.until("GAME_ENDED"))[-1][1]["result"] in ("TIE", "WINNER_FOUND")


# Other stored data of a game.


async def test_the_flight_record_tells_the_author_why(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as bob, organiser(house) as one:
        with deaf_port() as port:
            game_id = await one.new_game(
                ("A", f"http://127.0.0.1:{port}"), ("B", bob.url), playerStartPositions=CORNERS
            )
            await one.until("GAME_ENDED")
        flights = [await house.arena.store.flight(game_id, player) for player in (0, 1)]
        lines = [
            [json.loads(line) for line in written(flight or b"").splitlines()] for flight in flights
        ]
        assert f"127.0.0.1:{port} refused the connection" in lines[0][1]["verdict"]
        assert lines[0][-1] == {"cause": "disconnect"}
        assert [line["dir"] for line in lines[1][:-1]] == ["out", "in"]
        assert json.loads(lines[1][0]["message"])["currentPlayer"]["name"] == "B"
        assert lines[1][1]["verdict"] == "accepted"


async def test_bombs_outside_the_cube_do_not_add_up_without_end(tmp_path: Path) -> None:
    rounds = [
        [{"task": "BOMB", "x": 9 + number, "y": 0, "z": tick} for tick in range(130)]
        for number in range(8)
    ]
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(server(tmp_path))
        bots = [await stack.enter_async_context(bot(saying(plan))) for plan in rounds]
        one = await stack.enter_async_context(organiser(house))
        players = [(f"B{number}", each.url) for number, each in enumerate(bots)]
        await one.new_game(*players, maxNumOfTicks=131, numOfTasksPerTick=130)
        states = [
            payload for event, payload in await one.until("GAME_ENDED") if event == "NEXT_TICK"
        ]
        assert [len(states[tick]["items"]) for tick in (0, 1, 125, 126, 130)] == [
            0,
            8,
            1000,
            1000,
            1000,
        ]
        assert states[130]["items"][-1] == {"x": 16, "y": 0, "z": 129, "type": "BOMB"}, (
            "the last are shown"
        )
        assert bots[0].asked[1].body["items"] == states[130]["items"]


async def test_a_large_state_is_sent_in_parts_but_arrives_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cube_writer, "LARGE", 0)
    async with (
        server(tmp_path) as house,
        bot(saying(EAST, NOOP)) as ann,
        bot(saying(NOOP)) as bob,
        organiser(house) as one,
    ):
        await one.new_game(("A", ann.url), ("B", bob.url), playerStartPositions=CORNERS)
        states = [
            payload for event, payload in await one.until("GAME_ENDED") if event == "NEXT_TICK"
        ]
        for name, each in (("A", ann), ("B", bob)):
            assert [asked.body for asked in each.asked] == [
                {"currentPlayer": {"name": name, "url": each.url}} | state for state in states
            ]
