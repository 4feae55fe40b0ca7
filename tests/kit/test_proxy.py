"""The proxy knows what the bot has read, and whom it tells first that a connection is lost."""

import asyncio
import socket
import sys

import pytest

from botdrome.kit.proxy import Proxy, TrialTraffic, unread, until_read
from botdrome.kit.traffic import BOT_NAME, CONDITIONS


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
async def test_unread_bytes_are_counted(family: socket.AddressFamily, host: str) -> None:
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"there is no {host}")
    with listener:
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        bot, _ = listener.accept()
        writer.write(b"hello")
        assert unread(writer) == 5
        bot.recv(2)
        assert unread(writer) == 3
        waiting = asyncio.create_task(until_read(writer))
        assert bot.recv(9) == b"llo"
        await waiting
        assert unread(writer) == 0
        bot.close()
        writer.close()


@pytest.mark.anyio
async def test_a_bot_that_has_left_is_carried_until_the_server_has_read_everything() -> None:
    """Its last move may end the match."""
    received: list[bytes] = []
    read, closes = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())
        read.set()
        await closes.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy = Proxy("boats", "127.0.0.1", server.sockets[0].getsockname()[1], 0.0, by_hand=False)
    traffic = TrialTraffic()
    proxy.begin(traffic)
    _, writer = await asyncio.open_connection("127.0.0.1", await proxy.listen(0))
    writer.write(b"the last move")
    writer.close()
    await read.wait()
    assert received == [b"the last move"]
    while traffic.open:
        await traffic.changed.wait()
        traffic.changed.clear()
    assert (traffic.left, traffic.carried) == (1, 1)
    closes.set()
    while traffic.carried:
        await traffic.changed.wait()
        traffic.changed.clear()
    await proxy.close()
    server.close()


@pytest.mark.anyio
async def test_the_server_notices_a_lost_connection_before_the_bot_does() -> None:
    """Otherwise a bot that comes back at once would find its seat taken."""
    noticed: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"N|{BOT_NAME}\nN|{BOT_NAME}\n".encode())
        await reader.read()
        noticed.append("server")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = Proxy("boats", "127.0.0.1", port, slowness=0.0, by_hand=False)
    proxy.begin(TrialTraffic(next(one for one in CONDITIONS if one.drop)))
    reader, writer = await asyncio.open_connection("127.0.0.1", await proxy.listen(0))
    assert await reader.read() == f"N|{BOT_NAME}\nN|che".encode()
    noticed.append("bot")
    writer.close()
    await proxy.close()
    server.close()
    assert noticed == ["server", "bot"]


@pytest.mark.anyio
async def test_the_last_connection_of_a_bot_that_has_ended_is_not_in_the_next_trial() -> None:
    """That trial would blame its own bot for leaving."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"G\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = Proxy("boats", "127.0.0.1", port, slowness=0.0, by_hand=False)
    address = "127.0.0.1", await proxy.listen(0)
    socket.create_connection(address).close()  # not accepted yet, since this holds up the loop
    await proxy.refuse_waiting()
    traffic = TrialTraffic()
    proxy.begin(traffic)
    reader, writer = await asyncio.open_connection(*address)
    assert await reader.readline() == b"G\n"
    assert (traffic.connections, traffic.left) == (1, 0)
    writer.close()
    await proxy.close()
    server.close()
