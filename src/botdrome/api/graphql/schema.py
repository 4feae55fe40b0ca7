"""The executable schema: the file, the games on offer, and what feeds the subscriptions."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from ariadne import EnumType, InterfaceType, ScalarType, SubscriptionType, UnionType, make_executable_schema
from graphql import GraphQLSchema

from botdrome.api.games import GAME_TYPES
from botdrome.api.graphql.filters import STATUSES
from botdrome.api.graphql.matches import LiveNode, MatchNode
from botdrome.api.graphql.reading import Info, Reading, storable
from botdrome.api.graphql.replies import Plan
from botdrome.api.rankings import Method

FILE = Path(__file__).with_name("schema.graphql")


def make_schema() -> GraphQLSchema:
    game_types = f"enum GameType {{ {' '.join(GAME_TYPES)} }}"
    return make_executable_schema(
        [FILE.read_text(), game_types],
        EnumType("GameType", GAME_TYPES),
        EnumType("RankingMethod", Method),
        EnumType("MatchStatus", STATUSES),
        ScalarType("JSON", serializer=lambda value: value),
        UnionType("Game", _type_of),
        InterfaceType("Match", _type_of),
        _subscriptions(),
        convert_names_case=True,
    )


def _type_of(node: MatchNode, *_: Any) -> str:
    return node.type_name


def _subscriptions() -> SubscriptionType:
    """Each has one event: what a subscription follows while it is planned, and then what it shows just now."""

    async def match(_: None, info: Info, id: str) -> AsyncGenerator[None, None]:
        info.context.plan = Plan(_key(info), storable(id))
        yield

    async def tables(_: None, info: Info, game_type: str | None = None) -> AsyncGenerator[list[LiveNode], None]:
        reading: Reading = info.context
        reading.plan = Plan(_key(info))
        found, total = await reading.live(game_type) if reading.begun else ([], 0)
        reading.truncate(info, found, total)
        yield [LiveNode(reading, table) for table in found]

    subscriptions = SubscriptionType()
    for name, source in (("match", match), ("liveTables", tables)):
        subscriptions.set_source(name, source)
        subscriptions.set_field(name, lambda event, *_, **__: event)
    return subscriptions


def _key(info: Info) -> str:
    return str(info.path.key)
