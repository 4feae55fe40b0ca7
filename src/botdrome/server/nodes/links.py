"""Links to the other nodes over NATS. `wire/node_link.py` says how a loss is noticed."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import cycle
from urllib.parse import quote, unquote

import structlog

from botdrome.server.nodes.cluster import Members, NodeId
from botdrome.server.nodes.nats import NatsAddress, NatsConnection, NatsUnavailable, read_addresses
from botdrome.wire.nats import publish
from botdrome.wire.node_link import VERSION, NodeLink, OtherVersion

log = structlog.get_logger()

TICK = 1.0
"""Seconds between two greetings to each node, and between two pings to the NATS server."""
SOONEST, LATEST = 0.05, 1.0
"""Seconds before the first and between the last attempts to connect again."""
BUSY = 0.001
"""Seconds.

A message that follows the last flush sooner waits for the end of the turn of the loop, and for
others.
"""
EARLY = 1 << 20
"""Bytes kept from nodes that are not known yet. A node may speak before it is seen in the store."""


class NatsLinks:
    """The links of this node.

    `url` is the setting `nats`; clusters with different names can share a NATS server.

    A NATS that needs no login is refused, unless `open_nats` is true.
    """

    def __init__(self, url: str, members: Members, cluster: str, open_nats: bool = False) -> None:
        self._members, self._addresses, self._open_nats = members, read_addresses(url), open_nats
        self._prefix = f"botdrome.{cluster}"
        self._here = members.here.id
        self._subject_here = _token(self._here)
        self._loop = asyncio.get_running_loop()
        self._connection: NatsConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._flushing = False
        """Whether a flush follows in this turn of the loop."""
        self._flushed = 0.0
        self._pause = SOONEST
        self._links: dict[NodeId, NodeLink] = {}
        self._subjects: dict[NodeId, bytes] = {}
        """Where to send to each node."""
        self._senders: dict[bytes, NodeId] = {}
        """By the subjects of their messages."""
        self._early: dict[NodeId, list[bytes]] = {}
        self._gone: dict[str, int] = {}
        """The highest epoch of each name that has left."""
        self._unsent: set[NodeId] = set()
        """Nodes without a link, to which something was to be sent."""
        self._refused: set[NodeId] = set()
        self._receivers: dict[str, Callable[[NodeId, bytes], None]] = {}
        self._unheard: defaultdict[str, list[tuple[NodeId, bytes]]] | None = defaultdict(list)
        """Messages for receivers that this node has not set yet; None: it has set all."""
        self.on_lost: list[Callable[[NodeId], None]] = []

    async def open(self) -> None:
        """Connect. Raise NatsUnavailable."""
        problem = NatsUnavailable("no address is set")
        for address in self._addresses:
            try:
                await self._connect(address)
                break
            except NatsUnavailable as failed:
                problem = failed
        else:
            raise problem
        self._members.on_change.append(self._follow_members)
        self._follow_members()
        self._tick()

    async def close(self) -> None:
        """Send what waits, and disconnect."""
        self._flush()
        with suppress(ValueError):
            self._members.on_change.remove(self._follow_members)
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def connected(self) -> bool:
        return self._connection is not None

    def send(self, to: NodeId, topic: str, payload: bytes) -> None:
        link = self._links.get(to)
        if link is None:
            self._unsent.add(to)
            return
        link.add(topic, payload)
        if not self._flushing:
            if link.overfull or self._loop.time() - self._flushed < BUSY:
                self._flush_soon()
            else:
                self._write({to: link})

    def broadcast(self, topic: str, payload: bytes) -> None:
        for link in self._links.values():
            link.add(topic, payload)
        self._flush_soon()

    def on(self, topic: str, receive: Callable[[NodeId, bytes], None]) -> None:
        self._receivers[topic] = receive
        if self._unheard is not None:
            for node, payload in self._unheard.pop(topic, ()):
                self._loop.call_soon(self._deliver, node, topic, payload)

    def started(self) -> None:
        """All receivers are set."""
        self._unheard = None

    def _flush_soon(self) -> None:
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        for node, link in list(self._links.items()):
            if link.overfull:
                self._lose(node, link.lose("too much waited for it"))
        self._write(self._links)

    def _write(self, links: Mapping[NodeId, NodeLink]) -> None:
        self._flushed = self._loop.time()
        if (connection := self._connection) is None:
            return
        largest = connection.largest
        frames = [
            publish(self._subjects[node], frame)
            for node, link in links.items()
            for frame in link.take(largest)
        ]
        if frames:
            connection.write(b"".join(frames))

    def _receive(self, messages: list[tuple[bytes, bytes]]) -> None:
        """Take messages that came together. All that they lead to is sent together."""
        self._flushing = True
        try:
            for subject, frame in messages:
                node = self._senders.get(subject)
                if node is None:
                    node = self._senders[subject] = _sender(subject)
                self._receive_from(node, frame)
        finally:
            self._flush()

    def _receive_from(self, node: NodeId, frame: bytes) -> None:
        link = self._links.get(node)
        if link is None:
            self._keep(node, frame)
        else:
            self._take(node, link, frame)

    def _take(self, node: NodeId, link: NodeLink, frame: bytes) -> None:
        try:
            lost, messages = link.receive(frame, self._loop.time())
        except OtherVersion as other:
            self._refuse(node, str(other))
            return
        if lost:
            self._lose(node, lost)
        if link.greets:
            self._flush_soon()
        for topic, payload in messages:
            if self._links.get(node) is not link:
                return  # it left because of an earlier message
            self._deliver(node, topic, payload)

    def _deliver(self, node: NodeId, topic: str, payload: bytes) -> None:
        if self._unheard is not None and topic not in self._receivers:
            return self._unheard[topic].append((node, payload))
        try:
            return self._receivers[topic](node, payload)
        except Exception:
            log.exception("a message of another node was not understood", node=node, topic=topic)

    def _keep(self, node: NodeId, frame: bytes) -> None:
        """Keep a frame of a node that is not known yet.

        If too many are kept, the gap is noticed later.
        """
        name, _, epoch = node.rpartition(".")
        if not epoch.isdigit() or int(epoch) <= self._gone.get(name, -1):
            return
        if sum(len(one) + 64 for kept in self._early.values() for one in kept) > EARLY:
            self._early.clear()
        self._early.setdefault(node, []).append(frame)

    def _refuse(self, node: NodeId, version: str) -> None:
        if node not in self._refused:
            self._refused.add(node)
            log.error(
                "a node of another version is refused: update one of them",
                node=node,
                theirs=version,
                ours=VERSION,
            )

    def _lose(self, node: NodeId, reason: str) -> None:
        log.warning("a link between nodes was lost", node=node, reason=reason)
        self._report(node)
        self._flush_soon()

    def _report(self, node: NodeId) -> None:
        for call in self.on_lost:
            try:
                call(node)
            except Exception:
                log.exception("the loss of a link was not handled", node=node)

    def _follow_members(self) -> None:
        live = self._members.nodes.keys() - {self._here}
        for node in self._links.keys() - live:
            self._forget(node)
        for node in live - self._links.keys():
            self._links[node] = NodeLink(self._loop.time())
            self._subjects[node] = f"{self._prefix}.{_token(node)}.{self._subject_here}".encode()
        for node in self._early.keys() & live:
            for frame in self._early.pop(node, ()):
                self._receive_from(node, frame)
        self._flush_soon()

    def _forget(self, node: NodeId) -> None:
        name, _, epoch = node.rpartition(".")
        self._gone[name] = max(int(epoch), self._gone.get(name, -1))
        self._refused.discard(node)
        del self._links[node], self._subjects[node]
        self._report(node)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(TICK, self._tick)
        unsent, self._unsent = self._unsent, set()
        for node in unsent:
            self._report(node)
        if self._connection is not None:
            self._connection.ping()
            self._pause = SOONEST
        now = self._loop.time()
        for node, link in list(self._links.items()):
            if lost := link.tick(now):
                self._lose(node, lost)
        if len(self._senders) > 2 * len(self._links) + 16:
            self._senders.clear()  # of nodes that left
        self._flush()

    async def _connect(self, address: NatsAddress) -> None:
        connection = NatsConnection(self._receive, self._disconnected, self._open_nats)
        await connection.open(
            address, f"{self._prefix}.{self._subject_here}.*.*", f"botdrome {self._here}"
        )
        self._connection = connection

    def _disconnected(self, reason: str) -> None:
        self._connection = None
        log.warning("the connection to NATS has ended: it is tried again and again", reason=reason)
        self._connecting = self._loop.create_task(self._connect_again())
        now = self._loop.time()
        for node, link in list(self._links.items()):
            self._lose(node, link.disconnect(reason, now))

    async def _connect_again(self) -> None:
        addresses = cycle(self._addresses)
        while True:
            pause, self._pause = self._pause, min(2 * self._pause, LATEST)
            await asyncio.sleep(pause)
            try:
                await self._connect(next(addresses))
                break
            except NatsUnavailable as problem:
                log.debug("NATS cannot be reached", problem=str(problem))
        log.info("connected to NATS again")
        self._flush()


def _token(node: NodeId) -> str:
    """Return the name and the epoch of a node as two tokens of a subject."""
    name, _, epoch = node.rpartition(".")
    return f"{quote(name, safe='').replace('.', '%2E')}.{epoch}"


def _sender(subject: bytes) -> NodeId:
    name, epoch = subject.decode().rsplit(".", 2)[1:]
    return f"{unquote(name)}.{epoch}"
