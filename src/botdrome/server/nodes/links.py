"""Links: messages between nodes over NATS, which may lose any of them.

A node tells its state in beats. Each beat has all of it, so that the next one repairs a lost one.
A node also asks questions, and waits for the answer for a bounded time. All other messages only
tell sooner what a beat tells anyway. Version and sender of each message are in its envelope.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.nodes.cluster import MESSAGES, NodeId
from botdrome.server.nodes.membership import Membership

log = structlog.get_logger()

SILENCE = 3.0
"""Seconds without a beat after which nothing holds that a node has told."""
Told = TypeVar("Told", bound=Struct)
encode = msgspec.msgpack.Encoder().encode


class Envelope(Struct, frozen=True, array_like=True):
    version: int
    sender: NodeId
    topic: str
    """Empty: a question."""
    body: bytes


_open = msgspec.msgpack.Decoder(Envelope).decode


class NatsUnavailable(Exception):
    """There is no connection to a NATS server, with the reason."""


class NatsRefused(NatsUnavailable):
    """The server answers, but a node cannot use it as it is set up."""


class NotAnswered(Exception):
    """There is no answer to a question, with the reason."""


class Links:
    """What all links have in common. The subclass carries the messages."""

    connected = True
    """Whether any other node can be reached."""
    largest = 1 << 20
    """Bytes of a message."""

    def __init__(self, members: Membership) -> None:
        self.members = members
        self.beats: list[Beat[Any]] = []
        self.answer: Callable[[bytes], Awaitable[bytes]]
        """Answers the questions of other nodes."""
        self._receivers: dict[str, Callable[[NodeId, bytes], None]] = {}
        self._refused: set[NodeId] = set()

    def on(self, topic: str, receive: Callable[[NodeId, bytes], None]) -> None:
        self._receivers[topic] = receive

    def send(self, topic: str, message: object, to: NodeId | None = None) -> None:
        """Send a message to a node; None: to all others. It may be lost."""
        self._publish(to, self._packed(topic, encode(message)))

    def _packed(self, topic: str, body: bytes) -> bytes:
        return encode(Envelope(MESSAGES, self.members.here.id, topic, body))

    def _publish(self, to: NodeId | None, data: bytes) -> None:
        raise NotImplementedError

    async def ask(self, to: NodeId, question: bytes, seconds: float) -> bytes:
        """Return the answer of a node. Raise NotAnswered or TimeoutError."""
        raise NotImplementedError

    def _unpacked(self, data: bytes) -> Envelope | None:
        """None: it is of no use."""
        try:
            message = _open(data)
        except msgspec.MsgspecError as problem:
            log.warning("a message between nodes was not understood", problem=str(problem))
            return None
        if message.version == MESSAGES:
            return message
        if message.sender not in self._refused:
            self._refused.add(message.sender)
            log.error(
                "a node of another version is refused: update one of them",
                node=message.sender,
                theirs=message.version,
                ours=MESSAGES,
            )
        return None

    def _deliver(self, data: bytes) -> None:
        """A node that is not known yet, or whose receivers are not set yet, will hear it again."""
        message = self._unpacked(data)
        if message is None or message.sender not in self.members.nodes:
            return
        if (receive := self._receivers.get(message.topic)) is not None:
            try:
                receive(message.sender, message.body)
            except Exception:
                log.exception(
                    "a message of another node was not understood",
                    node=message.sender,
                    topic=message.topic,
                )

    async def close(self) -> None:
        """Tell nothing any more."""
        for beat in self.beats:
            beat.stop()


class Beat(Generic[Told]):
    """Tells the other nodes the state of something again and again, and hears theirs."""

    def __init__(
        self,
        links: Links,
        every: float,
        of: type[Told],
        tell: Callable[[], Told | None],
        hear: Callable[[NodeId, Told | None], None],
    ) -> None:
        """`tell` returns the state, or None if there is none. `hear` gets that of another node,
        and None once the node has left or is silent.
        """
        self._links, self._every, self._topic, self._tell, self._hear = (
            links, every, of.__name__, tell, hear,
        )  # fmt: skip
        self._decode = msgspec.msgpack.Decoder(of).decode
        self._heard: dict[NodeId, float] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle = self._loop.call_later(every, self._beat)
        links.on(self._topic, self._receive)
        links.beats.append(self)
        links.members.on_change.append(self._forget)

    def soon(self) -> None:
        """Tell it in the next turn of the loop, since it has changed."""
        self._timer.cancel()
        self._timer = self._loop.call_soon(self._beat)

    def stop(self) -> None:
        self._timer.cancel()

    def expect(self, node: NodeId) -> None:
        """Hear None of the node if it stays silent, also if it has told nothing so far."""
        self._heard.setdefault(node, self._loop.time())

    def _beat(self) -> None:
        self._timer = self._loop.call_later(self._every, self._beat)
        self._forget()
        if (state := self._tell()) is not None:
            self._links.send(self._topic, state)

    def _receive(self, node: NodeId, body: bytes) -> None:
        state = self._decode(body)
        self._heard[node] = self._loop.time()
        self._hear(node, state)

    def _forget(self) -> None:
        live, since = self._links.members.nodes, self._loop.time() - SILENCE
        for node in [one for one, at in self._heard.items() if one not in live or at < since]:
            del self._heard[node]
            self._hear(node, None)
