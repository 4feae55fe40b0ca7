"""The query executor: reads, validates and executes queries.

Its functions are jobs of the worker processes.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import cache, lru_cache
from http import HTTPStatus
from inspect import isawaitable
from typing import Any, NamedTuple

import msgspec
import structlog
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLCompositeType,
    GraphQLError,
    GraphQLField,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Visitor,
    execute,
    get_named_type,
    get_nullable_type,
    get_operation_ast,
    is_composite_type,
    is_list_type,
    parse,
    subscribe,
    validate,
    value_from_ast_untyped,
    visit,
)
from msgspec import Struct

from botdrome.api.graphql.query import (
    JSON_UTF8,
    HttpQuery,
    Query,
    Subscription,
    query_in_message,
    query_in_request,
)
from botdrome.api.graphql.schema import QueryContext, Root, make_schema
from botdrome.api.live_tables import MOST_TABLES
from botdrome.api.requests import (
    LONGEST_LIST,
    Problem,
    in_pieces,
    known_problem,
)
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.store.entries import Source
from botdrome.store.store import reader

# The cost of a query, computed before it is executed (see docs/decisions/0026-graphql-is-answered-
# off-the-event-loop.md).

MOST_TOKENS = 2_000
DEEPEST = 12
MOST_ALIASES = 50
HIGHEST_COST = 250_000
"""Every field costs 1 for each entry of the lists that it is in. Queries of the original need no
limits: all fields of the games, and the games of all contests.
"""

SIZES = {
    "Query.liveTables": MOST_TABLES,
    "Query.contests": 100,
    "Contest.rankings": 100,
    "NoughtsAndCrossesGame.turns": 9,
    "Subscription.liveTables": MOST_TABLES,
    "__Schema.types": 40,
    "__Schema.directives": 5,
    "__Type.fields": 8,
    "__Type.inputFields": 2,
    "__Type.enumValues": 2,
    "__Type.interfaces": 1,
    "__Type.possibleTypes": 1,
    "__Field.args": 1,
    "__Directive.args": 2,
}
"""The assumed lengths of lists without a limit."""
A_FEW = 4
LIMITED = {"Query.bots", "Query.games", "Contest.games", "AnyGame.turns"}
"""Lists with a limit. Without one, or above 1000, they count as 1000 entries."""
FIELD_COSTS = {
    "Query.bots": 500,
    "Query.botsCount": 500,
    "Query.contests": 500,
    "Contest.rankings": 100,
    "games": 50,
    "gamesCount": 50,
    "AnyGame.turns": 500,
    "NoughtsAndCrossesGame.turns": 10,
    "record": 500,
    "Mutation.registerBot": 1_000,
    "Mutation.rotateToken": 1_000,
    "Mutation.revokeToken": 1_000,
}
"""The costs of fields that take work to find."""


class Weight(NamedTuple):
    cost: int
    depth: int


class QueryCost:
    """The cost and depth of the operations in one valid document."""

    def __init__(
        self, schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any] | None
    ) -> None:
        self._schema, self._document, self._variables = schema, document, dict(variables or {})
        self._fragments = {
            node.name.value: node
            for node in document.definitions
            if isinstance(node, FragmentDefinitionNode)
        }
        self._known: dict[str, Weight] = {}

    def check(self, operation: OperationDefinitionNode) -> None:
        """Raise GraphQLError if the operation is too expensive or too deep."""
        aliases = _aliases(self._document)
        if aliases > MOST_ALIASES:
            raise GraphQLError(f"The query has {aliases} aliases; {MOST_ALIASES} are allowed.")
        root = self._schema.get_root_type(operation.operation)
        assert root is not None
        weight = self._selections(operation.selection_set, root)
        if weight.depth > DEEPEST:
            raise GraphQLError(f"The query is nested {weight.depth} deep; {DEEPEST} is allowed.")
        if weight.cost > HIGHEST_COST:
            words = (
                f"The query may cost {weight.cost}; {HIGHEST_COST} is allowed. Ask for fewer "
                "fields, or use limits."
            )
            raise GraphQLError(words)

    def _selections(self, selections: SelectionSetNode, parent: GraphQLCompositeType) -> Weight:
        return _sum(self._selection(node, parent) for node in selections.selections)

    def _selection(self, node: Any, parent: GraphQLCompositeType) -> Weight:
        if isinstance(node, FragmentSpreadNode):
            return self._fragment(node.name.value)
        if isinstance(node, InlineFragmentNode):
            return self._selections(node.selection_set, self._narrowed(node, parent))
        field = self._schema.get_field(parent, node.name.value)
        assert field is not None
        return self._field(node, field, f"{parent.name}.{node.name.value}")

    def _fragment(self, name: str) -> Weight:
        if name not in self._known:
            node = self._fragments[name]
            self._known[name] = self._selections(node.selection_set, self._narrowed(node, None))
        return self._known[name]

    def _narrowed(
        self, node: InlineFragmentNode | FragmentDefinitionNode, parent: GraphQLCompositeType | None
    ) -> Any:
        condition = node.type_condition
        return self._schema.get_type(condition.name.value) if condition else parent

    def _field(self, node: FieldNode, field: GraphQLField, place: str) -> Weight:
        cost = FIELD_COSTS.get(place, FIELD_COSTS.get(node.name.value, 1))
        kind = get_named_type(field.type)
        if node.selection_set is None or not is_composite_type(kind):
            return Weight(cost, 1)
        inside = self._selections(node.selection_set, kind)
        deeper = 0 if place.startswith("__") else 1
        return Weight(cost + self._size(node, field, place) * inside.cost, inside.depth + deeper)

    def _size(self, node: FieldNode, field: GraphQLField, place: str) -> int:
        if place in LIMITED:
            return self._limit(node)
        if place in SIZES:
            return SIZES[place]
        return A_FEW if is_list_type(get_nullable_type(field.type)) else 1

    def _limit(self, node: FieldNode) -> int:
        arguments = {
            argument.name.value: value_from_ast_untyped(argument.value, self._variables)
            for argument in node.arguments or ()
        }
        filters = arguments.get("filters")
        limit = (filters if isinstance(filters, dict) else arguments).get("limit")
        return (
            min(abs(limit) or LONGEST_LIST, LONGEST_LIST)
            if isinstance(limit, int)
            else LONGEST_LIST
        )


def _sum(weights: Iterable[Weight]) -> Weight:
    cost = depth = 0
    for weight in weights:
        cost, depth = cost + weight.cost, max(depth, weight.depth)
    return Weight(cost, depth)


def _aliases(document: DocumentNode) -> int:
    class Count(Visitor):
        found = 0

        def enter_field(self, node: FieldNode, *_: Any) -> None:
            self.found += node.alias is not None

    count = Count()
    visit(document, count)
    return count.found


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
        self.shown = [_shown(error) for error in errors]


class ValidQuery(Struct, frozen=True):
    query: Query
    document: DocumentNode
    kind: OperationType


# Jobs.


async def answer(server: ServerCaller, source: Source, request: HttpQuery) -> PiecewiseResult:
    """Answer a request by HTTP."""
    try:
        valid = _validated(query_in_request(request))
    except InvalidQuery as invalid:
        return _encoded({"errors": invalid.shown}, HTTPStatus.BAD_REQUEST)
    if request.by_get and valid.kind != OperationType.QUERY:
        words = f"Can only perform a {valid.kind.value} operation from a POST request."
        raise Problem(words, HTTPStatus.METHOD_NOT_ALLOWED, {"allow": "POST"})
    if valid.kind == OperationType.SUBSCRIPTION:
        raise Problem("Subscriptions are for WebSockets.")
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
    except InvalidQuery as invalid:
        return invalid.shown
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


def _encoded(body: dict[str, Any], status: int = HTTPStatus.OK) -> PiecewiseResult:
    data = msgspec.json.encode(body)
    if len(data) > LARGEST_ANSWER:
        words = (
            f"The answer would have {len(data)} bytes, and may have {LARGEST_ANSWER}: set a "
            "smaller limit."
        )
        return _encoded({"errors": [{"message": words}]}, HTTPStatus.BAD_REQUEST)
    return in_pieces(data, status, JSON_UTF8)
