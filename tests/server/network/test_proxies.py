"""Behind a trusted proxy the client's real address counts; other clients cannot claim
an address.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from botdrome.api.http_server import http_stack
from botdrome.protocols import load_settings
from botdrome.server.network import peer
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.peer import Proxies
from botdrome.server.settings import BadSetting, Settings
from tests.server.clients import server
from tests.server.rooms.boats.clients import BOARD, Line, boat_server, line, the_room
from tests.wire.framing.test_proxy_header import header

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("address", "forwarded", "client"),
    [
        ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7, 10.0.0.9", "203.0.113.7"),
        ("::ffff:10.0.0.1", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("11.0.0.1", "203.0.113.7", "11.0.0.1"),
        ("", "203.0.113.7", ""),
    ],
)
def test_only_trusted_proxies_say_where_a_client_is(
    address: str, forwarded: str, client: str
) -> None:
    assert (
        Proxies(load_settings({"network_trusted_proxies": "10.0.0.0/8, fd00::/8"})).client_of(
            address, forwarded
        )
        == client
    )


def test_without_proxies_nobody_is_believed_and_a_bad_network_is_named() -> None:
    assert Proxies(Settings()).client_of("127.0.0.1", "203.0.113.7") == "127.0.0.1"
    with pytest.raises(BadSetting, match="trusted_proxies: "):
        Proxies(load_settings({"network_trusted_proxies": "10.1.0.0/99"}))


async def test_a_request_counts_for_the_address_that_a_trusted_proxy_names(tmp_path: Path) -> None:
    limits = {
        "registration_rate": 0.001,
        "registration_burst": 1,
        "network_trusted_proxies": "127.0.0.1",
    }
    async with server(tmp_path, **limits) as house:

        async def register(name: str, address: str, forwarded: str) -> int:
            transport = httpx.AsyncHTTPTransport(local_address=address)
            async with httpx.AsyncClient(base_url=house.url, transport=transport) as http:
                bot = {"game": "gomoku", "name": name, "owner": "me"}
                return (
                    await http.post(
                        "/api/v1/bots", json=bot, headers={"x-forwarded-for": forwarded}
                    )
                ).status_code

        assert await register("one", "127.0.0.1", "203.0.113.7") == 201
        assert await register("two", "127.0.0.1", "203.0.113.8") == 201
        assert await register("three", "127.0.0.1", "6.6.6.6, 203.0.113.8") == 429
        assert await register("four", "127.0.0.2", "203.0.113.9") == 201
        assert await register("five", "127.0.0.2", "203.0.113.10") == 429, "it is no proxy of ours"


@pytest.mark.parametrize("chunked", [False, True])
async def test_each_proxy_may_add_a_line_of_its_own(tmp_path: Path, chunked: bool) -> None:
    """Whether the request is plain or not. A user without a password is known by its address."""
    async with (
        server(tmp_path, network_trusted_proxies="127.0.0.0/8") as house,
        httpx.AsyncClient(base_url=house.url) as http,
    ):

        async def register(address: str) -> dict[str, str]:
            async def nothing() -> AsyncIterator[bytes]:
                yield b""

            headers = [("X-Forwarded-For", address), ("X-Forwarded-For", "127.0.0.9")]
            body = nothing() if chunked else b""
            answer: dict[str, str] = (
                await http.post("/bomber/rest/register/ann", headers=headers, content=body)
            ).json()
            return answer

        first = await register("203.0.113.7")
        assert (await register("203.0.113.7"))["user_id"] == first["user_id"]
        assert "user_id" not in await register("203.0.113.8")


async def test_nobody_but_these_rules_says_where_a_request_comes_from() -> None:
    """The HTTP stack has rules of its own, which believe everybody on this machine."""
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend((scope["client"][0], scope["scheme"]))
        await Response("ok")(scope, receive, send)

    make = http_stack(app, ConnectionLimits(Settings()), asyncio.Protocol)
    async with await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with httpx.AsyncClient() as http:
            headers = {"x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https"}
            assert (await http.get(f"http://127.0.0.1:{port}/", headers=headers)).text == "ok"
    assert seen == ["127.0.0.1", "http"]


@pytest.mark.parametrize("piece", [1, 1000])
async def test_a_balancer_names_the_client_of_a_tcp_port_by_the_proxy_protocol(
    tmp_path: Path, piece: int
) -> None:
    async with (
        boat_server(tmp_path, network_trusted_proxies="127.0.0.1") as house,
        line(house) as one,
    ):
        data = header("203.0.113.7") + f"J|ada|{BOARD}\n".encode()
        for begin in range(0, len(data), piece):
            one.write(data[begin : begin + piece])
            await one.writer.drain()
        await one.until("J|ada")
        gathering = the_room(house).gathering
        assert gathering is not None and gathering.players[0].address == "203.0.113.7"


async def test_a_proxy_that_sends_no_header_is_served_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer, "HEADER_WAIT", 0.01)
    async with (
        boat_server(tmp_path, network_trusted_proxies="127.0.0.1") as house,
        line(house) as one,
    ):
        assert (await one.receive()).startswith("G|"), "a client of boat games waits for this"
        async with httpx.AsyncClient(base_url=house.url) as http:
            assert (await http.get("/healthz")).status_code == 200


async def test_a_header_from_elsewhere_is_no_header(tmp_path: Path) -> None:
    async with boat_server(tmp_path, network_trusted_proxies="127.0.0.1") as house:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", house.ports["xbs"], local_addr=("127.0.0.2", 0)
        )
        one = Line(reader, writer)
        assert (await one.receive()).startswith("G|")
        one.write(header("203.0.113.7"))
        await one.rest()
        await one.close()


async def test_a_connection_with_a_bad_header_is_closed(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, network_trusted_proxies="127.0.0.1") as house,
        line(house) as one,
    ):
        one.write(header("203.0.113.7", command=0x2F))
        with suppress(ConnectionError):
            assert await one.receive() == ""
