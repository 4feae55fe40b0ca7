"""Nodes without a server around them, and ways to lose them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from botdrome.server.nodes import membership
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.membership import Membership
from botdrome.server.settings import ClusterSection
from botdrome.store.store import Store, open_store
from tests.patience import until

QUICK = ClusterSection(beat=0.02, death=0.5)
LENIENT = 60.0
"""Seconds after which a silent node is dead: on a busy machine a live one may be silent for
seconds.
"""


class Member:
    """A store and the node that writes to it."""

    def __init__(self, store: Store, members: Membership) -> None:
        self.store, self.members = store, members

    @property
    def id(self) -> str:
        return self.members.here.id

    async def freeze(self) -> None:
        """Stop all its work, as when its process is stopped. It keeps its lock."""
        members = self.members
        tasks = [*members._tasks, *filter(None, [members._watching])]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    async def kill(self) -> None:
        await self.freeze()
        self.members._rows.close()

    async def until_beaten(self) -> None:
        """Wait until a beat has gone through that began later than now."""
        count = 0
        while count < 2:
            before = self.members._beaten
            await until(lambda: self.members._beaten != before)
            count += 1

    async def lose_patience(self, frozen: NodeId) -> None:
        """Let a frozen node have been silent for as long as it takes to be dead."""
        await self.until_beaten()  # it has read the last beat of that node
        if pulse := self.members._pulses.get(frozen):
            pulse.still = LENIENT

    async def sees(self, *nodes: str) -> None:
        """Wait until it knows these nodes, and no other."""
        await self.until(lambda: self.members.nodes.keys() == set(nodes))

    async def until(self, true: Callable[[], bool]) -> None:
        changed = asyncio.Event()
        self.members.on_change.append(changed.set)
        while not true():
            changed.clear()
            await changed.wait()
        self.members.on_change.remove(changed.set)


def be_lenient(members: Membership) -> None:
    """Wait long for silent nodes. Before, a node joins, which takes as long after a start of
    PostgreSQL.
    """
    members._times = replace(members._times, death=LENIENT)


join = membership.join


async def join_leniently(store: Store, settings: ClusterSection) -> Membership:
    """Be lenient from the first beat on, also while the rest of the node opens."""
    members = await join(store, settings)
    be_lenient(members)
    return members


@asynccontextmanager
async def joined(url: str, name: str) -> AsyncIterator[Member]:
    store = await open_store(url)
    try:
        members = await join_leniently(store, replace(QUICK, name=name))
        await members.announce(f"http://{name}")
        yield Member(store, members)
        await store.close()
        await members.leave()
    finally:
        await store.close()


@asynccontextmanager
async def cluster(url: str, *names: str) -> AsyncIterator[list[Member]]:
    """Nodes that know each other."""
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(joined(url, name)) for name in names]
        for node in nodes:
            await node.sees(*(one.id for one in nodes))
        yield nodes
