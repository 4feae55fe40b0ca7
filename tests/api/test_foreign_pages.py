"""A foreign page in a user's browser can do nothing. Old clients and pages still work."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, bot, registered
from tests.server.rooms.cube.clients import game

pytestmark = pytest.mark.anyio

EVIL, LOOPBACK, SANDBOX = "http://evil.example", "http://localhost:8080", "null"
REGISTER = (
    'mutation { registerBot(gameType: NOUGHTS_AND_CROSSES, name: "Mallory", owner: "m") { '
    "password } }"
)
FORM = {"content-type": "application/x-www-form-urlencoded"}
NEW_BOT = {"game": "noughts-and-crosses", "name": "Mallory"}
SETTINGS = {
    "network_origins": "https://pages.example.org",
    "cube_port": -1,
    "house_fill": True,
    "house_wait": 0.0,
}
POLL = "/socket.io/?EIO=3&transport=polling"


async def asked(house: RunningServer, method: str, path: str, **more: Any) -> httpx.Response:
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        return await http.request(method, house.url + path, **more)


@pytest.mark.parametrize("origin", [EVIL, SANDBOX, "https://evil.example", "http://192.0.2.1:3000"])
async def test_a_foreign_page_cannot_register_a_bot(house: RunningServer, origin: str) -> None:
    page = {"origin": origin}
    for answer in (
        await asked(house, "POST", "/graphql", json={"query": REGISTER}, headers=page),
        await asked(house, "POST", "/graphql", data={"query": REGISTER}, headers=page),
        await asked(
            house,
            "POST",
            "/graphql",
            content=REGISTER,
            headers=page | {"content-type": "application/graphql"},
        ),
        await asked(
            house,
            "POST",
            "/graphql",
            content=REGISTER,
            headers=page | {"content-type": "text/plain"},
        ),
        await asked(house, "POST", "/graphql", params={"query": REGISTER}, headers=page | FORM),
        await asked(house, "POST", "/api/v1/bots", json=NEW_BOT, headers=page),
        await asked(
            house,
            "POST",
            "/api/v1/bots",
            content=json.dumps(NEW_BOT),
            headers=page | {"content-type": "text/plain"},
        ),
    ):
        assert answer.status_code == 403
        assert "the setting origins" in answer.text
        assert "access-control-allow-origin" not in answer.headers
    assert (
        await asked(house, "GET", "/graphql", params={"query": REGISTER}, headers=page)
    ).status_code == 405
    assert await house.arena.store.bot("Mallory") is None


async def test_a_form_of_a_browser_that_names_no_origin_cannot_either(house: RunningServer) -> None:
    page = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (
        await asked(house, "POST", "/graphql", data={"query": REGISTER}, headers=page)
    ).status_code == 403
    assert (await asked(house, "GET", POLL + "&j=0", headers=page)).status_code == 403
    assert (await asked(house, "GET", "/", headers=page | {"cookie": "io=x"})).status_code == 200, (
        "a link leads here"
    )


async def test_a_foreign_page_cannot_read_what_is_public(house: RunningServer) -> None:
    for path in (
        "/api/v1/bots",
        "/graphql?query={bots(gameType:NOUGHTS_AND_CROSSES){name}}",
        "/metrics",
    ):
        answer = await asked(house, "GET", path, headers={"origin": EVIL})
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
        assert (
            await asked(house, "GET", path, headers={"origin": EVIL, "cookie": "io=x"})
        ).status_code == 403
    for path in ("/graphql", "/api/v1/bots"):
        preflight = {"origin": EVIL, "access-control-request-method": "POST"}
        assert (await asked(house, "OPTIONS", path, headers=preflight)).status_code == 403


@pytest.mark.parametrize(
    "origin", [None, LOOPBACK, "http://[::1]:4000", "own", "https://pages.example.org"]
)
async def test_tools_and_trusted_pages_register_bots(
    house: RunningServer, origin: str | None
) -> None:
    origin = house.url if origin == "own" else origin
    page = {} if origin is None else {"origin": origin}
    preflight = page | {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    if origin is not None:
        allowed = await asked(house, "OPTIONS", "/api/v1/bots", headers=preflight)
        assert (allowed.status_code, allowed.headers["access-control-allow-headers"]) == (
            204,
            "content-type",
        )
        assert allowed.headers["access-control-allow-origin"] == origin
    register = REGISTER.replace("Mallory", f"page of {origin}")
    answer = await asked(house, "POST", "/graphql", json={"query": register}, headers=page)
    assert answer.json()["data"]["registerBot"]["password"]
    assert answer.headers.get("access-control-allow-origin") == origin


async def test_a_token_passes_with_any_origin(house: RunningServer) -> None:
    token = (await registered(house, "Ann"))["password"]
    page = {"origin": EVIL, "authorization": f"Bearer {token}"}
    assert (
        await asked(house, "PUT", "/api/v1/bots/Ann", json={"url": None}, headers=page)
    ).status_code == 200
    page["authorization"] = "Basic QW5uOg=="  # a browser may send that by itself
    assert (
        await asked(house, "PUT", "/api/v1/bots/Ann", json={"url": None}, headers=page)
    ).status_code == 403


@pytest.mark.parametrize(
    "origin", [EVIL, SANDBOX, "http://localhost:9000", "https://battlebot.example"]
)
async def test_bots_log_in_with_any_origin(house: RunningServer, origin: str) -> None:
    """The client of the original sends one."""
    login = await registered(house, f"Ann of {origin}")
    for path in ("/", "/any/path?query", "/graphql"):
        address = house.url.replace("http", "ws", 1) + path
        async with connect(address, origin=origin, open_timeout=PATIENCE) as socket:  # type: ignore[arg-type]
            await socket.send(json.dumps(login))
            assert (
                json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))["authentication"]
                == "OK"
            )


SOCKETS = ["/socket.io/?EIO=3&transport=websocket", "/watch/MATCH", "/watch/none"]


@pytest.mark.parametrize("path", [*SOCKETS, "/graphql"])
async def test_sockets_without_a_login_are_for_trusted_pages(
    house: RunningServer, path: str
) -> None:
    name = f"Ann of {path}"
    async with bot(house, await registered(house, name)) as ann:
        await ann.receive()
        match = next(table.id for table in house.desk.tables.live() if name in table.players)
        there = house.url.replace("http", "ws", 1) + path.replace("MATCH", match)
        tongue: Any = {"subprotocols": ["graphql-transport-ws"]} if path == "/graphql" else {}
        for origin in (EVIL, SANDBOX):
            with pytest.raises(InvalidStatus) as refused:
                await connect(there, origin=origin, open_timeout=PATIENCE, **tongue)  # type: ignore[arg-type]
            assert refused.value.response.status_code == 403
            assert b"the setting origins" in (refused.value.response.body or b"")
        for trusted in (None, LOOPBACK, house.url):
            async with connect(there, origin=trusted, open_timeout=PATIENCE, **tongue):  # type: ignore[arg-type]
                pass


async def test_the_page_of_the_original_battlecube_starts_a_game(house: RunningServer) -> None:
    """It comes from a development server, asks for the other port of localhost, polls first and
    changes to a WebSocket.
    """
    page = {"origin": LOOPBACK, "cookie": "io=of-last-time"}
    async with httpx.AsyncClient(headers=page, timeout=PATIENCE) as http:
        there = f"localhost:{house.ports['cube']}"
        opened = await http.get(f"http://{there}{POLL}")
        assert opened.headers["access-control-allow-origin"] == LOOPBACK
        assert opened.headers["access-control-allow-credentials"] == "true"
        assert opened.headers["cross-origin-resource-policy"] == "cross-origin"
        sid = json.loads(opened.text[opened.text.index("{") : opened.text.index("}") + 1])["sid"]
        text = "42" + json.dumps(
            ["NEW_GAME", game(("A", "house:survivor"), ("B", "house:survivor"))]
        )
        posted = await http.post(f"http://{there}{POLL}&sid={sid}", content=f"{len(text)}:{text}")
        assert (posted.status_code, posted.text) == (200, "ok")
        address = f"ws://{there}/socket.io/?EIO=3&transport=websocket&sid={sid}"
        async with connect(address, origin=LOOPBACK, open_timeout=PATIENCE):  # type: ignore[arg-type]
            pass


async def test_a_foreign_page_has_no_socket_io(house: RunningServer) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        for port in (house.port, house.ports["cube"]):
            refused = await http.get(f"http://127.0.0.1:{port}{POLL}", headers={"origin": EVIL})
            assert (refused.status_code, refused.json()["message"]) == (403, "Forbidden")
            assert "the setting origins" in refused.json()["context"]
            assert "access-control-allow-origin" not in refused.headers


async def test_bomberman_is_open_to_pages_of_participants(house: RunningServer) -> None:
    answer = await asked(house, "POST", "/bomber/rest/register/Ann", headers={"origin": EVIL})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    address = house.url.replace("http", "ws", 1) + "/bomber/rest"
    async with connect(address, origin=EVIL, open_timeout=PATIENCE) as socket:  # type: ignore[arg-type]
        assert (
            json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))["phase"] == "REGISTRATION"
        )
