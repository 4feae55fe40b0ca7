"""The server behind a real HAProxy with the configuration in `deploy/`."""

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.clients import PATIENCE, server

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed"),
]

SHIPPED = Path(__file__).parents[3] / "deploy" / "haproxy.cfg"
PROXY, CLIENT = "127.0.0.1", "127.0.0.2"
FORGED = b"X-Forwarded-For: 203.0.113.7\r\n"


def configuration(node: int, listening: int) -> str:
    """The HTTP part of the file, for one node at this port; the socket of its port is inherited."""
    text = SHIPPED.read_text().partition("# Duel arena.")[0].replace(" resolvers system", "")
    for this, that in (
        ("bind :80", f"bind fd@{listening}"),
        ("maxconn 100000", "maxconn 100"),
        ("ant.example.org:3000", f"{PROXY}:{node}"),
    ):
        assert this in text, "the test has to follow the file"
        text = text.replace(this, that)
    foreign = ("stats socket", "resolvers system", "parse-resolv-conf", "server bee", "server cat")
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.strip().startswith(foreign)
    )


@asynccontextmanager
async def haproxy(node: int, folder: Path) -> AsyncIterator[int]:
    """The port of a balancer before this node."""
    with socket.create_server((PROXY, 0)) as listening:
        file = folder / "haproxy.cfg"
        file.write_text(configuration(node, listening.fileno()))
        process = await asyncio.create_subprocess_exec(
            "haproxy", "-db", "-f", str(file), pass_fds=[listening.fileno()]
        )
        try:
            yield listening.getsockname()[1]
        finally:
            process.kill()
            await process.wait()


async def asked(port: int, request: bytes, address: str) -> bytes:
    """The body of the answer."""
    reader, writer = await asyncio.open_connection(PROXY, port, local_addr=(address, 0))
    writer.write(request)
    told = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    return told.partition(b"\r\n\r\n")[2]


def registration(fields: bytes = b"", trailers: bytes = b"") -> bytes:
    head = (
        b"POST /bomber/rest/register/ann HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Transfer-Encoding: chunked\r\n"
    )
    return head + fields + b"\r\n2\r\n{}\r\n0\r\n" + trailers + b"\r\n"


async def test_a_client_cannot_forge_its_address(tmp_path: Path) -> None:
    """A Bomberman user without a password is known by its address."""
    async with (
        server(tmp_path, network_trusted_proxies=PROXY) as house,
        haproxy(house.port, tmp_path) as port,
    ):
        ann = json.loads(await asked(house.port, registration(FORGED), PROXY))
        for attempt in (
            registration(),
            registration(FORGED),
            registration(trailers=FORGED),
            registration(FORGED, FORGED),
        ):
            told = json.loads(await asked(port, attempt, CLIENT))
            assert told.get("user_id") != ann["user_id"], told
