"""Membership: this node's place among the live nodes, which it knows from PostgreSQL.

Each node beats: it changes its row, and reads those of the others. A node is dead when its lock is
gone and it does not beat either, or when its beat stands still for long while this node's own beats
go through. A dead node's epoch is raised, so that it can store nothing more, and its matches are
orphans. Their homes adopt them.
"""

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

import structlog
from msgspec import Struct
from msgspec.structs import replace

from botdrome.server.failures import log_failure
from botdrome.server.nodes.cluster import MESSAGES, Choice, Key, Node, NodeId, choose
from botdrome.server.settings import ClusterSection
from botdrome.store.entries import Fenced, MatchEntry, StoreUnavailable
from botdrome.store.nodes import NodeRows
from botdrome.store.rows import key as home_key
from botdrome.store.store import Store
from botdrome.version import __version__

log = structlog.get_logger()

RELOCK = 0.2
"""Seconds in which a node that lost its connection can take its lock again."""
SWEEP = 20
"""Beats between two searches for orphans, beside those after a death."""
NO_NOTICE = "the node ended without notice"

TakeOver = Callable[[list[MatchEntry]], Awaitable[None]]


class Pulse(Struct):
    """The last beat of another node."""

    beat: int
    still: float = 0.0
    """Seconds without a new beat, while this node's own went through."""
    unlocked: float | None = None
    """When it was first seen without its lock, in the clock of the loop."""


class Membership:
    def __init__(self, store: Store, rows: NodeRows, here: Node, times: ClusterSection) -> None:
        self._store, self._rows, self._times = store, rows, times
        self.here, self.cluster, self.secret = here, rows.cluster, rows.secret
        self.nodes: dict[NodeId, Node] = {here.id: here}
        self.on_change: list[Callable[[], None]] = []
        self.take_over: TakeOver = self._abort
        """Called with the matches of dead nodes that this node has adopted.

        After an error, which is logged, it is called again.
        """
        self.load: Callable[[], dict[str, float]] = dict
        self.fenced: Fenced | None = None
        """Set when other nodes have declared this one dead. It must end."""
        self.on_fenced: Callable[[], object] = lambda: None
        self._homes: dict[str, NodeId] = {}
        self._digest = ""
        self._pulses: dict[NodeId, Pulse] = {}
        self._watched: NodeId | None = None
        self._watching: asyncio.Future[None] | None = None
        self._unsure: set[str] = set()
        """Matches that this node may own and does not play."""
        self._loop = asyncio.get_running_loop()
        self._beaten = self._settled = self._loop.time()
        self._wake, self._orphaned = asyncio.Event(), asyncio.Event()
        self._in_turn = asyncio.Lock()
        rows.on_news = self._wake.set
        self._tasks = [asyncio.ensure_future(self._keep_beating())]

    # What other parts of the server ask.

    @property
    def leaving(self) -> bool:
        return self.here.draining and not all(node.draining for node in self.nodes.values())

    def room_home(self, key: Key) -> NodeId | None:
        home = self._homes.get(home_key(key))
        return home if home in self.nodes else None

    async def claim(self, key: Key, choice: Choice | None = None) -> NodeId:
        while True:
            home = await self._rows.claim(key, (choice or choose)(key, self.nodes.values()).id)
            if home is None or home not in self.nodes:
                await self._beat()  # one has died or joined since the last beat
            if home is not None and home in self.nodes:
                self._homes[home_key(key)], self._digest = home, ""  # the next beat reads them all
                return home

    async def give(self, key: Key, to: NodeId) -> NodeId:
        await self._rows.give(key, self.here.id, to)
        return await self.claim(key)

    async def announce(self, url: str = "", handover: str = "", draining: bool = False) -> None:
        """Tell the others where this node is reached, and whether it takes matches.

        `handover` is where it takes connections; empty: pipes alone, as before.
        """
        places = handover or f"{self.here.pipes} "
        await self._rows.change(self.here.name, self.here.epoch, url, places, draining)
        await self._beat()

    async def drain(self, name: str, draining: bool = True) -> bool:
        """Have a node take no new matches. False: there is no such node."""
        return await self._rows.drain(name, draining)

    async def leave(self) -> None:
        """Leave the cluster, after everything is stored."""
        tasks = [*self._tasks, *filter(None, [self._watching])]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await self._rows.leave(self.here.name, self.here.epoch)

    # Beats.

    async def _keep_beating(self) -> None:
        while self.fenced is None:
            await _set_within(
                self._wake, min(RELOCK, self._times.beat) if self._is_uneasy() else self._times.beat
            )
            try:
                if await self._rows.reconnect(self.here.epoch):
                    self._settled = self._loop.time() + self._times.death
                await self._beat()
            except Fenced as problem:
                log.error("this node was declared dead, and ends", why=str(problem))
                self.fenced = problem
                self.on_fenced()
            except StoreUnavailable:  # the store reports its outages itself
                await asyncio.sleep(RELOCK)
            except Exception:
                log_failure("a beat failed")

    def _is_uneasy(self) -> bool:
        """Whether a node may be dead: then this one looks more often."""
        late = 2.5 * self._times.beat
        return any(
            pulse.unlocked is not None or pulse.still > late for pulse in self._pulses.values()
        )

    async def _beat(self) -> None:
        async with self._in_turn:
            await self._read()

    async def _read(self) -> None:
        rows, digest = await self._rows.beat(self.here.name, self.here.epoch, self.load())
        now = self._loop.time()
        passed, self._beaten = min(now - self._beaten, 2 * self._times.beat), now
        dead = {
            row.id for row in rows if row.id != self.here.id and self._is_dead(row, now, passed)
        }
        for row in rows:
            if row.id in dead and await self._rows.bury(row.name, row.epoch):
                log.warning(
                    "a node is dead",
                    node=row.id,
                    why=f"it beats no more, and its lock is {'held' if row.locked else 'gone'}",
                )
        self._pulses = {
            row.id: self._pulses[row.id] for row in rows if row.id in self._pulses.keys() - dead
        }
        await self._learn({row.id: row for row in rows if row.id not in dead}, digest)
        self._watch_next()

    def _is_dead(self, row: Node, now: float, passed: float) -> bool:
        pulse = self._pulses.get(row.id)
        if pulse is None or pulse.beat != row.beat:
            still = min(row.age / 1000, self._times.beat)
            self._pulses[row.id] = Pulse(row.beat, still, None if row.locked else now)
            return False
        pulse.still += passed
        if row.locked:
            pulse.unlocked = None
            return pulse.still >= self._times.death
        if pulse.unlocked is None:
            pulse.unlocked = now
        return now >= max(pulse.unlocked + RELOCK, self._settled)

    def _watch_next(self) -> None:
        """Wait for the lock of the next node in the order of their ids, to notice at once when its
        process ends.
        """
        order = sorted(self.nodes)
        following = order[(order.index(self.here.id) + 1) % len(order)]
        if following == self._watched and self._watching is not None and not self._watching.done():
            return
        if self._watching is not None:
            self._watching.cancel()
        pulse = self._pulses.get(following)
        self._watched, self._watching = following, None
        if pulse is not None and pulse.unlocked is None:
            self._watching = asyncio.ensure_future(self._watch(following))

    async def _watch(self, node: NodeId) -> None:
        with suppress(StoreUnavailable):
            await self._rows.outlive(self.nodes[node].epoch)
            self._wake.set()

    async def _learn(self, nodes: dict[NodeId, Node], digest: str) -> None:
        """Take over what was read, and tell what changed."""
        before, self.nodes, self.here = self.nodes, nodes, nodes[self.here.id]
        if digest != self._digest:
            self._homes, self._digest = await self._rows.homes()
        elif _places(before) == _places(nodes):
            return
        if before.keys() - nodes.keys():
            self._orphaned.set()
        for tell in self.on_change:
            tell()

    # Matches of dead nodes.

    async def recover(self) -> None:
        """Adopt the matches of dead nodes, now and from now on.

        Matches of single servers are orphans, too: none is left.
        """
        await self._sweep(of_single_servers=True)
        self._tasks.append(asyncio.ensure_future(self._keep_sweeping()))

    async def _keep_sweeping(self) -> None:
        while True:
            await _set_within(self._orphaned, self._times.beat * SWEEP)
            try:
                if await self._sweep():
                    self._loop.call_later(self._times.beat, self._orphaned.set)
            except Exception:
                log_failure("the matches of a dead node could not be taken over")
                self._loop.call_later(self._times.beat, self._orphaned.set)

    async def _sweep(self, of_single_servers: bool = False) -> bool:
        """Take over the orphans whose home is here. Return whether there are others."""
        orphans, nodes = await self._store.orphans(of_single_servers), self.nodes.values()
        mine = [match for match in orphans if choose(match, nodes).id == self.here.id]
        self._unsure.update(mine)
        if unsure := list(self._unsure):
            if adopted := await self._store.adopt(unsure):
                log.warning("matches of other nodes are taken over", matches=len(adopted))
                await self.take_over(adopted)
            self._unsure.difference_update(unsure)  # unless it failed
        return len(orphans) > len(mine)

    def retry(self, matches: Iterable[str]) -> None:
        """Have matches taken over that this node may own and does not play."""
        self._unsure.update(matches)
        self._orphaned.set()

    async def _abort(self, matches: list[MatchEntry]) -> None:
        await self._store.abort([match.id for match in matches], NO_NOTICE, int(time() * 1000))


async def join(store: Store, settings: ClusterSection) -> Membership:
    """Join the cluster.

    Until `announce` the node takes no matches. Raise CannotJoin or StoreUnavailable.
    """
    rows = NodeRows(store.source)
    name = settings.name or f"{socket.gethostname()}-{secrets.token_hex(2)}"
    here = Node(name, 0, machine_name(), "", __version__, draining=True, messages=MESSAGES)
    try:
        epoch = await rows.join(here, settings.death)
    except BaseException:
        rows.close()
        raise
    store.write_as(name, epoch)
    return Membership(store, rows, replace(here, epoch=epoch), settings)


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, but not for longer, and clear it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


def machine_name() -> str:
    """Name the machine, or the container in it: sockets can be passed within it."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/mnt').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _places(nodes: dict[NodeId, Node]) -> list[Node]:
    """Return the nodes without the parts that change with each beat."""
    beat: dict[str, Any] = {"load": {}, "beat": 0, "age": 0, "locked": False}
    return [replace(nodes[one], **beat) for one in sorted(nodes)]
