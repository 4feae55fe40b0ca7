"""The rows of the resolutions that speak of messages, users and answers, over real connections."""

import json
import re
from pathlib import Path

import pytest

from tests.server.clients import client
from tests.server.rooms.bomber.clients import STEPS, Api, api, room

pytestmark = pytest.mark.anyio
HEX = re.compile("[0-9a-f]{32}")


async def test_row_01_routes_one_post_for_all_messages_a_websocket_and_a_port_of_its_own(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, bomber_port=-1) as (house, one):
        ada = (await one.ask("POST", "/register/Ada")).json()["user_id"]
        other = f"http://127.0.0.1:{house.ports['bomber']}/bomber/rest"
        told = (await one.client.post(other, json={"user_name": "Bob"})).json()
        assert HEX.fullmatch(told["user_id"])
        async with client(house, "/bomber/rest") as socket:
            pushed = await socket.receive()
            while pushed["phase"] != "PLAYING":
                pushed = await socket.receive()
            assert pushed["state_number"] == 1
            await socket.send({"user_id": ada, "action": "PLACE_BOMB"})
            assert (await socket.receive())["response"] == "ACCEPTED"
            assert (
                await one.ask("POST", f"/action/{told['user_id']}", json={"action": "WAIT"})
            ).json()["response"] == "ACCEPTED"
            pushed = await socket.receive()
            assert pushed["state_number"] == 2
            assert pushed["user_position"] == pushed["users"][0]["position"]
            await socket.send({"action": "STATE"})
            assert (await socket.receive())["actual_state"] == pushed["actual_state"]
        assert (await one.post({"action": "STATE"}))["state_number"] == 2


async def test_row_02_the_name_in_the_path_the_body_a_form_or_the_query(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("players=2", "players=8")) as (_, one):
        for path, content in (
            ("/register/Ada", b""),
            ("/register", b'{"user_name": "Bob"}'),
            ("/register/", b"user_name=Cyd+D."),
            ("/register?user_name=Dan", b""),
            ("?user_name=Eve", b""),
            ("/register/Fay%20%C3%A9", b'{"user_name": "ignored"}'),
        ):
            assert (await one.ask("POST", path, content=content)).status_code == 200
        names = [user["user_name"] for user in (await one.state())["users"]]
        assert names == ["Ada", "Bob", "Cyd D.", "Dan", "Eve", "Fay é"]
        answer = await one.ask("POST", "/register/")
        assert (answer.status_code, answer.json()["information"]) == (400, "MISSING_FIELD")


async def test_row_03_json_python_literals_and_forms_of_64_kib_at_most(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("players=2", "players=8")) as (_, one):
        for body in (b'{"user_name": "Ada"}', b"{'user_name': 'Bob'}", b"user_name=Cyd"):
            assert "user_id" in await one.post(body)
        evil = await one.post(b"{'user_name': __import__('os').getcwd()}")
        assert (evil["response"], evil["information"]) == ("DECLINED", "BAD_MESSAGE")
        padded = json.dumps({"user_name": "Dan", "x": "y" * 65_000}).encode()
        assert "user_id" in await one.post(padded)
        answer = await one.ask("POST", content=b" " * 65_537)
        assert (answer.status_code, answer.json()["information"]) == (413, "BODY_TOO_LONG")


async def test_row_29_the_last_action_that_was_accepted_counts(one: Api) -> None:
    ada, bob = await one.begin("Ada", "Bob")
    start = (await one.state(ada))["user_position"]
    assert "information" not in await one.act(ada, "WAIT")
    again = await one.act(ada, "PLACE_BOMB")
    assert (again["response"], again["information"]) == ("ACCEPTED", "OVERWRITTEN WAIT")
    refused = await one.act(ada, "MOVE_UP" if start[0] == 0 else "MOVE_DOWN")
    assert refused["response"] == "CANNOT_MOVE"
    after = await one.round((bob, "WAIT"))
    assert after["actual_state"][str(tuple(start))]["field_type"] == "OCCUPIED_BOMB", (
        "what was accepted stays in force"
    )


async def test_row_32_a_late_action_counts_for_the_round_that_runs_unless_it_names_its_state(
    one: Api,
) -> None:
    ada, bob = await one.begin("Ada", "Bob")
    await one.round((ada, "WAIT"), (bob, "WAIT"))
    late = await one.act(ada, "PLACE_BOMB", state_number=1)
    assert (late["response"], late["information"], late["state_number"]) == (
        "CANNOT_MOVE",
        "TOO_LATE",
        2,
    )
    early = await one.act(ada, "PLACE_BOMB", state_number=3)
    assert (early["information"], early["state_number"]) == ("TOO_LATE", 2)
    assert early["detail"] == "the round of that state_number has not begun"
    assert late["detail"] == "the round of that state_number is over"
    assert (await one.act(ada, "WAIT"))["state_number"] == 2
    told = await one.round((bob, "WAIT"))
    assert not [
        tile for tile in told["actual_state"].values() if tile["field_type"] == "OCCUPIED_BOMB"
    ]
    assert (await one.act(ada, "PLACE_BOMB", state_number="3"))["response"] == "ACCEPTED"


async def test_row_33_the_word_of_the_list_and_of_the_example(tmp_path: Path) -> None:
    rooms = f"{STEPS} wrapped{STEPS.removeprefix('default')},wrapped_responses=1"
    async with (
        room(tmp_path, rooms) as (house, one),
        api(house, "/bomber/rooms/wrapped/rest") as wrapped,
    ):
        for each, word in ((one, "CANNOT_MOVE"), (wrapped, "DECLINED")):
            ada, _ = await each.begin("Ada", "Bob")
            edge = "MOVE_UP" if (await each.state(ada))["user_position"][0] == 0 else "MOVE_DOWN"
            told = await each.act(ada, edge)
            assert (told["response"], told["information"]) == (word, "CANNOT_MOVE")
            assert (await each.act(ada, "WAIT"))["response"] == "ACCEPTED"


async def test_row_34_a_response_is_a_word_of_the_list_and_no_user_id(one: Api) -> None:
    ada, _ = await one.begin("Ada", "Bob")
    for action in ("WAIT", "UP", "DOWN", "LEFT", "RIGHT", "BOMB"):
        told = await one.act(ada, action)
        assert told["response"] in ("ACCEPTED", "CANNOT_MOVE")
        assert ada not in json.dumps(told)


async def test_row_35_an_answer_has_number_and_time_and_the_state_if_asked_for(
    one: Api,
) -> None:
    ada, _ = await one.begin("Ada", "Bob")
    assert (await one.act(ada, "WAIT")).keys() == {"response", "state_number", "time_left"}
    told = await one.act(ada, "PLACE_BOMB", {"with_state": "1", "state": "list"})
    assert told["response"] == "ACCEPTED"
    assert len(told["actual_state"]) == 169
    assert told["state_number"] == 1
    assert told["user_position"]


async def test_row_36_time_left_is_whole_milliseconds_and_never_negative(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=3600,rounds=2")) as (_, one):
        times = [(await one.state())["time_left"]]
        first = await one.post({"user_name": "Ada"})
        times += [first["time_left"], (await one.state())["time_left"]]
        assert 3_590_000 < times[-1] <= times[0] == 3_600_000
        bob = await one.register("Bob")
        told = await one.state(after=0)
        assert 50_000 < told["time_left"] <= 60_000
        times += [told["time_left"], (await one.act(bob, "WAIT"))["time_left"]]
        await one.round((first["user_id"], "WAIT"))
        last = await one.round((bob, "WAIT"), (first["user_id"], "WAIT"))
        assert last["phase"] == "FINISHED"
        times += [last["time_left"], (await one.post({"user_name": "Eve"}))["time_left"]]
        assert all(type(time) is int and time >= 0 for time in times)


async def test_row_37_a_user_id_is_32_hexadecimal_digits_taken_from_anywhere(
    one: Api,
) -> None:
    ada, bob = await one.begin("Ada", "Bob")
    assert HEX.fullmatch(ada)
    assert ada != bob
    answers = [
        await one.ask("POST", f"/action/{ada}", json={"action": "WAIT"}),
        await one.ask("POST", json={"action": "WAIT", "user_id": ada}),
        await one.ask("POST", f"?user_id={ada}", json={"action": "WAIT"}),
        await one.ask("POST", "/action", json={"action": "WAIT"}, headers={"X-User-Id": ada}),
        await one.ask("POST", f"?user_id={ada}&action=WAIT"),
    ]
    assert [answer.json()["response"] for answer in answers] == ["ACCEPTED"] * 5
    states = [
        await one.ask("GET", f"/state/{ada}"),
        await one.ask("GET", f"/state?user_id={ada}"),
        await one.ask("GET", "/state", headers={"x-user-id": ada}),
        await one.ask("POST", json={"action": "STATE", "user_id": ada}),
        await one.ask("POST", "/state", json={"user_id": ada}),
    ]
    assert all("user_position" in state.json() for state in states)
    assert (await one.post({"action": "WAIT", "user_id": 140104705518352}))[
        "information"
    ] == "UNKNOWN_USER"


async def test_row_38_the_same_name_is_the_same_user_while_registration_lasts(
    one: Api,
) -> None:
    ada = await one.register("Ada", password="secret")
    assert await one.register("Ada", password="secret") == ada
    for password in ("wrong", None, ""):
        answer = await one.ask("POST", json={"user_name": "Ada", "password": password})
        assert (answer.status_code, answer.json()["information"]) == (409, "NAME_TAKEN")
    await one.register("Bob")
    told = await one.state(after=0)
    assert told["phase"] == "PLAYING"
    for password in ("wrong", None):
        answer = await one.ask("POST", json={"user_name": "Ada", "password": password})
        assert (
            answer.status_code,
            answer.json()["response"],
            answer.json()["information"],
        ) == (
            409,
            "DECLINED",
            "NAME_TAKEN",
        )
    assert await one.register("Ada", password="secret") == ada, "a bot that crashed plays on"


async def test_row_39_names_are_short_printable_and_without_a_slash(one: Api) -> None:
    for path in (
        "/register/a%2Fb%20c",
        "/register/a/b",
        "/register/" + "x" * 33,
        "/register/a%0Ab",
        "/register/house:x",
    ):
        answer = await one.ask("POST", path)
        assert answer.status_code in (400, 403)
        assert answer.json()["response"] == "DECLINED"
    assert (await one.ask("POST", "/register/%ff")).json()["information"] == "BAD_MESSAGE"
    assert (await one.post({"user_name": 17}))["information"] == "BAD_NAME"
    assert (await one.post({"user_name": "  "}))["information"] == "BAD_NAME"
    await one.register("x" * 32)
    await one.register(" Ada ")
    assert sorted(user["user_name"] for user in (await one.state())["users"]) == [
        " Ada ",
        "x" * 32,
    ]
