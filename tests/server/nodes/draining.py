"""Nodes that are drained, and a match that moves."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.catalogue import restored
from botdrome.match.record import verify
from botdrome.server.nodes.joining import JoinedNode
from botdrome.server.nodes.moving import Handover
from tests.patience import until
from tests.server.clients import Client, bot, registered, unhurried
from tests.server.nodes.serving import nodes

GAME = "noughts-and-crosses"
SPACES = [[0, 0], [1, 1], [0, 1], [2, 2], [0, 2]]
"""The moves of a match that the first player wins."""


@pytest.fixture(params=["handed over", "piped"])
async def three(
    request: pytest.FixtureRequest,
    postgres_url: str,
    nats_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[list[RunningServer]]:
    """Three nodes, on one machine or, as far as they know, on three."""
    if request.param == "piped":
        monkeypatch.setattr(Handover, "open", lambda _: "")
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 3) as opened:
            yield opened


@pytest.fixture
async def two(postgres_url: str, nats_url: str) -> AsyncIterator[list[RunningServer]]:
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2) as opened:
            yield opened


@pytest.fixture
async def two_machines(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[list[RunningServer]]:
    """Two nodes that cannot hand over sockets."""
    monkeypatch.setattr(Handover, "open", lambda _: "")
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2) as opened:
            yield opened


def of(one: RunningServer) -> JoinedNode:
    assert isinstance(one.node, JoinedNode)
    return one.node


async def drain(one: RunningServer, draining: bool = True) -> None:
    members = of(one).members
    await members.drain(members.here.name, draining)
    await members._beat()


def home(house: list[RunningServer]) -> RunningServer:
    """The node that has the only table."""
    (one,) = [one for one in house if one.desk.tables.count()]
    return one


async def move_match(house: list[RunningServer]) -> None:
    """Drain the node of the match until the match is at another one."""
    before = home(house)
    await drain(before)
    await until(
        lambda: not before.desk.tables.count() and any(one.desk.tables.count() for one in house)
    )
    await drain(before, False)
    for one in house:
        await of(one).members._beat()


class Chatter:
    """A match of ada, who begins or not, against bob, that has begun."""

    def __init__(
        self,
        house: list[RunningServer],
        players: dict[str, Client],
        logins: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.house, self.players, self.logins = house, players, logins
        self.id = next(live.id for one in house for live in one.desk.tables.live())

    async def finish(self) -> None:
        """Play to the end; the match must be at one node, and be stored once."""
        entry = await self.house[0].arena.store.match(self.id)
        assert (
            entry is not None
            and sum(one.desk.tables[self.id] is not None for one in self.house) == 1
        )
        for number, space in enumerate(SPACES):
            await self.players[entry.players[number % 2]].send(
                {"mark": "XO"[number % 2], "space": space}
            )
            states = [(await one.receive())["state"] for one in self.players.values()]
            assert (
                states[0] == states[1]
                and states[0]["board"][space[0]][space[1]] == "XO"[number % 2]
            )
        assert states[0]["result"]["victor"] == entry.players[0]
        entry = await self.house[0].arena.store.match(self.id)
        assert entry is not None and entry.status == "ended"
        record = await self.house[0].arena.store.record(self.id)
        assert record is not None
        verify(*restored(record))


@asynccontextmanager
async def chatting(house: list[RunningServer], **extra: Any) -> AsyncIterator[Chatter]:
    ada, bob = [await registered(house[0], name) | extra for name in ("ada", "bob")]
    async with bot(house[0], ada) as one, bot(house[1], bob) as two:
        for each in (one, two):
            await each.receive()
        yield Chatter(house, {"ada": one, "bob": two}, (ada, bob))
