"""How fast requests may come from one address, and that none of them keeps others waiting; over
real sockets.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from botdrome.api.request_checks import TOO_FAST, RequestChecks, RequestRate, WaitingRequest
from botdrome.protocols import load_settings
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Shares
from tests.server.clients import server

pytestmark = pytest.mark.anyio

STRICT: dict[str, Any] = {"http_rate": 0.001, "http_burst": 1, "http_rate_loopback": True}


def client(**settings: Any) -> httpx.AsyncClient:
    """A client on this machine, in front of an application that answers every request."""
    wanted = load_settings(STRICT | settings)
    checks = RequestChecks(PlainTextResponse("ok"), Origins(wanted), RequestRate(wanted))
    return httpx.AsyncClient(transport=httpx.ASGITransport(checks), base_url="http://127.0.0.1")


async def second_answer(http: httpx.AsyncClient, path: str) -> httpx.Response:
    assert (await http.get(path)).status_code != 429
    return await http.get(path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/graphql?query={botsCount}", {"errors": [{"message": TOO_FAST}]}),
        ("/api/v1/live", {"error": TOO_FAST}),
        ("/watch/nothing/events", {"error": TOO_FAST}),
        (
            "/socket.io/?EIO=4&transport=polling",
            {"code": 3, "message": "Bad request", "context": TOO_FAST},
        ),
    ],
)
async def test_too_many_requests_are_refused_in_the_words_of_each_api(
    path: str, words: Any
) -> None:
    refused = await second_answer(client(), path)
    assert (refused.status_code, refused.json()) == (429, words)
    assert 0 < int(refused.headers["retry-after"]) <= 1000
    assert refused.headers["connection"] == "close"
    assert refused.headers["content-type"] == "application/json"


async def test_a_page_says_it_in_plain_words() -> None:
    refused = await second_answer(client(), "/")
    assert (refused.status_code, refused.text) == (429, TOO_FAST + "\n")


async def test_sockets_of_graphql_count_as_requests(tmp_path: Path) -> None:
    async with server(tmp_path, **STRICT) as house:
        url = house.url.replace("http", "ws", 1) + "/graphql"
        async with connect(url, subprotocols=["graphql-transport-ws"]):  # type: ignore[list-item]
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, subprotocols=["graphql-transport-ws"])  # type: ignore[list-item]
    assert refused.value.response.status_code == 429
    assert json.loads(refused.value.response.body) == {"errors": [{"message": TOO_FAST}]}


async def test_what_was_sent_with_a_request_that_is_refused_is_not_answered(tmp_path: Path) -> None:
    async with server(tmp_path, **STRICT) as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20)
        told = await reader.read()
        writer.close()
    assert (
        told.count(b"HTTP/1.1 200 OK")
        == told.count(b"HTTP/1.1 429 ")
        == told.count(b"HTTP/1.1") // 2
        == 1
    )


@pytest.mark.parametrize("settings", [{"http_rate_loopback": False}, {"http_rate": 0}])
async def test_the_servers_own_machine_and_whoever_has_no_limit_are_not_refused(
    settings: Any,
) -> None:
    http = client(**settings)
    assert [(await http.get("/")).status_code for _ in range(20)] == [200] * 20


async def test_players_by_http_have_limits_of_their_own(tmp_path: Path) -> None:
    async with server(tmp_path, **STRICT) as house, httpx.AsyncClient(base_url=house.url) as http:
        greeting = json.loads((await http.get("/socket.io/?EIO=4&transport=polling")).text[1:])
        polls = [
            await http.post(
                f"/socket.io/?EIO=4&transport=polling&sid={greeting['sid']}", content="3"
            )
            for _ in range(5)
        ]
        rules = [await http.get("/bomber/rest/rules") for _ in range(5)]
    assert {answer.status_code for answer in (*polls, *rules)} == {200}


async def test_whoever_looks_after_the_server_is_answered_during_a_flood(tmp_path: Path) -> None:
    async with server(tmp_path, **STRICT) as house, httpx.AsyncClient(base_url=house.url) as http:
        assert (await second_answer(http, "/")).status_code == 429
        for path in ("/healthz", "/readyz", "/metrics"):
            assert [(await http.get(path)).status_code for _ in range(3)] == [200] * 3
            assert (await http.get(f"{path}/more")).status_code == 429


@pytest.mark.parametrize("more", ["&sid=nonsense", "&xsid=1", "&sid="])
async def test_only_sessions_that_there_are_have_limits_of_their_own(more: str) -> None:
    path = f"/socket.io/?EIO=4&transport=polling{more}"
    assert (await second_answer(client(), path)).status_code == 429


# Turns.


class App:
    """Records the admitted clients, and the turn of the loop."""

    def __init__(self) -> None:
        self.turn = 0
        self.seen: list[tuple[str, int]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append((scope["client"][0], self.turn))

    def count(self) -> None:
        self.turn += 1
        asyncio.get_running_loop().call_soon(self.count)


def make_checks(app: App) -> RequestChecks:
    settings = load_settings({"http_rate": 0})
    return RequestChecks(app, Origins(settings), RequestRate(settings))


async def come(checks: RequestChecks, *addresses: str) -> None:
    scopes = [
        {
            "type": "http",
            "client": (address, 1),
            "path": "/",
            "query_string": b"",
            "headers": [],
            "method": "GET",
        }
        for address in addresses
    ]
    await asyncio.gather(*(checks(scope, None, None) for scope in scopes))  # type: ignore[arg-type]


async def test_requests_come_in_one_by_one_and_every_address_has_its_turn() -> None:
    app = App()
    checks = make_checks(app)
    app.count()
    await come(checks, *["10.0.0.1"] * 30, "10.0.0.2", "10.0.0.3")
    addresses, rounds = zip(*app.seen, strict=True)
    assert len(set(rounds)) == len(rounds) == 32, "others have their turn after each"
    assert {"10.0.0.2", "10.0.0.3"} < set(addresses[:6])
    await come(checks, "10.0.0.4")
    assert app.seen[-1][0] == "10.0.0.4"


async def test_one_who_has_left_keeps_nobody_waiting() -> None:
    app = App()
    checks = make_checks(app)
    first, gone, last = [
        asyncio.ensure_future(come(checks, f"10.0.0.{number}")) for number in range(3)
    ]
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(first, last)
    assert [address for address, _ in app.seen] == ["10.0.0.0", "10.0.0.2"]


async def test_a_request_whose_address_has_used_up_its_budget_waits_for_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is answered then."""
    held, serve_held = list[WaitingRequest](), WaitingRequest.serve_held

    def serve(turn: WaitingRequest) -> bool:
        held.append(turn)
        return serve_held(turn)

    monkeypatch.setattr(WaitingRequest, "serve_held", serve)
    monkeypatch.setattr(Shares, "must_wait", lambda *_: True)
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        assert (await http.get("/api/v1/live")).status_code == 200
    assert len(held) == 1
