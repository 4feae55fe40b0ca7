"""Clerk: answers queries, away from the loop on which matches are played."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import lru_cache, partial
from http import HTTPStatus
from inspect import isawaitable
from threading import Event
from time import monotonic
from typing import Any, TypeVar

import msgspec
import structlog
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    validate,
)
from msgspec import Struct

from botdrome.api.graphql.limits import MOST_TOKENS, Scales
from botdrome.api.graphql.reading import Reading
from botdrome.api.graphql.roots import Root
from botdrome.api.graphql.workers import Workers
from botdrome.api.problems import Stopping
from botdrome.api.registration import refusal
from botdrome.server.arena import Arena
from botdrome.server.asker import ASKER
from botdrome.server.places import Places
from botdrome.server.thinkers import Thinkers

log = structlog.get_logger()
T = TypeVar("T")

AT_ONCE = 2
"""Queries that are worked on at the same time."""
PHONES = 64
"""Those that wait for the answer of a bot beside them. Whoever calls the bots decides how many are called, and for whom."""
MOST_WAITING = 400
"""Of which one address can have half."""
REMEMBERED = 200
"""Short queries that need not be read and validated again: that is most of the work."""
SHORT = 4_000
UNREADABLE = "A value in the query cannot be read."
LAST_ANSWERS = 5.0
"""Seconds for the queries that are worked on when the server stops."""


class Question(Struct, frozen=True):
    query: str
    variables: dict[str, Any] | None = None
    operation: str | None = None


class Answer(Struct, frozen=True):
    body: bytes
    status: int = HTTPStatus.OK
    allow: str | None = None
    """The methods that would do."""


class Unfit(Exception):
    """A query that cannot be worked on."""

    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__(*errors)
        self.errors = errors


class Clerk:
    def __init__(self, arena: Arena, schema: GraphQLSchema) -> None:
        self.arena, self.schema = arena, schema
        self._workers = Workers(AT_ONCE, PHONES)
        self._thinkers, self._waiting = Thinkers(self._workers, monotonic), Places(MOST_WAITING)
        self._known = lru_cache(REMEMBERED)(self._read)
        self._at_hand: dict[asyncio.Future[Any], Future[Any]] = {}
        """What those who asked wait for, and what is done for them."""
        self._closed, self._ended = False, Event()
        """Whether nothing more is begun, and whether all is over."""

    def reading(self, token: str | None) -> Reading:
        return Reading(self.arena, token, asyncio.get_running_loop(), self._workers.at_the_phone, self._ended)

    async def answer(self, question: Question, reading: Reading, by_get: bool = False) -> Answer:
        asker = ASKER.get()
        if not self._waiting.take(asker):
            return refused("Too many queries are waiting already; try again in a moment.", HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            return await self._worked(partial(self._work, question, reading, by_get))
        except Stopping as stopping:
            return refused(stopping.words, stopping.status)
        finally:
            self._waiting.leave(asker)

    async def prepare(self, question: Question) -> tuple[DocumentNode, OperationDefinitionNode]:
        return await self._worked(partial(self.prepared, question))

    async def _worked(self, work: Callable[[], T]) -> T:
        """Who has had little work done goes before who has had much."""
        if self._closed:
            raise Stopping
        thought = self._thinkers.think(ASKER.get(), partial(copy_context().run, work))
        answer = asyncio.wrap_future(thought)
        self._at_hand[answer] = thought
        try:
            return await answer
        except asyncio.CancelledError:
            if self._closed:
                raise Stopping from None
            raise
        finally:
            del self._at_hand[answer]

    async def close(self) -> None:
        """What is being worked on is finished; all who still wait for their turn are told that it will not come."""
        self._closed = True
        for thought in self._at_hand.values():
            thought.cancel()
        if self._at_hand:
            await asyncio.wait(tuple(self._at_hand), timeout=LAST_ANSWERS)
        self._ended.set()

    def _work(self, question: Question, reading: Reading, by_get: bool) -> Answer:
        try:
            document, operation = self.prepared(question)
        except Unfit as unfit:
            return _encoded({"errors": [shown(error) for error in unfit.errors]}, HTTPStatus.BAD_REQUEST)
        kind = operation.operation
        if by_get and kind != OperationType.QUERY:
            words = f"Can only perform a {kind.value} operation from a POST request."
            return refused(words, HTTPStatus.METHOD_NOT_ALLOWED, "POST")
        if kind == OperationType.SUBSCRIPTION:
            return refused("Subscriptions are for WebSockets.", HTTPStatus.BAD_REQUEST)
        return _encoded(outcome(asyncio.run(self._executed(document, question, reading))))

    def prepared(self, question: Question) -> tuple[DocumentNode, OperationDefinitionNode]:
        """The query, read and found good; Unfit where it is not."""
        try:
            document = (self._known if len(question.query) <= SHORT else self._read)(question.query)
            operation = get_operation_ast(document, question.operation)
            if operation is None:
                raise GraphQLError("Must provide the name of one of the operations in the query.")
            Scales(self.schema, document, question.variables).check(operation)
        except GraphQLError as error:
            raise Unfit([error]) from None
        return document, operation

    def _read(self, query: str) -> DocumentNode:
        document = parse(query, max_tokens=MOST_TOKENS)
        errors = validate(self.schema, document)
        if errors:
            raise Unfit([error if _foreseen(error) else GraphQLError(UNREADABLE, error.nodes) for error in errors])
        return document

    async def _executed(self, document: DocumentNode, question: Question, reading: Reading) -> ExecutionResult:
        result = execute(self.schema, document, Root(reading), reading, question.variables, question.operation)
        return await result if isawaitable(result) else result


def outcome(result: ExecutionResult) -> dict[str, Any]:
    """As it is sent. Without data where the query was not even begun."""
    if not result.errors:
        return {"data": result.data}
    errors = {"errors": [shown(error) for error in result.errors]}
    begun = result.data is not None or any(error.path for error in result.errors)
    return errors | {"data": result.data} if begun else errors


def shown(error: GraphQLError) -> dict[str, Any]:
    """An error as others may see it: what went wrong in here stays in the log."""
    fields: dict[str, Any] = dict(error.formatted)
    if _foreseen(error):
        return fields
    problem = refusal(error.original_error)
    if problem is None:
        log.error("a query failed", path=error.path, exc_info=error.original_error)
    return fields | {"message": problem.words if problem else "Something went wrong in the server."}


def _foreseen(error: GraphQLError) -> bool:
    """An error of GraphQL itself."""
    return error.original_error is None or isinstance(error.original_error, GraphQLError)


def refused(words: str, status: int, allow: str | None = None) -> Answer:
    return _encoded({"errors": [{"message": words}]}, status, allow)


def _encoded(body: dict[str, Any], status: int = HTTPStatus.OK, allow: str | None = None) -> Answer:
    return Answer(msgspec.json.encode(body), status, allow)
