"""Guests under the names of registered bots: clients that know no tokens can play, and are not
taken for those bots.
"""

from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import bot as native_bot
from tests.server.clients import registered, server
from tests.server.rooms.boats.clients import BOARD, boat_server, line, sailor
from tests.server.rooms.bomber.clients import STEPS, room
from tests.server.rooms.cube.clients import NOOP, bot, game, organiser, saying
from tests.server.rooms.duel.clients import FIND, arena, connected, free, pair, play_rows, seated

pytestmark = pytest.mark.anyio


async def looked_up(house: RunningServer, path: str, **headers: str) -> Any:
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as http:
        answer = await http.get(f"/api/v1/{path}", headers=headers)
        return (
            answer.json() if answer.headers["content-type"] == "application/json" else answer.text
        )


async def names_in(house: RunningServer, match: str) -> list[str]:
    return list((await looked_up(house, f"matches/{match}"))["players"])


async def test_no_bot_can_be_registered_under_a_guests_name(tmp_path: Path) -> None:
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        new = {"game": "gomoku", "name": "John (guest)", "owner": "me"}
        answer = await http.post("/api/v1/bots", json=new)
        assert (answer.status_code, answer.json()) == (
            400,
            {"error": "names that end with (guest) are those of guests"},
        )


# Battlecube.


async def test_an_organiser_who_knows_no_tokens_may_use_any_name(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(saying(NOOP)) as ann,
        organiser(house) as one,
        organiser(house) as two,
    ):
        await registered(house, "John")
        await registered(house, "Petra", "battlecube")
        players = [(name, ann.url) for name in ("John", "Petra", "John (guest)")]
        given = [name for name, _ in players]
        game_id = await one.new_game(*players, maxNumOfTicks=2, speed=60_000)
        tick = (await one.until("NEXT_TICK"))[-1][1]
        assert [player["name"] for player in tick["players"]] == given
        await two.emit("LIST_GAMES")
        assert (await two.receive())[1]["games"][0]["players"] == given
        await two.emit("WATCH_GAME", {"id": game_id})
        assert (await two.receive())[1]["players"] == given
        in_the_house = ["John (guest)", "Petra (guest)", "John (guest) (guest)"]
        assert (await looked_up(house, "live"))["tables"][0]["players"] == in_the_house
        await one.emit("STOP_GAME", {"id": game_id})
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert [score["name"] for score in end["scores"]] == given
        assert ann.asked[0].body["currentPlayer"] == {"name": "John", "url": ann.url}
        assert await names_in(house, game_id) == in_the_house
        assert (await looked_up(house, "matches?bot=John"))["total"] == 0


@pytest.mark.parametrize(("name", "game_type"), [("John", "gomoku"), ("Petra", "battlecube")])
async def test_an_organiser_with_a_wrong_token_is_refused(
    tmp_path: Path, name: str, game_type: str
) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await registered(house, name, game_type)
        wanted = game((name, "http://127.0.0.1:1"))
        wanted["players"][0]["token"] = "guess"
        await one.emit("NEW_GAME", wanted)
        assert (await one.error())["details"] == f"{name} is a registered bot: its token is needed"


@pytest.mark.parametrize("game_type", ["gomoku", "battlecube"])
async def test_nobody_calls_a_bot_over_its_tunnel_without_its_token(
    tmp_path: Path, game_type: str
) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await registered(house, "John", game_type)
        await one.emit("NEW_GAME", game(("John", "connect:John")))
        assert (await one.error())["details"] == "John is a registered bot: its token is needed"


# Bomberman.


@pytest.mark.parametrize("game_type", ["gomoku", "bomberman"])
async def test_a_user_without_a_password_may_have_any_name(tmp_path: Path, game_type: str) -> None:
    async with room(tmp_path, STEPS + ",rounds=1") as (house, one):
        token = (await registered(house, "Example_bot_1", game_type))["password"]
        first = await one.post(b"{'user_name': 'Example_bot_1'}")
        ada = first["user_id"]
        assert await one.register("Example_bot_1") == ada
        answer = await one.ask("POST", json={"user_name": "Example_bot_1", "password": "guess"})
        assert (answer.status_code, answer.json()["information"]) == (403, "NAME_TAKEN")
        assert (await one.state())["users"] == [{"user_name": "Example_bot_1"}]
        bob = await one.register("Bob")
        told = await one.state(ada, after=0)
        assert [user["user_name"] for user in told["users"]] == ["Example_bot_1", "Bob"]
        row, column = told["user_position"]
        assert told["actual_state"][f"({row}, {column})"]["user_name"] == "Example_bot_1"
        assert (await one.ask("POST", json={"user_name": "Example_bot_1"})).json()[
            "information"
        ] == "NAME_TAKEN"
        end = await one.round((ada, "WAIT"), (bob, "WAIT"))
        assert end["scores"] == {"Example_bot_1": 0, "Bob": 0}
        assert await names_in(house, end["game_id"]) == ["Example_bot_1 (guest)", "Bob"]
        log = await looked_up(
            house, f"matches/{end['game_id']}/seats/0/log", Authorization=f"Bearer {token}"
        )
        assert log == {"error": "this is not the token of the bot at seat 0"}


async def test_a_user_and_the_bot_of_its_name_in_one_room_are_told_apart(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("players=2", "players=3")) as (house, one):
        token = (await registered(house, "Ada", "bomberman"))["password"]
        guest = await one.register("Ada")
        ada = await one.register("Ada", password=token)
        assert ada != guest
        assert ada == await one.register("Ada", password=token)
        both = [{"user_name": "Ada (guest)"}, {"user_name": "Ada"}]
        assert (await one.state())["users"] == both
        other = await one.register("Ada (guest)")
        assert len({guest, ada, other}) == 3
        told = await one.state(ada, after=0)
        assert [user["user_name"] for user in told["users"]] == [
            "Ada (guest)",
            "Ada",
            "Ada (guest) (guest)",
        ]
        assert told["user_position"] == told["users"][1]["position"]


async def test_a_user_meets_the_native_bot_of_its_name(tmp_path: Path) -> None:
    async with (
        room(tmp_path, STEPS) as (house, one),
        native_bot(house, await registered(house, "Ada", "bomberman") | {"players": 2}) as two,
    ):
        await one.register("Ada")
        assert (await two.receive())["state"]["bots"] == ["Ada (guest)", "Ada"]
        assert [user["user_name"] for user in (await one.state(after=0))["users"]] == [
            "Ada (guest)",
            "Ada",
        ]


# Duel arena.


async def test_a_duellist_may_have_the_name_of_a_bot_of_another_game(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        await registered(house, "bee", "bumblebots")
        async with pair(house, "bee", "ada", password="") as (one, two, question):
            (live,) = (await looked_up(house, "live"))["tables"]
            assert sorted(live["players"]) == ["ada", "bee (guest)"]
            await play_rows(one, two, question)
            assert house.arena.duel.online("bee (guest)") and not house.arena.duel.online("bee")
        assert (await looked_up(house, "matches?bot=bee"))["total"] == 0


async def test_of_two_guests_of_one_name_the_newest_stays(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        await registered(house, "bee", "bumblebots")
        async with (
            free(house, "bee") as before,
            free(house, "bee") as bee,
            free(house, "ada") as ada,
        ):
            assert await before.until_closed() == []
            await bee.send(FIND)
            await ada.send(FIND)
            await seated(bee, ada)


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("guess", "bee is a registered bot: its token is needed"),
        ("right", "bee is registered for bumblebots"),
    ],
)
async def test_a_duellist_with_a_token_that_does_not_fit_is_refused(
    tmp_path: Path, password: str, words: str
) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        token = (await registered(house, "bee", "bumblebots"))["password"]
        await one.send({"username": "bee", "password": token if password == "right" else password})
        assert await one.until_closed() == [{"status": "error", "message": words}]


# Boat games.


async def test_a_sailor_may_have_the_name_of_a_bot_of_another_game(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(absence=100)) as house:
        await registered(house, "drone", "bumblebots")
        async with line(house) as thief:
            await thief.receive()
            thief.send(f"J|drone|{BOARD}|guess")
            await thief.expect("E|drone is a registered bot: its token is needed")
        async with (
            sailor(house, "drone") as drone,
            line(house) as twin,
            sailor(house, "ann") as ann,
        ):
            await twin.receive()
            await ann.until("S|")
            (live,) = (await looked_up(house, "live"))["tables"]
            assert sorted(live["players"]) == ["ann", "drone (guest)"]
            await drone.close()
            await ann.until("B|drone|disconnected|")
            twin.send("J|drone")
            await twin.expect("J|drone")
            assert (await twin.receive()).startswith("Y|")


async def test_a_name_that_is_registered_meanwhile_is_still_in_use(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=3, auto_start=False)) as house,
        sailor(house, "drone"),
        line(house) as one,
    ):
        await registered(house, "drone", "bumblebots")
        await one.receive()
        one.send(f"J|drone|{BOARD}")
        await one.expect("E|name in use")
