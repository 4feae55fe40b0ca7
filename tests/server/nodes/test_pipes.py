"""Pipes between two nodes: who may open one, and what each end knows of the client."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from botdrome.protocols import load_settings
from botdrome.server.network.connection import is_local, tcp_round_trip, unread_for
from botdrome.server.network.peer import Origin
from botdrome.server.nodes import moving, pipes
from botdrome.server.nodes.moving import FrontConnection
from botdrome.server.nodes.pipes import UNKNOWN, Header, Opening, Pipe, PipedTransport, PipePort
from botdrome.server.session import Transfer
from botdrome.wire.pipe import (
    DATA,
    HELLO,
    NETWORK,
    OPEN,
    PROOF,
    SECONDS,
    STOPS,
    VERSION,
    PipeDelay,
    PipeReader,
    frame,
    proof,
)
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.anyio
HEADER = Header(Transfer("lines"), Origin("192.0.2.1", 7, False), rest=b"rest")


class Taken(asyncio.Protocol):
    """The protocol of a client that came through a pipe."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.lost = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


@asynccontextmanager
async def opened(
    secret: str, taken: Callable[[PipedTransport, Header], None], **settings: Any
) -> AsyncIterator[tuple[PipePort, str]]:
    port = PipePort("b.1", secret, taken)
    yield port, await port.open(load_settings({"port": 0} | settings))
    port.close()


def refuse(*_: object) -> None:
    raise AssertionError("nothing should arrive")


async def test_a_node_of_another_cluster_is_refused() -> None:
    async with opened("ours", refuse) as (port, address):
        with pytest.raises(ConnectionError):
            await PipePort("a.1", "theirs", refuse).dial(address)
        assert not port.piped


@pytest.mark.parametrize("said", ["nothing", "a request", "a wrong proof", "our own proof"])
async def test_a_stranger_is_disconnected(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not learn the secret, and cannot use the node's own proof."""
    if said == "nothing":
        monkeypatch.setattr(pipes, "PATIENCE", 0.0)
    async with opened("ours", refuse) as (port, address):
        host, _, number = address.partition("#")[0].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(number))
        if said == "a request":
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
        elif said != "nothing":
            writer.write(bytes([VERSION]) + bytes(HELLO - 1))
            answer = await asyncio.wait_for(reader.readexactly(HELLO + PROOF), PATIENCE)
            assert answer[HELLO:] == proof(b"ours", b"home", bytes(HELLO - 1), answer[1:HELLO])
            writer.write(bytes(PROOF) if said == "a wrong proof" else answer[HELLO:])
            writer.write(frame(OPEN, b"anything"))
        with suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        writer.close()
        await until(lambda: port._unproven == 0)


async def test_strangers_do_not_keep_nodes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "UNPROVEN", 1)
    async with opened("ours", refuse) as (port, address):
        host, _, number = address.partition("#")[0].rpartition(":")
        one, other = [await asyncio.open_connection(host, int(number)) for _ in "ab"]
        assert await asyncio.wait_for(other[0].read(), PATIENCE) == b""
        for _, writer in (one, other):
            writer.close()
        await until(lambda: port._unproven == 0)
        pipe = await PipePort("a.1", "ours", refuse).dial(address)
        pipe.transport.abort()
        await until(lambda: port._unproven == 0)


async def test_the_certificate_of_a_node_is_pinned(tmp_path: Path) -> None:
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
        "/CN=any",
    ]
    await asyncio.to_thread(
        subprocess.run, [*make, "-keyout", key, "-out", cert], check=True, capture_output=True
    )
    taken, front = asyncio.Queue[Header](), PipePort("a.1", "ours", refuse)

    def take(piped: PipedTransport, header: Header) -> None:
        piped.begin(Taken)
        taken.put_nowait(header)

    async with opened("ours", take, tls_cert=cert, tls_key=key) as (port, address):
        place, _, pin = address.partition("#")
        with pytest.raises(ConnectionError, match="its certificate is not that of the node"):
            await front.dial(f"{place}#{pin[::-1]}")
        assert not port.piped
        pipe = await front.dial(address)
        pipe.send(OPEN, front.opening(0.0, HEADER))
        assert await asyncio.wait_for(taken.get(), PATIENCE) == HEADER
        pipe.transport.abort()
        await until(lambda: not port.piped)


class Memory(asyncio.Transport):
    """A transport that only notes what is written. Its client is 40 ms away."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.extra = b"", dict[str, Any](peername=("192.0.2.1", 7))
        self.reading, self.closed = True, False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.extra.get(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def is_reading(self) -> bool:
        return self.reading

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def close(self) -> None:
        self.closed = True

    abort = close

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def frames(self) -> list[tuple[int, bytes]]:
        found, self.written = PipeReader().feed(self.written), b""
        return list(found)


class Ways:
    """What a front needs of its mover."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe, self.late, self.fronts = pipe, False, set[FrontConnection]()

    def behind(self) -> bool:
        return self.late

    def depart(self, _: FrontConnection) -> None:
        return None

    async def dial(self, _: str) -> Pipe:
        return self.pipe

    def opening(self, network: float, header: Header) -> bytes:
        return pipes.encode(Opening("a.1", network, header))


def memory_pipe() -> tuple[Pipe, Memory]:
    pipe, transport = Pipe(b"", None), Memory()
    pipe.transport = transport
    return pipe, transport


async def test_the_front_sends_when_input_came_and_the_network_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, network = [100.0], [0.04]
    monkeypatch.setattr(moving, "monotonic", lambda: now[0])
    monkeypatch.setattr(moving, "tcp_round_trip", lambda _: network[0])
    monkeypatch.setattr(moving, "unread_for", lambda _: 0.5)
    (pipe, line), client = memory_pipe(), Memory()
    ways = Ways(pipe)
    front = FrontConnection(cast(Any, ways), client, HEADER, "b.1")
    front.data_received(b" and more")
    front.go()
    assert not client.reading
    await until(lambda: front.pipe is not None)
    assert client.reading
    ((kind, body),) = line.frames()
    opening = pipes._opening(body)
    assert (kind, opening.network, opening.header.rest) == (OPEN, 0.04, b"rest and more")
    front.data_received(b"one")
    now[0], network[0] = 102.0, 0.05
    front.data_received(b"two")
    ways.late = True
    front.data_received(b"three")
    front.stop()
    assert line.frames() == [
        (DATA, SECONDS.pack(100.0) + b"one"),
        (NETWORK, SECONDS.pack(0.05)),
        (DATA, SECONDS.pack(102.0) + b"two"),
        (DATA, SECONDS.pack(101.5) + b"three"),
        (STOPS, b""),
    ]


async def test_each_side_stops_reading_while_the_other_is_full() -> None:
    (pipe, line), client = memory_pipe(), Memory()
    front = FrontConnection(cast(Any, Ways(pipe)), client, HEADER, "b.1")
    front.go()
    await until(lambda: front.pipe is not None)
    pipe.pause_writing()
    assert (client.reading, line.reading) == (False, True)
    pipe.resume_writing()
    front.pause_writing()
    assert (client.reading, line.reading) == (True, False)
    front.resume_writing()
    assert (client.reading, line.reading) == (True, True)


async def test_the_session_knows_the_way_of_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the nodes are 150 ms, which are network time. Only what is late beyond them counts as
    a delay of the arena.
    """
    now = [1000.0]
    monkeypatch.setattr(pipes, "monotonic", lambda: now[0])
    monkeypatch.setattr(pipes, "tcp_round_trip", lambda _: 0.3)
    (pipe, _), delay, seen = memory_pipe(), PipeDelay(), list[float]()
    piped = PipedTransport(pipe, Opening("a.1", 0.04, HEADER), delay, lambda: None)
    pipe.user, taken = piped, Taken()
    piped.begin(lambda: taken)
    assert not is_local(piped, "127.0.0.1")
    assert tcp_round_trip(piped) == pytest.approx(0.34)
    for sent, came in ((10.0, 1000.15), (11.0, 1001.15), (12.0, 1002.35)):
        now[0] = came
        piped.pipe_frame(DATA, SECONDS.pack(sent) + b"move")
        seen.append(unread_for(piped))
    now[0] += 0.1  # it was held here
    seen.append(unread_for(piped))
    assert seen == pytest.approx([0.0, 0.0, 0.2, 0.3])
    piped.pipe_frame(NETWORK, SECONDS.pack(UNKNOWN))
    assert tcp_round_trip(piped) is None and taken.heard == [b"move"] * 3
