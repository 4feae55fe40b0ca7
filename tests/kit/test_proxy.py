"""The proxy knows what the bot has read, and whom it tells first that a connection is lost."""

import asyncio
import os
import signal
import socket
import sys

import pytest

from botdrome.client.program import Program
from botdrome.kit import proxy
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
        waiting = asyncio.create_task(until_read(writer, lambda: True, 60.0))
        assert bot.recv(9) == b"llo"
        assert await waiting
        assert unread(writer) == 0
        bot.close()
        writer.close()


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
async def test_a_bot_that_gets_no_processor_does_not_wait_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is stopped here for longer than a bot that sleeps may leave its bytes unread."""
    assert (proxy.WAITS, proxy.SPINS) == (3.0, 3.0)
    monkeypatch.setattr(proxy, "SPINS", 1000.0)
    code = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
        "s.recv(1); input()"
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        program = Program([sys.executable, "-c", code, str(listener.getsockname()[1])])
        try:
            bot, _ = await asyncio.to_thread(listener.accept)
            _, writer = await asyncio.open_connection(sock=bot)
            os.kill(program.pid, signal.SIGSTOP)
            while program.asleep():
                await asyncio.sleep(0)
            writer.write(b"hello")
            asked: list[bool] = []

            def asleep() -> bool:
                asked.append(program.asleep())
                if len(asked) == 3:
                    os.kill(program.pid, signal.SIGCONT)
                return asked[-1]

            assert not await until_read(writer, asleep, 0.1)
            assert asked[:3] == [False] * 3
            assert unread(writer) == 4
            writer.close()
        finally:
            program.close(0)


@pytest.mark.anyio
async def test_a_bot_that_sends_while_its_connection_is_broken_has_not_left() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"N|{BOT_NAME}\nN|{BOT_NAME}\n".encode())
        assert await reader.read() == b""  # the proxy has ended the connection
        bot.write(b"S|Opponent|1|1\n")
        while not traffic.said:
            await traffic.changed.wait()
            traffic.changed.clear()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = Proxy("boats", "127.0.0.1", port, slowness=0.0, by_hand=False)
    traffic = TrialTraffic(next(one for one in CONDITIONS if one.drop))
    proxy.begin(traffic)
    reader, bot = await asyncio.open_connection("127.0.0.1", await proxy.listen(0))
    assert await reader.read() == f"N|{BOT_NAME}\nN|che".encode()
    while traffic.carried:
        await traffic.changed.wait()
        traffic.changed.clear()
    assert (traffic.left, traffic.open, traffic.dropped) == (0, 0, True)
    bot.close()
    await proxy.close()
    server.close()


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
