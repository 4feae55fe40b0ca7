"""The cost of a query, computed before it is executed (see
docs/decisions/0026-graphql-is-answered-off-the-event-loop.md).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLCompositeType,
    GraphQLError,
    GraphQLField,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Visitor,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
    value_from_ast_untyped,
    visit,
)

from botdrome.api.arguments import LONGEST_LIST
from botdrome.api.live_tables import MOST_TABLES

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
