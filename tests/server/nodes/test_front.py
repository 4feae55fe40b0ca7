"""Ports that several nodes share: each client reaches the next node, and a node that takes nothing
gets few.
"""

import asyncio
import os
import signal
import socket
import ssl
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from botdrome.server.network.listening import OpenPort
from botdrome.server.nodes import shared_ports
from botdrome.server.nodes.shared_ports import MOST_UNTAKEN, Front, FrontNode, SharedPorts
from botdrome.server.settings import BadSetting, Settings
from tests.patience import PATIENCE


class Greeter(asyncio.Protocol):
    def __init__(self, name: str) -> None:
        self._name = name

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self._name.encode())
        transport.close()


class SharingNode:
    """A node in this process, and its place at the front."""

    def __init__(self, front: Front, name: str) -> None:
        control, self._control = socket.socketpair()
        self.sockets, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        theirs.setblocking(False)
        self.ports, self.name, self.open = SharedPorts(control, self.sockets), name, asyncio.Event()
        self._front, self._theirs = front, theirs

    async def start(self) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._control)
        self.served = asyncio.create_task(
            self._front.serve(FrontNode(self._writer, self._theirs, self.open), reader)
        )
        await self.ports.open()

    async def listen(self, port: int = 0, secure: ssl.SSLContext | None = None) -> OpenPort:
        return await self.ports.listen("http", "port", port, lambda: Greeter(self.name), secure)

    async def end(self) -> None:
        self.ports.close()
        async with asyncio.timeout(PATIENCE):
            await self.served
        self._writer.close()
        self._theirs.close()


@asynccontextmanager
async def sharing(*names: str) -> AsyncIterator[list[SharingNode]]:
    front = Front(Settings())
    nodes = [SharingNode(front, name) for name in names]
    for node in nodes:
        await node.start()
    yield nodes
    for node in nodes:
        if not node.served.done():
            await node.end()
    front.close()


async def greeting(port: OpenPort, secure: ssl.SSLContext | None = None) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port.number, ssl=secure)
    try:
        return (await reader.read()).decode()
    finally:
        writer.close()


def test_clients_reach_the_nodes_in_turn() -> None:
    async def scenario() -> None:
        async with sharing("a", "b", "c") as (a, b, c):
            port, same, _ = [await node.listen() for node in (a, b, c)]
            assert port.number == same.number
            found = "".join([await greeting(port) for _ in range(12)])
            assert Counter(found[::2]) == {"a": 2, "b": 2, "c": 2}
            assert found[::2] == found[1::2]  # two that come one after the other are together
            a.ports.opened()
            await a.open.wait()
            await b.end()
            same.close()
            assert Counter([await greeting(port) for _ in range(4)]) == {"a": 2, "c": 2}
            port.close()
            while await greeting(port) != "c":
                pass

    asyncio.run(scenario())


def test_a_node_gets_clients_once_it_is_warm() -> None:
    async def scenario() -> None:
        async with sharing("warm", "cold") as (warm, cold):
            warm.ports.set_avoided(False)
            port, _ = await warm.listen(), await cold.listen()
            assert Counter([await greeting(port) for _ in range(4)]) == {"warm": 4}
            cold.ports.set_avoided(False)
            cold.ports.opened()
            await cold.open.wait()  # the front has read what came before
            assert Counter([await greeting(port) for _ in range(4)]) == {"warm": 2, "cold": 2}

    asyncio.run(scenario())


def test_a_node_that_takes_nothing_gets_few() -> None:
    async def scenario() -> None:
        async with sharing("live", "frozen") as (live, frozen):
            port = await live.listen()
            await frozen.listen()
            asyncio.get_running_loop().remove_reader(frozen.sockets)
            async with asyncio.timeout(PATIENCE):
                greetings = [asyncio.create_task(greeting(port)) for _ in range(100)]
                while sum(task.done() for task in greetings) < 100 - MOST_UNTAKEN:
                    await asyncio.wait(
                        [task for task in greetings if not task.done()],
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                asyncio.get_running_loop().add_reader(frozen.sockets, frozen.ports._take)
                found = Counter(await asyncio.gather(*greetings))
            assert 1 <= found["frozen"] <= MOST_UNTAKEN

    asyncio.run(scenario())


def test_connections_wait_while_no_node_takes_them() -> None:
    async def scenario() -> None:
        async with sharing("a", "b") as (a, b):
            port = await a.listen()
            await a.end()
            early = asyncio.create_task(greeting(port))
            await asyncio.sleep(0)
            assert (await b.listen()).number == port.number
            assert await early == "b"

    asyncio.run(scenario())


def test_a_port_in_use_is_refused() -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            async with sharing("a") as (a,):
                with pytest.raises(BadSetting, match=r"^port: cannot listen on 127\.0\.0\.1:\d+: "):
                    await a.listen(taken.getsockname()[1])

    asyncio.run(scenario())


def test_tls(tmp_path: Path) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=here",
    ]
    subprocess.run(
        [*make, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )

    async def scenario() -> None:
        secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        secure.load_cert_chain(cert, key)
        async with sharing("a") as (a,):
            port = await a.listen(secure=secure)
            _, writer = await asyncio.open_connection("127.0.0.1", port.number)
            writer.write(b"this is not TLS\r\n")
            writer.close()
            assert await greeting(port, ssl.create_default_context(cafile=cert)) == "a"

    asyncio.run(scenario())


def test_a_node_stops_when_the_front_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        stopped: asyncio.Future[tuple[int, int]] = asyncio.get_running_loop().create_future()
        monkeypatch.setattr(shared_ports.os, "kill", lambda *which: stopped.set_result(which))  # type: ignore[attr-defined]
        control, its_control = socket.socketpair()
        sockets, its_sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        ports = SharedPorts(its_control, its_sockets)
        await ports.open()
        control.close()
        assert await stopped == (os.getpid(), signal.SIGTERM)
        ports.close()
        sockets.close()

    asyncio.run(scenario())
