"""Connections that move between nodes: their clients notice nothing."""

import asyncio
import struct
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

import pytest

from botdrome.server.network.peer import Peer
from tests.patience import until
from tests.server.clients import PATIENCE
from tests.server.nodes.travellers import TravelNode, travel_nodes

pytestmark = pytest.mark.anyio

HEAD = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
JOURNEY = [
    b"ada",
    b"one",
    b"go b.1",
    b"two",
    b"three",
    b"go c.1",
    b"four",
    b"go a.1",
    b"five",
    b"go b.1",
    b"go c.1",
    b"six",
    b"bye",
]
PONG = b"\x8a\x01!"
MASK = b"\x01\x02\x03\x04"


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


@pytest.fixture(params=[False, True], ids=["piped", "handed over"])
def one_machine(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def websocket_frame(message: bytes, first: int = 0x81) -> bytes:
    masked = bytes(byte ^ MASK[at % 4] for at, byte in enumerate(message))
    length = (
        bytes([0x80 | len(message)])
        if len(message) < 126
        else b"\xfe" + struct.pack("!H", len(message))
    )
    return bytes([first]) + length + MASK + masked


def in_parts(message: bytes) -> bytes:
    """A WebSocket message in three frames, with a ping between them."""
    return (
        websocket_frame(message[:1], 0x01)
        + websocket_frame(message[1:2], 0)
        + websocket_frame(b"!", 0x89)
        + websocket_frame(message[2:], 0x80)
    )


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "websocket": websocket_frame,
    "websocket in parts": in_parts,
    "frames": lambda message: struct.pack("!I", len(message)) + message,
    "lines": lambda message: message + b"\n",
}
KINDS = list(ENCODINGS)


def stream(kind: str, messages: Iterable[bytes]) -> bytes:
    return (HEAD if kind.startswith("websocket") else b"") + b"".join(
        map(ENCODINGS[kind], messages)
    )


async def connected(
    node: TravelNode, kind: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", node.ports[kind.partition(" ")[0]])


async def told(node: TravelNode, kind: str, pieces: Iterable[bytes], end: bool = False) -> bytes:
    """All that a client is told that sends these pieces, each of which is read before the next
    comes, as far as that can be.
    """
    reader, writer = await connected(node, kind)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    if end:
        writer.write_eof()
    found = b""
    async with asyncio.timeout(PATIENCE):
        while (piece := await reader.read(65536)) and b"\x88" not in (found := found + piece):
            pass
    writer.close()
    assert found.count(PONG) == (len(JOURNEY) if "parts" in kind else 0)
    return found.replace(PONG, b"")


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_a_client_is_told_the_same(kind: str, size: int, one_machine: bool) -> None:
    async with travel_nodes("alone") as (alone,):
        expected = await told(alone, kind, [stream(kind, JOURNEY)])
    assert expected.count(b"welcome ada") == 1 and b"SIX" in expected and b"farewell" in expected
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        assert await told(nodes[0], kind, cut(stream(kind, JOURNEY), size)) == expected
        assert [len(node.sessions) for node in nodes] == [2, 2, 2]
        await until(lambda: not any(node.mover.piped for node in nodes))
        assert [bool(node.pipes) for node in nodes] == [False, *[not one_machine] * 2]


async def read_until(reader: asyncio.StreamReader, end: bytes) -> bytes:
    async with asyncio.timeout(PATIENCE):
        return await reader.readuntil(end)


@pytest.mark.parametrize("kind", ["frames", "lines"])
async def test_the_session_answers_eof(kind: str, one_machine: bool) -> None:
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        found = await told(
            nodes[0], kind, [stream(kind, [b"ada", b"go b.1", b"go c.1", b"one"])], end=True
        )
        assert found.endswith(stream(kind, [b"welcome ada", b"ONE", b"you said all"]))


@pytest.mark.parametrize("travel", [[b"go b.1"], [b"go b.1", b"go c.1"], [b"go b.1", b"go a.1"]])
async def test_the_session_answers_invalid_input(travel: list[bytes], one_machine: bool) -> None:
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        found = await told(
            nodes[0], "frames", [stream("frames", [b"ada", *travel, b"one"]) + bytes(4)]
        )
        assert found.endswith(stream("frames", [b"ONE", b"unreadable"]))


@pytest.mark.parametrize("kind", ["websocket", "frames", "lines"])
async def test_a_client_leaves_on_the_way(kind: str, one_machine: bool) -> None:
    """No session and no pipe is left."""
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        reader, writer = await connected(nodes[0], kind)
        writer.write(stream(kind, [b"ada", b"go b.1", b"where"]))
        await read_until(reader, b"b.1")
        writer.write(ENCODINGS[kind](b"go c.1"))
        writer.transport.abort()
        await until(lambda: not any(node.mover.piped for node in nodes))
        await until(lambda: all(session.closed for node in nodes for session in node.sessions))


async def test_a_client_that_breaks_the_protocol_is_lost_and_told_why() -> None:
    async with travel_nodes("a", "b") as nodes:
        reader, writer = await connected(nodes[0], "websocket")
        writer.write(stream("websocket", [b"ada", b"go b.1", b"where"]))
        await read_until(reader, b"b.1")
        writer.write(websocket_frame(b"", 0x83))
        assert b"a frame cannot begin with 0x83" in await read_until(reader, b"0x83")
        await until(lambda: nodes[1].lost)
        writer.close()


async def test_a_failing_session_ends_its_connection_alone() -> None:
    async with travel_nodes("a", "b") as nodes:
        one, other = [await connected(nodes[0], "lines") for _ in "ab"]
        for _, writer in (one, other):
            writer.write(b"ada\ngo b.1\n")
        one[1].write(b"fail\n")
        assert (await one[0].read()).endswith(b"welcome ada\n")
        other[1].write(b"where\n")
        await read_until(other[0], b"b.1\n")
        for _, writer in (one, other):
            writer.close()


async def test_a_client_that_reads_too_slowly_is_dropped() -> None:
    async with travel_nodes("a", "b") as nodes:
        _reader, writer = await asyncio.open_connection(
            "127.0.0.1", nodes[0].ports["lines"], limit=1
        )
        writer.write(b"ada\ngo b.1\n" + b"flood\n" * 20)
        await until(lambda: nodes[1].lost)
        writer.close()


@pytest.mark.parametrize("kind", ["websocket", "lines"])
async def test_a_lost_pipe_ends_the_connection_on_both_sides(kind: str) -> None:
    async with travel_nodes("a", "b") as nodes:
        reader, writer = await connected(nodes[0], kind)
        writer.write(stream(kind, [b"ada", b"go b.1", b"where"]))
        await read_until(reader, b"b.1")
        (front,) = nodes[0].mover.fronts
        assert front.pipe is not None
        front.pipe.transport.abort()
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), PATIENCE)
        await until(lambda: len(nodes[1].lost) == 1)
        await until(lambda: not any(node.mover.piped for node in nodes))
        writer.close()


@pytest.mark.parametrize("dead", ["a.1", "b.1"])
async def test_the_death_of_a_node_ends_its_pipes(dead: str) -> None:
    """Even if its machine is lost, so that the connection does not end."""
    async with travel_nodes("a", "b") as nodes:
        reader, writer = await connected(nodes[0], "lines")
        writer.write(b"ada\ngo b.1\nwhere\n")
        await read_until(reader, b"b.1")
        (other,) = [node for node in nodes if node.id != dead]
        del other.nodes[dead]
        for tell in other.members.on_change:
            tell()
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), PATIENCE)
        await until(lambda: len(nodes[1].lost) == 1)
        await until(lambda: not any(node.mover.piped for node in nodes))
        writer.close()


async def test_a_client_stays_if_its_node_cannot_be_reached(one_machine: bool) -> None:
    async with travel_nodes("a", "b", one_machine=one_machine) as nodes:
        nodes[1].mover.close()
        found = await told(nodes[0], "lines", [b"ada\ngo b.1\nwhere\nbye\n"])
        assert found == b"who are you?\nwelcome ada\na.1\nfarewell\n"


async def test_a_connection_of_an_unknown_protocol_is_refused() -> None:
    async with travel_nodes("a", "b") as nodes:
        nodes[1].mover.arrivals.clear()
        found = await told(nodes[0], "websocket", [stream("websocket", [b"ada", b"go b.1"])])
        assert found.endswith(b"welcome ada")


@pytest.mark.parametrize("kind", ["websocket", "frames", "lines"])
async def test_a_node_moves_a_client_as_soon_as_it_connects(kind: str, one_machine: bool) -> None:
    async with travel_nodes("alone") as (alone,):
        expected = await told(alone, kind, [stream(kind, [b"ada", b"one", b"bye"])])
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        nodes[0].sends_to, nodes[1].sends_to = "b.1", "c.1"
        assert await told(nodes[0], kind, [stream(kind, [b"ada", b"one", b"bye"])]) == expected


async def test_messages_that_are_delivered_again_go_to_the_next_session(one_machine: bool) -> None:
    async with travel_nodes("a", "b", "c", one_machine=one_machine) as nodes:
        for to in ("b.1", "c.1", "a.1"):
            sent = [b"ada", b"again " + to.encode(), b"where", b"bye"]
            found = [b"who are you?", b"welcome ada", b"FIRST", b"SECOND", to.encode(), b"farewell"]
            assert await told(nodes[0], "lines", [stream("lines", sent)]) == stream("lines", found)


async def test_a_connection_is_piped_while_it_has_unsent_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Peer, "get_write_buffer_size", lambda _: 1)
    async with travel_nodes("a", "b", one_machine=True) as nodes:
        found = await told(nodes[0], "lines", [b"ada\n", b"go b.1\n", b"wh", b"ere\nbye\n"])
        assert found.endswith(b"b.1\nfarewell\n") and nodes[1].pipes
