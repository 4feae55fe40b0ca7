"""Asking: questions to this node and to others.

Each kind of question has one function that answers it at every node.

A node that does not answer within the time is left out. An answer may be an error, if its kind is
in `TOLD`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from botdrome.server.calling.bot_connection import CallFailed, TooLate
from botdrome.server.calling.webhooks import BadWebhook
from botdrome.server.failures import log_failure
from botdrome.server.lobby.tokens import TooMany
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.links import Links, NotAnswered, encode
from botdrome.server.workers.jobs import CLIENT, set_source
from botdrome.store.contest_journal import ContestRefusal, StillChecked, UnknownContest
from botdrome.store.entries import StoreUnavailable

PATIENCE = 2.0
"""Seconds for an answer, unless the asker says otherwise.

A frozen node is declared dead after as long.
"""
ENVELOPE = 1024
"""Bytes that are kept for the envelope of a question."""

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
    StillChecked,
    UnknownContest,
    StoreUnavailable,
    NoAnswer,
    HomeMoves,
    TooMany,
)
TOLD = {one.__name__: one for one in ERRORS}
"""Errors whose words travel to the node that asked."""


class NodeQuestion(Struct, frozen=True, array_like=True):
    kind: str
    source: str
    """The address of the client that caused it."""
    seconds: float
    """Then nobody waits for the answer any more."""
    body: bytes


class NodeAnswer(Struct, frozen=True, array_like=True):
    body: bytes = b""
    error: str = ""
    """The kind of the error; empty: there is an answer."""
    words: str = ""


_question = msgspec.msgpack.Decoder(NodeQuestion).decode
_answer = msgspec.msgpack.Decoder(NodeAnswer).decode


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

    def __init__(self, links: Links) -> None:
        super().__init__()
        self._members, self._links = links.members, links
        links.answer = self._answer

    async def ask(
        self, node: NodeId | None, question: Struct, of: type[Answered], seconds: float = PATIENCE
    ) -> Answered:
        if node == self._members.here.id:
            return await self._here(question)  # type: ignore[no-any-return]
        if node is None or node not in self._members.nodes:
            raise NoAnswer(
                "the node that can answer is not known at present: try again in a moment"
            )
        source, kind = CLIENT.get().source, type(question).__name__
        packed = encode(NodeQuestion(kind, source, seconds, encode(question)))
        if len(packed) > self._most:
            raise NoAnswer(_too_large("a question to another node", packed, self._most))
        try:
            async with asyncio.timeout(seconds):
                answer = _answer(await self._links.ask(node, packed, seconds))
        except TimeoutError:
            raise LateAnswer(
                f"the node {_name(node)} did not answer within {seconds:g} s"
            ) from None
        except NotAnswered as problem:
            raise NoAnswer(
                f"the node {_name(node)} did not answer: {problem}: try again in a moment"
            ) from None
        if answer.error:
            raise TOLD.get(answer.error, NoAnswer)(answer.words)
        return msgspec.msgpack.decode(answer.body, type=of)

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

    @property
    def _most(self) -> int:
        """The bytes of a question or an answer; the envelope needs the rest."""
        return self._links.largest - ENVELOPE

    async def _answer(self, packed: bytes) -> bytes:
        """Answer another node."""
        question = _question(packed)
        set_source(question.source)
        try:
            kind, answer = self._kinds[question.kind]
            async with asyncio.timeout(question.seconds):
                found = await answer(msgspec.msgpack.decode(question.body, type=kind))
            reply = encode(NodeAnswer(encode(found)))
            if len(reply) > self._most:
                raise NoAnswer(_too_large("the answer of a node", reply, self._most))
        except Exception as problem:
            if type(problem).__name__ not in TOLD:
                log_failure("a question of another node could not be answered")
                problem = NoAnswer("a node could not answer: its log says why")
            reply = encode(NodeAnswer(error=type(problem).__name__, words=str(problem)))
        return reply


def _name(node: NodeId) -> str:
    return node.rpartition(".")[0]


def _too_large(what: str, packed: bytes, most: int) -> str:
    return f"{what} has at most {most} bytes, not {len(packed)}: NATS sets the limit (max_payload)"
