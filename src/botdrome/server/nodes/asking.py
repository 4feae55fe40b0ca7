"""Asking: questions to this node and to others.

Each kind of question has one function that answers it at every node.

A node that does not answer within the time is left out. An answer may be an error, if its kind is
in `TOLD`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from botdrome.server.calling.bot_connection import CallFailed, TooLate
from botdrome.server.calling.webhooks import BadWebhook
from botdrome.server.failures import log_failure
from botdrome.server.lobby.tokens import TooMany
from botdrome.server.nodes.cluster import Links, Members, NodeId
from botdrome.server.workers.limits import CLIENT_SOURCE
from botdrome.store.contest_journal import ContestRefusal, UnknownContest
from botdrome.store.entries import StoreUnavailable

TOPIC = "asking"
PATIENCE = 2.0
"""Seconds for an answer, unless the asker says otherwise.

A frozen node is declared dead after as long.
"""
LARGEST = 4 << 20
"""Bytes of a question or an answer."""

Asked = TypeVar("Asked", bound=Struct)
Answered = TypeVar("Answered")
AnswerFunction = Callable[[Any], Awaitable[Any]]


class NoAnswer(Exception):
    """A node did not answer. The text is for people."""


class LateAnswer(NoAnswer):
    """A node did not answer in time."""


class HomeMoves(NoAnswer):
    """What is asked for is moving to another node."""


ERRORS = (
    CallFailed,
    TooLate,
    BadWebhook,
    ContestRefusal,
    UnknownContest,
    StoreUnavailable,
    NoAnswer,
    HomeMoves,
    TooMany,
)
TOLD = {one.__name__: one for one in ERRORS}
"""Errors whose words travel to the node that asked."""


class AskingMessage(Struct, frozen=True, array_like=True):
    number: int


class NodeQuestion(AskingMessage, frozen=True, tag="q"):
    kind: str
    source: str
    """The address of the client that caused it."""
    body: bytes


class NodeAnswer(AskingMessage, frozen=True, tag="a"):
    body: bytes


class NodeRefusal(AskingMessage, frozen=True, tag="r"):
    kind: str
    words: str


class Withdrawn(AskingMessage, frozen=True, tag="w"):
    """Nobody waits for the answer any more."""


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(NodeQuestion | NodeAnswer | NodeRefusal | Withdrawn).decode


class Asking:
    """The questions of a single server: it answers all of them itself."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[type[Struct], AnswerFunction]] = {}

    def on(self, kind: type[Asked], answer: Callable[[Asked], Awaitable[object]]) -> None:
        """`answer` answers questions of this kind, those of other nodes, too."""
        self._kinds[kind.__name__] = kind, answer

    async def ask(
        self, node: NodeId | None, question: Struct, of: type[Answered], seconds: float = PATIENCE
    ) -> Answered:
        """Return the answer of a node, of this type.

        NoAnswer: there is none, or nobody knows the node (None).
        """
        return await self._here(question)  # type: ignore[no-any-return]

    async def ask_all(
        self, question: Struct, of: type[Answered]
    ) -> tuple[list[Answered], list[str]]:
        """Return the answers of all nodes, this one's first, and the names of the nodes that did
        not answer.
        """
        return [await self._here(question)], []

    async def _here(self, question: Struct) -> Any:
        return await self._kinds[type(question).__name__][1](question)


class NodeAsking(Asking):
    """The questions of a node."""

    def __init__(
        self, members: Members, links: Links, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`start` runs a background task."""
        super().__init__()
        self._members, self._links, self._start = members, links, start
        self._numbers = count(1)
        self._waiting: dict[int, tuple[NodeId, asyncio.Future[bytes]]] = {}
        self._answering: dict[tuple[NodeId, int], asyncio.Task[None]] = {}
        links.on(TOPIC, self._receive)
        links.on_lost.append(self._lose)

    async def ask(
        self, node: NodeId | None, question: Struct, of: type[Answered], seconds: float = PATIENCE
    ) -> Answered:
        if node == self._members.here.id:
            return await self._here(question)  # type: ignore[no-any-return]
        if node is None or node not in self._members.nodes:
            raise NoAnswer(
                "the node that can answer is not known at present: try again in a moment"
            )
        body = encode(question)
        if len(body) > LARGEST:
            raise NoAnswer(
                f"a question to another node has at most {LARGEST} bytes, not {len(body)}"
            )
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = node, answer
        self._links.send(
            node,
            TOPIC,
            encode(NodeQuestion(number, type(question).__name__, CLIENT_SOURCE.get(), body)),
        )
        try:
            async with asyncio.timeout(seconds):
                return msgspec.msgpack.decode(await answer, type=of)
        except (TimeoutError, asyncio.CancelledError) as given_up:
            self._links.send(node, TOPIC, encode(Withdrawn(number)))
            if isinstance(given_up, asyncio.CancelledError):
                raise
            raise LateAnswer(
                f"the node {_name(node)} did not answer within {seconds:g} s"
            ) from None
        finally:
            self._waiting.pop(number, None)

    async def ask_all(
        self, question: Struct, of: type[Answered]
    ) -> tuple[list[Answered], list[str]]:
        here = self._members.here.id
        asked = [here, *(node for node in self._members.nodes if node != here)]
        found = await asyncio.gather(
            *(self.ask(node, question, of) for node in asked), return_exceptions=True
        )
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, NoAnswer):
                raise one
        answers = [one for one in found if not isinstance(one, BaseException)]
        return answers, [
            _name(node) for node, one in zip(asked, found, strict=True) if isinstance(one, NoAnswer)
        ]

    # Messages of other nodes.

    def _receive(self, sender: NodeId, payload: bytes) -> None:
        message = decode(payload)
        if isinstance(message, NodeQuestion):
            return self._start(self._answer(sender, message))
        if isinstance(message, Withdrawn):
            if (task := self._answering.pop((sender, message.number), None)) is not None:
                task.cancel()
            return None
        _, waiting = self._waiting.get(message.number, (sender, None))
        if waiting is None or waiting.done():
            return None
        if isinstance(message, NodeAnswer):
            return waiting.set_result(message.body)
        return waiting.set_exception(TOLD.get(message.kind, NoAnswer)(message.words))

    async def _answer(self, sender: NodeId, question: NodeQuestion) -> None:
        CLIENT_SOURCE.set(question.source)
        key, task = (sender, question.number), asyncio.current_task()
        assert task is not None
        self._answering[key] = task
        reply: NodeAnswer | NodeRefusal
        try:
            kind, answer = self._kinds[question.kind]
            reply = NodeAnswer(
                question.number,
                encode(await answer(msgspec.msgpack.decode(question.body, type=kind))),
            )
            if len(reply.body) > LARGEST:
                reply = NodeRefusal(
                    question.number,
                    "",
                    f"the answer of a node has at most {LARGEST} bytes, not {len(reply.body)}",
                )
        except Exception as problem:
            if type(problem).__name__ not in TOLD:
                log_failure("a question of another node could not be answered")
                problem = NoAnswer("a node could not answer: its log says why")
            reply = NodeRefusal(question.number, type(problem).__name__, str(problem))
        finally:
            self._answering.pop(key, None)
        self._links.send(sender, TOPIC, encode(reply))

    def _lose(self, node: NodeId) -> None:
        for asked, answer in list(self._waiting.values()):
            if asked == node and not answer.done():
                answer.set_exception(
                    NoAnswer(f"the node {_name(node)} did not answer: the link to it was lost")
                )
        for key in [key for key in self._answering if key[0] == node]:
            self._answering.pop(key).cancel()


def _name(node: NodeId) -> str:
    return node.rpartition(".")[0]
