"""Spectators at a node whose list of the other nodes' matches is old."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from botdrome.app import RunningServer
from botdrome.server.nodes import shared_tables
from botdrome.server.nodes import shared_tables as watching
from botdrome.server.nodes.shared_tables import SharedTables
from tests.server.clients import PATIENCE, bot, client, pair, registered, unhurried
from tests.server.nodes.draining import GAME, SPACES
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio
NEVER = 10_000.0


def tables_of(house: RunningServer) -> SharedTables:
    assert isinstance(house.arena.tables, SharedTables)
    return house.arena.tables


async def listed(both: list[RunningServer]) -> tuple[RunningServer, str]:
    """Have the node of the only match tell the other one of it.

    Return that node, and the id of the match.
    """
    here, there = sorted(both, key=lambda one: not one.desk.tables.count())
    heard = asyncio.Event()
    forget = tables_of(there).on_change(heard.set)
    tables_of(here).beat.soon()
    await heard.wait()
    forget()
    (match,) = tables_of(there).live()
    return there, match.id


@pytest.fixture
async def both(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[list[RunningServer]]:
    monkeypatch.setattr(shared_tables, "INTERVAL", NEVER)
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2) as opened:
            yield opened


@pytest.fixture
async def over_at(both: list[RunningServer]) -> tuple[RunningServer, str]:
    """A node that lists a match which is over at another node, and the id of the match."""
    logins = [await registered(both[0], name) for name in ("ada", "bob")]
    async with bot(both[0], logins[0]) as ada, bot(both[0], logins[1]) as bob:
        marks, _ = [(await one.receive())["state"]["marks"] for one in (ada, bob)]
        there, match = await listed(both)
        for number, space in enumerate(SPACES):
            mark = "XO"[number % 2]
            await (ada if marks[mark] == "ada" else bob).send({"mark": mark, "space": space})
            for one in (ada, bob):
                await one.receive()
    assert [one.id for one in tables_of(there).live()] == [match]
    return there, match


def check(messages: list[dict[str, Any]]) -> None:
    assert messages[0]["snapshot"] and messages[-1]["event"]["event"] == "ended"


async def test_a_match_that_is_over_at_another_node_is_replayed(
    over_at: tuple[RunningServer, str],
) -> None:
    bee, match = over_at
    async with client(bee, f"/watch/{match}") as spectator:
        check((await spectator.until_closed())[0])


async def test_events_and_subscriptions_replay_it_too(over_at: tuple[RunningServer, str]) -> None:
    bee, match = over_at
    async with httpx.AsyncClient(base_url=bee.url, timeout=PATIENCE) as http:
        lines = (await http.get(f"/watch/{match}/events")).text.splitlines()
        check([json.loads(line[6:]) for line in lines if line.startswith('data: {"match')])
    offered: Any = ["graphql-transport-ws"]
    async with connect(
        f"{bee.url.replace('http', 'ws', 1)}/graphql", subprotocols=offered, proxy=None
    ) as socket:
        await socket.send('{"type": "connection_init"}')
        await socket.recv()
        query = f'subscription {{ match(id: "{match}") }}'
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}))
        messages = []
        while (message := json.loads(await socket.recv()))["type"] == "next":
            messages.append(message["payload"]["data"]["match"])
        check(messages)


async def test_a_look_at_a_match_of_another_node_is_no_spectator_there(
    both: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(both[0]):
        (there, match), sent, send = await listed(both), list[str](), SharedTables._send

        def noted(tables: SharedTables, node: str, message: watching.WatchMessage) -> None:
            sent.append(type(message).__name__)
            send(tables, node, message)

        monkeypatch.setattr(SharedTables, "_send", noted)
        async with client(there, f"/watch/{match}") as spectator:
            assert (await spectator.receive())["snapshot"]
        assert sent.count("Watch") == 1
