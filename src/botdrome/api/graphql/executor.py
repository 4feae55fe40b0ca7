"""The query executor: reads, validates and executes queries.

Its functions are jobs of the worker processes.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import cache, lru_cache
from http import HTTPStatus
from inspect import isawaitable
from typing import Any

import msgspec
import structlog
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

from botdrome.api.bodies import JSON, ResponseHead, pieces_of
from botdrome.api.graphql.context import QueryContext
from botdrome.api.graphql.cost import MOST_TOKENS, QueryCost
from botdrome.api.graphql.query import (
    HttpQuery,
    Query,
    Subscription,
    error_body,
    query_in_message,
    query_in_request,
)
from botdrome.api.graphql.schema import Root, make_schema
from botdrome.api.problems import Problem, known_problem
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.store.opening import reader
from botdrome.store.store import Source

log = structlog.get_logger()

REMEMBERED = 200
"""Short queries that are parsed and validated once, since that is most of the work."""
SHORT = 4_000
LARGEST_ANSWER = 64 << 20
"""Bytes."""
UNREADABLE = "A value in the query cannot be read."

Errors = list[dict[str, Any]]
schema = cache(make_schema)


class InvalidQuery(Exception):
    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__(*errors)
        self.errors = errors


class ValidQuery(Struct, frozen=True):
    query: Query
    document: DocumentNode
    kind: OperationType


# Jobs.


async def answer(server: ServerCaller, source: Source, request: HttpQuery) -> PiecewiseResult:
    """Answer a request by HTTP."""
    try:
        valid = _validated(query_in_request(request))
    except Problem as problem:
        return _refused(problem.words, problem.status)
    except InvalidQuery as invalid:
        return _encoded(
            {"errors": [_shown(error) for error in invalid.errors]}, HTTPStatus.BAD_REQUEST
        )
    if request.by_get and valid.kind != OperationType.QUERY:
        words = f"Can only perform a {valid.kind.value} operation from a POST request."
        return _refused(words, HTTPStatus.METHOD_NOT_ALLOWED, "POST")
    if valid.kind == OperationType.SUBSCRIPTION:
        return _refused("Subscriptions are for WebSockets.", HTTPStatus.BAD_REQUEST)
    return await _executed(QueryContext(server, await reader(source), request.token), valid)


async def begin(
    server: ServerCaller, source: Source, payload: bytes, token: str | None
) -> PiecewiseResult | Subscription | Errors:
    """Answer a message over a WebSocket: with a result, the plan of a subscription, or errors."""
    try:
        valid = _validated(query_in_message(payload))
        context = QueryContext(server, await reader(source), token)
        if valid.kind != OperationType.SUBSCRIPTION:
            return await _executed(context, valid)
        await _first_result(context, valid)
    except Problem as problem:
        return [{"message": problem.words}]
    except InvalidQuery as invalid:
        return [_shown(error) for error in invalid.errors]
    assert context.plan is not None
    query = valid.query
    return Subscription(
        context.plan, msgspec.json.encode((query.text, query.operation, query.variables))
    )


async def tables(server: ServerCaller, source: Source, payload: bytes) -> bytes:
    """The present answer to a subscription to the running tables."""
    context = QueryContext(server, await reader(source), None, planned=True)
    result = await _first_result(context, _validated(query_in_message(payload)))
    return msgspec.json.encode(_answer_body(result, context.extensions))


# Validation.


def _validated(query: Query) -> ValidQuery:
    try:
        document = (_remembered if len(query.text) <= SHORT else _parsed)(query.text)
        operation = get_operation_ast(document, query.operation)
        if operation is None:
            raise GraphQLError("Must provide the name of one of the operations in the query.")
        QueryCost(schema(), document, query.variables).check(operation)
    except GraphQLError as error:
        raise InvalidQuery([error]) from None
    return ValidQuery(query, document, operation.operation)


def _parsed(text: str) -> DocumentNode:
    document = parse(text, max_tokens=MOST_TOKENS)
    errors = validate(schema(), document)
    if errors:
        raise InvalidQuery(
            [
                error if _is_graphqls(error) else GraphQLError(UNREADABLE, error.nodes)
                for error in errors
            ]
        )
    return document


_remembered = lru_cache(REMEMBERED)(_parsed)


# Execution.


async def _executed(context: QueryContext, valid: ValidQuery) -> PiecewiseResult:
    query = valid.query
    result = execute(
        schema(), valid.document, Root(context), context, query.variables, query.operation
    )
    return _encoded(
        _answer_body(await result if isawaitable(result) else result, context.extensions)
    )


async def _first_result(context: QueryContext, valid: ValidQuery) -> ExecutionResult:
    """Of a subscription."""
    query = valid.query
    stream = subscribe(schema(), valid.document, None, context, query.variables, query.operation)
    source: Any = await stream if isawaitable(stream) else stream
    if isinstance(source, ExecutionResult):
        raise InvalidQuery(source.errors or ())
    results: AsyncGenerator[ExecutionResult, None] = source
    async with aclosing(results):
        return await anext(results)


# Answers.


def _answer_body(result: ExecutionResult, extensions: dict[str, Any] | None) -> dict[str, Any]:
    """Without data if the execution did not begin."""
    more: dict[str, Any] = {"extensions": extensions} if extensions else {}
    if not result.errors:
        return {"data": result.data} | more
    errors = {"errors": [_shown(error) for error in result.errors]}
    begun = result.data is not None or any(error.path for error in result.errors)
    return errors | ({"data": result.data} | more if begun else {})


def _shown(error: GraphQLError) -> dict[str, Any]:
    """An error as the client sees it: details of an error in the server are for the log."""
    fields: dict[str, Any] = dict(error.formatted)
    if _is_graphqls(error):
        return fields
    problem = known_problem(error.original_error)
    if problem is None:
        log.error("a query failed", path=error.path, exc_info=error.original_error)
    return fields | {"message": problem.words if problem else "Something went wrong in the server."}


def _is_graphqls(error: GraphQLError) -> bool:
    return error.original_error is None or isinstance(error.original_error, GraphQLError)


def _refused(words: str, status: int, allow: str = "") -> PiecewiseResult:
    body = error_body(words)
    return PiecewiseResult(
        ResponseHead(len(body), status, JSON, {"allow": allow} if allow else {}), [body]
    )


def _encoded(body: dict[str, Any], status: int = HTTPStatus.OK) -> PiecewiseResult:
    data = msgspec.json.encode(body)
    if len(data) > LARGEST_ANSWER:
        words = (
            f"The answer would have {len(data)} bytes, and may have {LARGEST_ANSWER}: set a "
            "smaller limit."
        )
        return _refused(words, HTTPStatus.BAD_REQUEST)
    return PiecewiseResult(ResponseHead(len(data), status, JSON), pieces_of(data))
