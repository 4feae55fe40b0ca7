"""Sockets that are passed between processes: what happens when they cannot be, and what goes with
them.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from botdrome.server.network.peer import Origin, Shares
from botdrome.server.nodes.cluster import Node
from botdrome.server.nodes.moving import CannotPass, Handover
from botdrome.server.nodes.pipes import Header, encode
from botdrome.server.session import Transfer
from botdrome.wire.framing.streams import SIGNATURE
from tests.patience import PATIENCE, until
from tests.server.nodes.test_moving import stream
from tests.server.nodes.travellers import TravelNode, travel_nodes

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="it passes no sockets"),
]
PARCEL = Header(Transfer("lines"), Origin("192.0.2.1", 1, False))
JOURNEY = b"ada\ngo b.1\nwhere\n"
PROXY_HEADER = SIGNATURE + b"\x21\x11\x00\x0c" + bytes((192, 0, 2, 7, 127, 0, 0, 1, 0, 5, 0, 6))
TOLD = b"who are you?\nwelcome ada\nb.1\n"


@asynccontextmanager
async def connected(node: TravelNode, journey: bytes) -> AsyncIterator[None]:
    """A client at the end of its journey."""
    reader, writer = await asyncio.open_connection("127.0.0.1", node.ports["lines"])
    writer.write(journey)
    assert await asyncio.wait_for(reader.readexactly(len(TOLD)), PATIENCE) == TOLD
    yield
    writer.close()


async def test_a_full_queue_is_told_and_emptied_later() -> None:
    taken: list[socket.socket] = []
    port, front = Handover(lambda client, _: taken.append(client)), Handover(lambda *_: None)
    path = port.open()
    assert Path(path).parent.stat().st_mode & 0o777 == 0o700
    one, other = socket.socketpair()
    passed = 0
    while front.give(path, one, PARCEL):
        passed += 1
    await until(lambda: len(taken) == passed)
    assert front.give(path, one, PARCEL)
    await until(lambda: len(taken) == passed + 1)
    for each in (one, other, *taken):
        each.close()
    front.close()
    port.close()
    assert not Path(path).exists()


async def test_what_cannot_be_passed_is_said() -> None:
    front = Handover(lambda *_: None)
    with socket.socket() as client:
        with pytest.raises(CannotPass, match="No such file"):
            front.give("/nowhere/handover", client, PARCEL)
        with pytest.raises(CannotPass, match=r"\d+ bytes go with it, at most 60000 can"):
            front.give("/nowhere/handover", client, replace(PARCEL, rest=bytes(60_000)))


async def test_packets_that_are_no_headers_are_passed_over() -> None:
    taken: list[socket.socket] = []
    port = Handover(lambda client, _: taken.append(client))
    path = port.open()
    one, other = socket.socketpair()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(path)
        line.send(encode(PARCEL))
        socket.send_fds(line, [b"no header"], [one.fileno()])
        socket.send_fds(line, [encode(PARCEL)], [one.fileno()])
        await until(lambda: taken)
    for each in (one, other, *taken):
        each.close()
    port.close()


@pytest.mark.parametrize(("full", "piped"), [(3, 0), (99, 1)])
async def test_a_connection_waits_for_the_queue_or_is_piped(
    monkeypatch: pytest.MonkeyPatch, full: int, piped: int
) -> None:
    give, times = Handover.give, iter(range(99))
    monkeypatch.setattr(Handover, "give", lambda *given: next(times) >= full and give(*given))
    async with travel_nodes("a", "b", one_machine=True) as nodes, connected(nodes[0], JOURNEY):
        assert [node.mover.piped for node in nodes] == [piped, piped]


async def test_a_connection_is_piped_where_the_path_leads_nowhere() -> None:
    async with travel_nodes("a", "b", one_machine=True) as nodes:
        handover = nodes[1].mover._handover
        assert handover is not None
        handover.close()
        async with connected(nodes[0], JOURNEY):
            assert [node.mover.piped for node in nodes] == [1, 1]


@pytest.mark.parametrize("one_machine", [False, True])
async def test_the_limits_of_the_receiving_node_apply(one_machine: bool) -> None:
    """A client is counted once."""
    limits = {"limits_connections_per_address": 1}
    async with (
        travel_nodes("a", "b", one_machine=one_machine, **limits) as nodes,
        connected(nodes[0], JOURNEY),
    ):
        await until(lambda: [node.limits._inside for node in nodes] == [0, 1])
        for kind, end in (
            ("lines", b"welcome ada\n"),
            ("websocket", b"\x03\xf5too many connections from your address"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", nodes[0].ports[kind])
            writer.write(stream(kind, [b"ada", b"go b.1"]))
            assert (await asyncio.wait_for(reader.read(), PATIENCE)).endswith(end)
            writer.close()


@pytest.mark.parametrize("one_machine", [False, True])
async def test_the_address_that_a_proxy_reports_goes_along(one_machine: bool) -> None:
    journey, settings = PROXY_HEADER + JOURNEY, {"network_trusted_proxies": "127.0.0.1"}
    async with (
        travel_nodes("a", "b", one_machine=one_machine, **settings) as nodes,
        connected(nodes[0], journey),
    ):
        (session,) = nodes[1].sessions
        assert session.connection.address == "192.0.2.7"


@pytest.mark.parametrize("one_machine", [False, True])
async def test_input_that_waits_for_its_turn_goes_along(
    monkeypatch: pytest.MonkeyPatch, one_machine: bool
) -> None:
    monkeypatch.setattr(Shares, "must_wait", lambda *_: True)
    async with travel_nodes("a", "b", one_machine=one_machine) as nodes:
        reader, writer = await asyncio.open_connection("127.0.0.1", nodes[0].ports["lines"])
        sent, expected = b"ada\n", b"who are you?\nwelcome ada\n"
        for number in range(50):
            sent += b"go %b.1\nword %d\n" % (b"ba"[number % 2 : number % 2 + 1], number)
            expected += b"WORD %d\n" % number
        for at in range(0, len(sent), 5):
            writer.write(sent[at : at + 5])
            await asyncio.sleep(0)
        assert await asyncio.wait_for(reader.readexactly(len(expected)), PATIENCE) == expected
        writer.close()


async def test_another_process_goes_on() -> None:
    """When it is killed, its clients are disconnected."""
    command = sys.executable, "-m", "tests.server.nodes.travellers"
    other = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert other.stdout is not None
    path = (await asyncio.wait_for(other.stdout.readline(), PATIENCE)).decode().strip()
    async with travel_nodes("a", one_machine=True) as (node,):
        node.nodes["b.1"] = Node("b", 1, "", path, "1")
        clients = []
        for kind in ("websocket", "frames", "lines"):
            reader, writer = await asyncio.open_connection("127.0.0.1", node.ports[kind])
            clients.append((reader, writer))
            writer.write(stream(kind, [b"ada", b"go b.1", b"where"]))
            assert b"welcome ada" in await asyncio.wait_for(reader.readuntil(b"b.1"), PATIENCE)
        await until(lambda: not node.limits._inside)
        other.kill()
        await other.wait()
        for reader, writer in clients:
            with suppress(ConnectionError):
                assert len(await asyncio.wait_for(reader.read(), PATIENCE)) <= 1
            writer.close()
