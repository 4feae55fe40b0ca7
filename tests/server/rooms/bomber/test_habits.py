"""Bomberman bots as people write them: each habit of their libraries plays along."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.server.clients import PATIENCE
from tests.server.rooms.bomber.clients import Api, room

pytestmark = pytest.mark.anyio


async def test_a_form_in_parts_as_browsers_send_it(one: Api) -> None:
    """`fetch(url, {method: "POST", body: new FormData(form)})`, and `curl -F`."""
    registered = await one.ask("POST", files={"user_name": (None, "Ada")})
    ada = registered.json()["user_id"]
    await one.begin("Bob")
    acted = await one.ask("POST", files={"user_id": (None, ada), "action": (None, "WAIT")})
    assert acted.json()["response"] == "ACCEPTED"
    assert (await one.ask("POST", f"/state/{ada}", files={"x": (None, "")})).json()["user_position"]


async def test_http_1_0_on_one_connection_with_an_empty_line_after_each_body(
    tmp_path: Path,
) -> None:
    async with room(tmp_path) as (house, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        for name in ("Ada", "Bob"):
            body = json.dumps({"user_name": name}).encode()
            head = (
                b"POST /bomber/rest HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: %d\r\n"
                b"\r\n" % len(body)
            )
            writer.write(head + body + b"\r\n\r\n")
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            assert b"\r\nConnection: keep-alive\r\n" in answer
            length = int(answer.partition(b"Content-Length: ")[2].split()[0])
            assert json.loads(await reader.readexactly(length))["user_id"]
        writer.close()


async def test_a_slash_at_the_end_of_a_path_says_nothing(one: Api) -> None:
    ada = (await one.ask("POST", "/register/Ada/")).json()["user_id"]
    await one.begin("Bob")
    assert (await one.ask("GET", f"/state/{ada}/")).json()["user_position"]
    assert (await one.ask("POST", f"/action/{ada}/", content=b'{"action": "WAIT"}')).json()[
        "response"
    ] == "ACCEPTED"


async def test_the_state_can_be_asked_for_in_a_query(one: Api) -> None:
    ada, _ = await one.begin("Ada", "Bob")
    told = (await one.ask("GET", params={"action": "STATE", "user_id": ada})).json()
    assert told["user_position"] and told["phase"] == "PLAYING"
    assert "routes" in (await one.ask("GET")).json(), "without it there is the way round the API"


async def test_a_browser_need_not_ask_before_every_action(one: Api) -> None:
    assert (await one.ask("OPTIONS")).headers["Access-Control-Max-Age"] == "86400"
