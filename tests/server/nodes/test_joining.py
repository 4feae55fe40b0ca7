"""Servers that join a cluster, and settings with which they cannot."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from botdrome.cli.terminal import REFUSED
from botdrome.server.settings import BadSetting
from botdrome.store.store import Wanted
from tests.server.clients import bot, deaf_port, pair, registered, server
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio


async def test_servers_join_and_leave(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2) as (ant, bee):
        assert ant.desk.cluster is not None and bee.desk.cluster is not None
        urls = {node.name: node.url for node in ant.desk.cluster.members.nodes.values()}
        assert urls == {"ant": ant.url, "bee": bee.url}
        assert [one.desk.cluster.has_rooms("gomoku") for one in (ant, bee) if one.desk.cluster].count(True) == 1
        async with bot(ant, await registered(ant, "ada")):
            await bee.desk.cluster.members._beat()  # type: ignore[attr-defined]
            loads = {node.name: node.load for node in bee.desk.cluster.members.nodes.values()}
            assert set(loads["ant"]) == {"tables", "connections", "waiting", "cpu", "seconds"}


async def test_a_match_has_its_node(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 1) as (ant,), pair(ant):
        assert [match.node for match in await ant.arena.store.matches(Wanted())] == ["ant.1"]


async def test_a_process_that_was_stopped_too_long_ends_when_it_goes_on(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 1) as (ant,):
        assert ant.desk.cluster is not None
        members, changed = ant.desk.cluster.members, asyncio.Event()
        members.on_change.append(changed.set)
        flags = ["--db", postgres_url, "--nats", nats_url, "--cluster-name", "bee", "--port", "0"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "botdrome", "serve", *flags, stderr=asyncio.subprocess.PIPE
        )
        while all(node.draining or node.name != "bee" for node in members.nodes.values()):
            changed.clear()
            await changed.wait()
        process.send_signal(signal.SIGSTOP)
        while len(members.nodes) > 1:
            changed.clear()
            await changed.wait()
        process.send_signal(signal.SIGCONT)
        _, words = await process.communicate()
        assert process.returncode == REFUSED and "bee.2 was declared dead by another node" in words.decode()


async def test_files_have_no_nodes(tmp_path: Path, nats_url: str) -> None:
    with pytest.raises(BadSetting, match=r"nats: nodes need a PostgreSQL .* db is sqlite:///"):
        async with server(tmp_path, nats=nats_url):
            pass


async def test_a_nats_that_is_not_there(postgres_url: str) -> None:
    with deaf_port() as port, pytest.raises(BadSetting, match=f"127.0.0.1:{port}"):
        async with server(Path(), db=postgres_url, nats=f"nats://127.0.0.1:{port}"):
            pass


async def test_a_name_that_is_taken(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 1):
        with pytest.raises(BadSetting, match="cluster: a node with the name ant lives already"):
            async with nodes(postgres_url, nats_url, 1):
                pass
