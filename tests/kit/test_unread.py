"""The system tells how much a program on this machine has not read."""

import asyncio
import socket
import sys

import pytest

from botdrome.kit.proxy import unread, until_read


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
