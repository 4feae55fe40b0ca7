"""Keep alive: every connection that comes in is watched by the system, on both loops."""

import asyncio
import socket
import sys
from typing import cast

import pytest

from botdrome.server.network.listening import BETWEEN, QUIET, TIMES, keep_alive
from tests.server.clients import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not hasattr(socket, "TCP_KEEPIDLE"), reason="the system has other names for it"
    ),
]


@pytest.fixture(
    params=[
        False,
        pytest.param(
            True, marks=pytest.mark.skipif(sys.platform == "win32", reason="it has no uvloop")
        ),
    ]
)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


async def test_a_connection_takes_it_over_from_the_socket_that_listens() -> None:
    loop = asyncio.get_running_loop()
    made: asyncio.Future[asyncio.BaseTransport] = loop.create_future()

    class Guest(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.set_result(transport)

    server = await loop.create_server(Guest, "127.0.0.1", 0)
    keep_alive(server)
    _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    transport = await asyncio.wait_for(made, PATIENCE)
    line = cast(socket.socket, transport.get_extra_info("socket"))
    assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
    assert [line.getsockopt(socket.IPPROTO_TCP, name) for name in names] == [QUIET, BETWEEN, TIMES]
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # for clients that vanish while data is sent to them
        assert (
            line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            == (QUIET + BETWEEN * TIMES) * 1000
        )
    writer.close()
    transport.close()
    server.close()
