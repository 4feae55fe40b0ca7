"""The executable schema: the file, the games on offer, and what feeds the subscriptions."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
from anyio import CapacityLimiter
from ariadne import EnumType, InterfaceType, ScalarType, SubscriptionType, UnionType, make_executable_schema
from graphql import GraphQLSchema

from botdrome.api.games import GAME_TYPES
from botdrome.api.graphql.filters import STATUSES
from botdrome.api.graphql.matches import LiveNode, MatchNode
from botdrome.api.graphql.reading import Info, Reading, storable
from botdrome.api.live import live_changes, live_tables
from botdrome.api.rankings import Method
from botdrome.api.watching import Viewing

FILE = Path(__file__).with_name("schema.graphql")


def make_schema(replays: CapacityLimiter) -> GraphQLSchema:
    """`replays` bounds how many matches are played again at once for subscribers."""
    game_types = f"enum GameType {{ {' '.join(GAME_TYPES)} }}"
    return make_executable_schema(
        [FILE.read_text(), game_types],
        EnumType("GameType", GAME_TYPES),
        EnumType("RankingMethod", Method),
        EnumType("MatchStatus", STATUSES),
        ScalarType("JSON", serializer=lambda value: value),
        UnionType("Game", _type_of),
        InterfaceType("Match", _type_of),
        _subscriptions(replays),
        convert_names_case=True,
    )


def _type_of(node: MatchNode, *_: Any) -> str:
    return node.type_name


def _subscriptions(replays: CapacityLimiter) -> SubscriptionType:
    async def match(_: None, info: Info, id: str) -> AsyncGenerator[msgspec.Raw, None]:
        viewing = Viewing(info.context.arena, storable(id), replays)
        try:
            await viewing.enter()
            async with aclosing(viewing.messages()) as messages:
                async for message in messages:
                    yield msgspec.Raw(message)
        finally:
            viewing.leave()

    async def tables(_: None, info: Info, game_type: str | None = None) -> AsyncGenerator[list[LiveNode], None]:
        reading: Reading = info.context
        async with aclosing(live_changes(reading.arena.tables)) as changes:
            async for _change in changes:
                yield [LiveNode(reading, table) for table in live_tables(reading.arena.tables, game_type)]

    subscriptions = SubscriptionType()
    for name, source in (("match", match), ("liveTables", tables)):
        subscriptions.set_source(name, source)
        subscriptions.set_field(name, lambda event, *_, **__: event)
    return subscriptions
