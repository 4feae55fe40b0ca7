"""Whole servers as nodes of one cluster, in one event loop, on a real PostgreSQL and a
real NATS.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.server.nodes import membership
from botdrome.server.nodes.cluster import rooms_of
from botdrome.server.nodes.joining import JoinedNode
from tests.patience import until
from tests.server.clients import server
from tests.server.nodes.joining import join_leniently

NAMES = ("ant", "bee", "cat", "dog", "eel")


@asynccontextmanager
async def node(db: str, nats: str, name: str, **settings: Any) -> AsyncIterator[RunningServer]:
    quick: dict[str, Any] = {"db": db, "nats": nats, "cluster_beat": 0.05, "cluster_death": 1.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(membership, "join", join_leniently)
        async with server(Path(), cluster_name=name, **quick | settings) as one:
            patch.undo()
            yield one


@asynccontextmanager
async def nodes(
    db: str, nats: str, count: int = 3, **settings: Any
) -> AsyncIterator[list[RunningServer]]:
    """Servers that know each other, on free ports. Further settings are as in `clients.server`."""
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(node(db, nats, name, **settings))
            for name in NAMES[:count]
        ]
        for one in opened:
            await one.node.cluster.members._beat()  # type: ignore[union-attr]
        yield opened


def home_of(nodes: list[RunningServer], game: str) -> RunningServer:
    """The node that has the rooms of a game."""
    return next(
        one for one in nodes if one.node.cluster is not None and one.node.cluster.has_rooms(game)
    )


async def spread_out(nodes: list[RunningServer]) -> None:
    """Wait until each game has the home that it should have, its rooms are open there, and the
    node that gave them away knows it.
    """

    def are_open(one: RunningServer) -> bool:
        assert (
            isinstance(one.node, JoinedNode)
            and one.node._forwarder is not None
            and one.node.cluster is not None
        )
        rooms, cluster = one.node._forwarder.rooms, one.node.cluster
        return all(
            (cluster.place(rooms_of(game)).id == cluster.here)
            == rooms[rooms_of(game)].open
            == cluster.has_rooms(game)
            for game in CATALOGUE
        )

    await until(lambda: all(map(are_open, nodes)))
