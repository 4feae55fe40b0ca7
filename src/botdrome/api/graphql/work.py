"""Work on queries, in a worker process: reading, validating and executing them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import cache, lru_cache
from http import HTTPStatus
from inspect import isawaitable
from typing import Any

import msgspec
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    subscribe,
    validate,
)
from msgspec import Struct

from botdrome.api.bodies import lenient_json
from botdrome.api.graphql.asking import Asking, Question, question_in, question_of
from botdrome.api.graphql.limits import MOST_TOKENS, Scales
from botdrome.api.graphql.reading import Reading
from botdrome.api.graphql.replies import Subscription, head_of, words_of
from botdrome.api.graphql.results import foreseen, outcome, shown
from botdrome.api.graphql.roots import Root
from botdrome.api.graphql.schema import make_schema
from botdrome.api.pieces import cut
from botdrome.api.problems import Problem
from botdrome.server.workers.jobs import Home, Reply
from botdrome.store.reading import reader
from botdrome.store.store import Source

REMEMBERED = 200
"""Short queries that need not be read and validated again: that is most of the work."""
SHORT = 4_000
LARGEST_ANSWER = 64 << 20
"""Bytes."""
UNREADABLE = "A value in the query cannot be read."

Errors = list[dict[str, Any]]
schema = cache(make_schema)


class Unfit(Exception):
    """A query that cannot be worked on."""

    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__(*errors)
        self.errors = errors


class Prepared(Struct, frozen=True):
    """A query, read and found good."""

    question: Question
    document: DocumentNode
    kind: OperationType


# Jobs.


async def answer(home: Home, source: Source, asking: Asking) -> Reply:
    """What is asked by HTTP."""
    try:
        prepared = _prepared(question_of(asking))
    except Problem as problem:
        return _refused(problem.words, problem.status)
    except Unfit as unfit:
        return _encoded({"errors": _shown(unfit)}, HTTPStatus.BAD_REQUEST)
    kind = prepared.kind
    if asking.by_get and kind != OperationType.QUERY:
        words = f"Can only perform a {kind.value} operation from a POST request."
        return _refused(words, HTTPStatus.METHOD_NOT_ALLOWED, "POST")
    if kind == OperationType.SUBSCRIPTION:
        return _refused("Subscriptions are for WebSockets.", HTTPStatus.BAD_REQUEST)
    return await _executed(Reading(home, await reader(source), asking.token), prepared)


async def begin(home: Home, source: Source, payload: bytes, token: str | None) -> Reply | Subscription | Errors:
    """What is asked over a WebSocket: an answer, the plan of a subscription, or errors."""
    try:
        prepared = _prepared(_question_in(payload))
        reading = Reading(home, await reader(source), token)
        if prepared.kind != OperationType.SUBSCRIPTION:
            return await _executed(reading, prepared)
        await _first(reading, prepared)
    except Problem as problem:
        return [{"message": problem.words}]
    except Unfit as unfit:
        return _shown(unfit)
    assert reading.plan is not None
    question = prepared.question
    return Subscription(reading.plan, msgspec.json.encode((question.query, question.operation, question.variables)))


async def tables(home: Home, source: Source, payload: bytes) -> bytes:
    """The present answer to a subscription to the running tables, which was found good."""
    reading = Reading(home, await reader(source), None, begun=True)
    result = await _first(reading, _prepared(_question_in(payload)))
    return msgspec.json.encode(outcome(result, reading.extensions))


# How they are done.


def _question_in(payload: bytes) -> Question:
    try:
        body = lenient_json(payload)
    except ValueError:
        raise Problem("The payload is invalid JSON.") from None
    return question_in({}, body if isinstance(body, dict) else {})


def _prepared(question: Question) -> Prepared:
    """Unfit where the query is not good."""
    try:
        document = (_known if len(question.query) <= SHORT else _read)(question.query)
        operation = get_operation_ast(document, question.operation)
        if operation is None:
            raise GraphQLError("Must provide the name of one of the operations in the query.")
        Scales(schema(), document, question.variables).check(operation)
    except GraphQLError as error:
        raise Unfit([error]) from None
    return Prepared(question, document, operation.operation)


def _read(query: str) -> DocumentNode:
    document = parse(query, max_tokens=MOST_TOKENS)
    errors = validate(schema(), document)
    if errors:
        raise Unfit([error if foreseen(error) else GraphQLError(UNREADABLE, error.nodes) for error in errors])
    return document


_known = lru_cache(REMEMBERED)(_read)


async def _executed(reading: Reading, prepared: Prepared) -> Reply:
    question = prepared.question
    result = execute(schema(), prepared.document, Root(reading), reading, question.variables, question.operation)
    return _encoded(outcome(await result if isawaitable(result) else result, reading.extensions))


async def _first(reading: Reading, prepared: Prepared) -> ExecutionResult:
    """The first result of a subscription."""
    question = prepared.question
    stream = subscribe(schema(), prepared.document, None, reading, question.variables, question.operation)
    source: Any = await stream if isawaitable(stream) else stream
    if isinstance(source, ExecutionResult):
        raise Unfit(source.errors or ())
    results: AsyncGenerator[ExecutionResult, None] = source
    async with aclosing(results):
        return await anext(results)


def _shown(unfit: Unfit) -> Errors:
    return [shown(error) for error in unfit.errors]


def _refused(words: str, status: int, allow: str = "") -> Reply:
    body = words_of(words)
    return Reply(head_of(body, status, allow), [body])


def _encoded(body: dict[str, Any], status: int = HTTPStatus.OK) -> Reply:
    data = msgspec.json.encode(body)
    if len(data) > LARGEST_ANSWER:
        words = f"The answer would have {len(data)} bytes, and may have {LARGEST_ANSWER}: set a smaller limit."
        return _refused(words, HTTPStatus.BAD_REQUEST)
    return Reply(head_of(data, status), cut(data))
