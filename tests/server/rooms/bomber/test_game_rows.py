"""The rows of the resolutions that speak of a game from its registration to its end, over real
connections.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.clients import client
from tests.server.rooms.bomber.clients import STEPS, Api, room
from tests.server.rooms.bomber.test_rows import HEX

pytestmark = pytest.mark.anyio


async def test_row_40_registration_that_is_closed(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=9,rounds=10")) as (_, one):
        await one.begin("Ada", "Bob")
        answer = await one.ask("POST", "/register/Cyd")
        assert (answer.status_code, answer.headers["content-type"]) == (
            409,
            "application/json; charset=UTF-8",
        )
        told = answer.json()
        assert (told["response"], told["information"]) == ("DECLINED", "REGISTRATION_CLOSED")
        assert told["time_left"] == 10 * 60_000 + 9000


async def test_row_41_the_state_during_registration(one: Api) -> None:
    ada = await one.register("Ada")
    for shape, empty in (("dict", {}), ("list", []), ("grid", [])):
        told = await one.state(ada, state=shape)
        assert told["actual_state"] == empty
        assert (told["phase"], told["state_number"], told["users"]) == (
            "REGISTRATION",
            0,
            [{"user_name": "Ada"}],
        )
        assert told["time_left"] > 0
    assert (await one.act(ada, "UP"))["information"] == "NOT_STARTED"


async def test_row_42_an_unknown_user_may_look_and_not_act(one: Api) -> None:
    ada, _ = await one.begin("Ada", "Bob")
    assert "user_position" in await one.state(ada)
    assert "user_position" not in await one.state("f" * 32)
    answer = await one.ask("POST", json={"user_id": "f" * 32, "action": "UP"})
    assert (answer.status_code, answer.json()["response"], answer.json()["information"]) == (
        404,
        "DECLINED",
        "UNKNOWN_USER",
    )
    assert (answer.json()["state_number"], answer.json()["time_left"] > 0) == (1, True)


async def test_row_43_unknown_actions_and_missing_fields(one: Api) -> None:
    ada, _ = await one.begin("Ada", "Bob")
    cases: list[tuple[Any, str]] = [
        ({"user_id": ada, "action": "JUMP"}, "UNKNOWN_ACTION"),
        ({"user_id": ada, "action": 7}, "UNKNOWN_ACTION"),
        ({"user_id": ada}, "MISSING_FIELD"),
        ({"action": "MOVE_UP"}, "MISSING_FIELD"),
        ({}, "MISSING_FIELD"),
        ({"user_id": ada, "action": "UP", "state_number": "soon"}, "BAD_FIELD"),
    ]
    for message, word in cases:
        answer = await one.ask("POST", json=message)
        told = answer.json()
        assert (answer.status_code, told["response"], told["information"]) == (
            400,
            "DECLINED",
            word,
        )
        assert " " in told["detail"]
        assert (told["state_number"], told["time_left"] > 0) == (1, True)
    unreadable = await one.post(b"{", f"/action/{ada}")
    assert (unreadable["information"], unreadable["state_number"]) == ("BAD_MESSAGE", 1)
    nowhere = (await one.client.post("/bomber/rooms/nowhere/rest", content=b"{")).json()
    assert (nowhere["information"], "state_number" in nowhere) == ("BAD_MESSAGE", False)
    for word in ("bomb", "Place_Bomb", "BOMB", "wait"):
        assert (await one.act(ada, word))["response"] == "ACCEPTED"


async def test_row_44_the_state_of_a_dead_user(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("players=2", "players=3,fuse=1")) as (_, one):
        ada, bob, cyd = await one.begin("Ada", "Bob", "Cyd")
        assert (await one.state(ada))["alive"] is True
        await one.round((ada, "BOMB"), (bob, "WAIT"), (cyd, "WAIT"))
        await one.round((ada, "WAIT"), (bob, "WAIT"), (cyd, "WAIT"))
        told = await one.state(ada)
        assert told["alive"] is False
        assert "user_position" not in told
        assert "Ada" not in [tile.get("user_name") for tile in told["actual_state"].values()]
        dead = await one.act(ada, "UP")
        assert (dead["response"], dead["information"]) == ("DEAD", "DEAD")
        assert told["phase"] == "PLAYING"


async def test_row_45_the_end_can_be_read_and_then_registration_opens_again(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",fuse=1,rounds=9") as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        await one.round((ada, "BOMB"), (bob, "WAIT"))
        told = await one.round((ada, "WAIT"), (bob, "WAIT"))
        assert (told["phase"], told["winner"], told["scores"]) == (
            "FINISHED",
            "Bob",
            {"Ada": 0, "Bob": 2},
        )
        assert told["state_number"] == 3
        over = await one.act(bob, "UP")
        assert (over["response"], over["information"]) == ("CANNOT_MOVE", "GAME_OVER")
        assert (await house.arena.store.match(told["game_id"])) is not None
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=0.05,rounds=2")) as (_, one):
        ada, bob = await one.begin("Ada", "Bob")
        for _ in range(2):
            told = await one.round((ada, "WAIT"), (bob, "WAIT"))
        if told["phase"] == "FINISHED":
            assert (told["winner"], told["scores"]) == (None, {"Ada": 0, "Bob": 0})
            told = await one.state(after=3)
        assert (told["phase"], told["state_number"], told["users"]) == ("REGISTRATION", 0, [])
        assert (await one.state(after=3))["phase"] == "REGISTRATION", (
            "of a game that is gone nothing is to be waited for"
        )
        assert (await one.act(bob, "UP"))["information"] == "UNKNOWN_USER"
        assert await one.register("Bob") != bob


async def test_row_47_two_at_least_and_a_start_when_full_or_when_the_time_is_over(
    tmp_path: Path, one: Api
) -> None:
    async with room(tmp_path, "default:players=3,registration=0.1,early=1,round=60000") as (_, few):
        await few.register("Ada")
        assert (await few.state())["phase"] == "REGISTRATION"
        await few.register("Bob")
        told = await few.state(after=0)
        assert [user["user_name"] for user in told["users"]] == ["Ada", "Bob"], "the time was over"
    assert len((await one.state())["users"]) == 0
    await one.begin("Ada", "Bob")


async def test_row_48_the_next_state_can_be_waited_for_and_is_pushed(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        assert (await one.state(after=0))["state_number"] == 1, "there is one already"
        async with client(house, "/bomber/rest?state=grid") as socket:
            assert (await socket.receive())["state_number"] == 1
            await one.act(ada, "WAIT")
            assert (await one.state())["state_number"] == 1, "not all have acted"
            await one.act(bob, "WAIT")
            assert (await one.state(after=1))["state_number"] == 2
            pushed = await socket.receive()
            assert (pushed["state_number"], len(pushed["actual_state"])) == (2, 13)
            assert "user_position" not in pushed


async def test_row_48_states_are_pushed_to_the_user_that_the_query_names(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        async with client(house, f"/bomber/rest?state=list&user_id={ada}") as socket:
            pushed = await socket.receive()
            assert pushed["user_position"] == pushed["users"][0]["position"]
            await socket.send({"action": "PLACE_BOMB"})
            assert (await socket.receive())["response"] == "ACCEPTED"
            await one.act(bob, "WAIT")
            pushed = await socket.receive()
            assert (pushed["state_number"], pushed["user_position"]) == (
                2,
                pushed["users"][0]["position"],
            )
            await socket.send({"action": "STATE", "user_id": bob})
            assert (await socket.receive())["user_position"] == pushed["users"][1]["position"]


async def test_row_48_a_user_of_a_game_that_is_gone_is_nobody_in_the_next(tmp_path: Path) -> None:
    rooms = STEPS.replace("rest=3600", "rest=0,rounds=1")
    async with room(tmp_path, rooms) as (house, one), client(house, "/bomber/rest") as socket:
        await socket.receive()
        await socket.send({"user_name": "Ada"})
        ada, bob = (await socket.receive())["user_id"], await one.register("Bob")
        assert (await socket.receive())["user_position"]
        await one.act(ada, "WAIT")
        await one.act(bob, "WAIT")
        assert [(await socket.receive())["phase"] for _ in range(2)] == ["FINISHED", "REGISTRATION"]
        await one.begin("Cyd", "Dan")
        pushed = await socket.receive()
        assert (pushed["phase"], "user_position" in pushed, "alive" in pushed) == (
            "PLAYING",
            False,
            False,
        )


async def test_row_49_everything_is_public_but_user_ids(one: Api) -> None:
    ada, bob = await one.begin("Ada", "Bob")
    own, public = await one.state(ada), await one.state()
    assert own["actual_state"] == public["actual_state"]
    assert own.keys() - public.keys() == {"user_position", "alive"}
    assert "FREE" in str(public)
    for answer in (
        own,
        public,
        (await one.ask("GET", "/rules")).json(),
        (await one.client.get("/bomber/rooms")).json(),
    ):
        assert not HEX.search(json.dumps(answer))
    assert bob != ada


async def test_row_50_pages_may_ask_from_anywhere(one: Api) -> None:
    for path in ("", "/register/Ada", "/state/x", "/rules", "/nowhere"):
        answer = await one.ask(
            "OPTIONS",
            path,
            headers={"Origin": "http://x", "Access-Control-Request-Method": "POST"},
        )
        assert (answer.status_code, answer.content) == (204, b"")
        assert "content-length" not in answer.headers
        assert "Content-Type" in answer.headers["access-control-allow-headers"]
        assert "POST" in answer.headers["access-control-allow-methods"]
    for method, path in (
        ("GET", "/state"),
        ("POST", "/register/Ada"),
        ("GET", "/nowhere"),
        ("DELETE", "/state"),
    ):
        assert (await one.ask(method, path)).headers["access-control-allow-origin"] == "*"


async def test_the_python_format_is_for_every_answer(one: Api) -> None:
    headers = {"Accept": "text/x-python"}
    answer = await one.ask("POST", "/register/Ada", headers=headers)
    assert answer.headers["content-type"] == "text/x-python; charset=UTF-8"
    ada = ast.literal_eval(answer.text)["user_id"]
    await one.register("Bob")
    await one.state(after=0)
    told = ast.literal_eval((await one.ask("GET", f"/state/{ada}?format=python")).text)
    assert told["actual_state"][told["user_position"]]["user_name"] == "Ada"
    acted = await one.ask(
        "POST", content=repr({"user_id": ada, "action": "WAIT"}).encode(), headers=headers
    )
    assert ast.literal_eval(acted.text)["response"] == "ACCEPTED"
    wrong = await one.ask("POST", content=b"{'action': 'UP'}", headers=headers)
    assert ast.literal_eval(wrong.text)["information"] == "MISSING_FIELD"
