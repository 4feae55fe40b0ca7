"""Servers that join a cluster, and settings with which they cannot."""

import asyncio
import signal
import sys
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import httpx
import pytest

from botdrome.api import probes
from botdrome.cli.terminal import REFUSED
from botdrome.server.network.listening import unless
from botdrome.server.nodes import joining
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.joining import JoinedNode, once_reached
from botdrome.server.nodes.links import NatsRefused, NatsUnavailable
from botdrome.server.settings import BadSetting
from botdrome.store.entries import StoreUnavailable, Wanted
from botdrome.store.store import open_store
from tests.patience import until
from tests.server.clients import bot, deaf_port, pair, registered, server
from tests.server.nodes.joining import Member
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio


def away(cause: Exception) -> StoreUnavailable:
    problem = StoreUnavailable(str(cause))
    problem.__cause__ = cause
    return problem


async def test_servers_join_and_leave(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2) as (ant, bee):
        assert ant.node.cluster is not None and bee.node.cluster is not None
        urls = {node.name: node.url for node in ant.node.cluster.members.nodes.values()}
        assert urls == {"ant": ant.url, "bee": bee.url}
        clusters = ant.node.cluster, bee.node.cluster
        await until(lambda: [one.has_rooms("gomoku") for one in clusters].count(True) == 1)
        async with bot(ant, await registered(ant, "ada")):
            await bee.node.cluster.members._beat()
            loads = {node.name: node.load for node in bee.node.cluster.members.nodes.values()}
            assert set(loads["ant"]) == {"tables", "connections", "waiting", "cpu", "seconds"}


async def test_a_match_has_its_node(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 1) as (ant,), pair(ant):
        assert [match.node for match in await ant.arena.store.matches(Wanted())] == ["ant.1"]


async def test_a_process_that_was_stopped_too_long_ends_when_it_goes_on(
    postgres_url: str, nats_url: str
) -> None:
    async with nodes(postgres_url, nats_url, 1) as (ant,):
        assert isinstance(ant.node, JoinedNode)
        members, changed = ant.node.members, asyncio.Event()
        members.on_change.append(changed.set)
        flags = ["--db", postgres_url, "--nats", nats_url, "--cluster-name", "bee", "--port", "0"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "botdrome", "serve", *flags, stderr=asyncio.subprocess.PIPE
        )
        while all(node.draining or node.name != "bee" for node in members.nodes.values()):
            changed.clear()
            await changed.wait()
        process.send_signal(signal.SIGSTOP)
        await Member(ant.arena.store, members).lose_patience("bee.2")
        while len(members.nodes) > 1:
            changed.clear()
            await changed.wait()
        process.send_signal(signal.SIGCONT)
        _, words = await process.communicate()
        assert (
            process.returncode == REFUSED
            and "bee.2 was declared dead by another node" in words.decode()
        )


async def test_files_have_no_nodes(tmp_path: Path, nats_url: str) -> None:
    with pytest.raises(BadSetting, match=r"nats: nodes need a PostgreSQL .* db is sqlite:///"):
        async with server(tmp_path, nats=nats_url):
            pass


async def test_a_nats_that_is_not_there(postgres_url: str) -> None:
    with deaf_port() as port, pytest.raises(BadSetting, match=f"127.0.0.1:{port}"):
        async with server(
            Path(), db=postgres_url, nats=f"nats://127.0.0.1:{port}", cluster_wait=0.0
        ):
            pass


async def test_a_node_waits_for_nats_at_its_start_and_is_not_ready_without_it(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "KEPT_FOR", 0.0)
    engine, may_come, missed = NatsEngine(tmp_path), joining._may_come, asyncio.Event()

    def noted(problem: NatsUnavailable | StoreUnavailable) -> bool:
        missed.set()
        return may_come(problem)

    monkeypatch.setattr(joining, "_may_come", noted)
    engine.start()
    engine.stop()

    async def start_late() -> None:
        await missed.wait()
        await asyncio.to_thread(engine.start)

    starting = asyncio.create_task(start_late())
    async with (
        nodes(postgres_url, engine.url, 1, cluster_wait=3600.0) as (ant,),
        httpx.AsyncClient(base_url=ant.url) as http,
    ):
        await starting
        assert (await http.get("/readyz")).text == "ready\n"
        assert isinstance(ant.node, JoinedNode)
        links = ant.node.links
        engine.stop()
        await until(lambda: not links.connected)
        answer = await http.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "NATS cannot be reached\n")


@pytest.mark.parametrize(
    ("problem", "attempts"),
    [
        (NatsUnavailable("nobody is there"), 3),
        (NatsRefused("wrong password"), 1),
        (away(ConnectionRefusedError("nobody is there")), 3),
        (away(asyncpg.CannotConnectNowError("starting up")), 3),
        (away(asyncpg.InvalidPasswordError("wrong password")), 1),
    ],
)
async def test_what_may_come_is_tried_again(
    problem: Exception, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "SOONEST", 0.0)
    tried = 0

    async def attempt() -> str:
        nonlocal tried
        tried += 1
        if tried < 3:
            raise problem
        return "there"

    if attempts == 1:
        with pytest.raises(type(problem)):
            await once_reached(attempt, 3600.0)
    else:
        assert await once_reached(attempt, 3600.0) == "there"
    assert tried == attempts


async def test_waiting_ends_when_the_time_is_up() -> None:
    with deaf_port() as port, pytest.raises(StoreUnavailable):
        await once_reached(lambda: open_store(f"postgresql://127.0.0.1:{port}/none"), 0.0)


async def test_a_node_that_waits_can_be_stopped() -> None:
    waits = asyncio.Event()

    async def never() -> bool:
        waits.set()
        return await asyncio.Event().wait()

    stop = asyncio.Event()
    waiting = asyncio.ensure_future(unless(stop, never()))
    await waits.wait()
    stop.set()
    assert await waiting is None


async def test_a_name_that_is_taken(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 1):
        with pytest.raises(BadSetting, match="cluster: a node with the name ant lives already"):
            async with nodes(postgres_url, nats_url, 1):
                pass
