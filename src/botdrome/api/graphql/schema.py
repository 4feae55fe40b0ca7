"""The executable schema: `schema.graphql`, the games on offer, and the resolvers of the root
fields.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from ariadne import (
    EnumType,
    InterfaceType,
    ScalarType,
    SubscriptionType,
    UnionType,
    make_executable_schema,
)
from graphql import GraphQLSchema

from botdrome.api.arguments import (
    GAME_TYPES,
    LONGEST_LIST,
    check_contest,
    check_owner,
    original_limit,
    original_offset,
    storable,
)
from botdrome.api.graphql.context import Info, QueryContext
from botdrome.api.graphql.nodes import (
    STATUSES,
    BotNode,
    ContestNode,
    Filters,
    LiveNode,
    MatchNode,
    bot_node,
    games,
    games_count,
    match_node,
)
from botdrome.api.graphql.query import SubscriptionPlan
from botdrome.api.rest.contest_documents import DocumentedContest, contest_called, given_document
from botdrome.api.results import RankingMethod
from botdrome.store.contest_journal import ContestJournal

MOST_CONTESTS = 20
"""Contests with a document in one answer, since each is computed from all its results."""
CreatedBot = dict[str, str | BotNode]


class Root:
    """The fields of Query and Mutation."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._call, self._call_bot, self._store = (
            context.server.call,
            context.call_bot,
            context.store,
        )

    # Queries.

    async def bots(
        self,
        info: Info,
        game_type: str,
        owner: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[BotNode]:
        owner = None if owner is None else storable(owner)
        start, most = original_offset(offset), original_limit(limit)
        entries = await self._store.bots(
            game_type, owner, min(most or LONGEST_LIST, LONGEST_LIST), start
        )
        if most is None or most > LONGEST_LIST:
            left = await self._store.count_bots(game_type, owner) - start
            self._context.truncate(info, entries, min(left, most or left))
        return [bot_node(self._context, bot) for bot in entries]

    async def bots_count(self, info: Info, game_type: str, owner: str | None = None) -> int:
        return await self._store.count_bots(game_type, None if owner is None else storable(owner))

    def contest(self, info: Info, game_type: str, name: str) -> ContestNode:
        return ContestNode(self._context, game_type, storable(name))

    async def contests(
        self, info: Info, game_type: str, limit: int | None = None, offset: int | None = None
    ) -> list[ContestNode]:
        names = (await self._store.contests(game_type))[original_offset(offset) :][
            : original_limit(limit)
        ]
        self._context.truncate(info, names[:LONGEST_LIST], len(names))
        return [ContestNode(self._context, game_type, name) for name in names[:LONGEST_LIST]]

    async def documented_contest(self, info: Info, name: str) -> DocumentedContest:
        return await contest_called(self._context, storable(name))

    async def documented_contests(
        self, info: Info, limit: int | None = None, offset: int | None = None
    ) -> list[DocumentedContest]:
        names = list(await ContestJournal(self._store).contests())[::-1][original_offset(offset) :][
            : original_limit(limit)
        ]
        self._context.truncate(info, names[:MOST_CONTESTS], len(names))
        return [await contest_called(self._context, name) for name in names[:MOST_CONTESTS]]

    async def games(
        self, info: Info, game_type: str, filters: Filters | None = None
    ) -> list[MatchNode]:
        return await games(self._context, info, game_type, filters)

    async def games_count(self, info: Info, game_type: str, filters: Filters | None = None) -> int:
        return await games_count(self._context, game_type, filters)

    async def game(self, info: Info, game_type: str, id: str) -> MatchNode | None:
        entry = await self._store.match(storable(id))
        return match_node(self._context, entry) if entry and entry.game == game_type else None

    async def live_tables(self, info: Info, game_type: str | None = None) -> list[LiveNode]:
        tables, total = await self._context.live(game_type)
        self._context.truncate(info, tables, total)
        return [LiveNode(self._context, table) for table in tables]

    # Mutations.

    async def register_bot(
        self, info: Info, name: str, owner: str, game_type: str, url: str | None = None
    ) -> CreatedBot:
        check_owner(owner)
        call = self._call if url is None else self._call_bot
        bot, token = await call("register", game_type, name, owner, url)
        return {"password": token, "bot": bot_node(self._context, bot)}

    async def move_bot(self, info: Info, name: str, url: str | None = None) -> BotNode:
        call, bot = self._call if url is None else self._call_bot, await self._context.holder(name)
        return bot_node(self._context, await call("move", bot, url))

    async def enter_contest(
        self, info: Info, contest: str, bot: str, password: str = ""
    ) -> ContestNode:
        check_contest(contest)
        entrant = await self._context.holder(bot)
        await self._call_bot("enter", entrant, contest, password)
        return ContestNode(self._context, entrant.game, contest)

    async def withdraw_from_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._context.holder(bot)
        await self._call("withdraw", entrant, contest)
        return ContestNode(self._context, entrant.game, contest)

    async def create_contest(
        self, info: Info, toml: str | None = None, document: dict[str, Any] | None = None
    ) -> DocumentedContest:
        given = given_document(toml, document)
        await self._call("create_contest", self._context.token, given)
        return await contest_called(self._context, given.name)

    async def change_contest(
        self, info: Info, name: str, toml: str | None = None, document: dict[str, Any] | None = None
    ) -> DocumentedContest:
        await self._call(
            "change_contest", self._context.token, name, given_document(toml, document)
        )
        return await contest_called(self._context, name)

    async def act_on_contest(self, info: Info, name: str, action: str) -> DocumentedContest:
        await self._call("act_on_contest", self._context.token, name, action.lower())
        return await contest_called(self._context, name)

    async def rerun_contest(
        self, info: Info, name: str, bots: list[str] | None = None, failed: bool = False
    ) -> DocumentedContest:
        await self._call("rerun_contest", self._context.token, name, bots or [], failed)
        return await contest_called(self._context, name)

    async def withdraw_bot(
        self, info: Info, contest: str, bot: str, reason: str = ""
    ) -> DocumentedContest:
        await self._call("withdraw_bot", self._context.token, contest, bot, reason)
        return await contest_called(self._context, contest)

    async def rotate_token(self, info: Info, name: str) -> CreatedBot:
        bot, token = await self._call("rotate", await self._context.holder(name))
        return {"password": token, "bot": bot_node(self._context, bot)}

    async def revoke_token(self, info: Info, name: str) -> BotNode:
        return bot_node(self._context, await self._call("revoke", await self._context.holder(name)))


FILE = Path(__file__).with_name("schema.graphql")


def make_schema() -> GraphQLSchema:
    game_types = f"enum GameType {{ {' '.join(GAME_TYPES)} }}"
    return make_executable_schema(
        [FILE.read_text(), game_types],
        EnumType("GameType", GAME_TYPES),
        EnumType("RankingMethod", RankingMethod),
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
    """Each yields once: nothing while the subscription is planned, then its present result."""

    async def match(_: None, info: Info, id: str) -> AsyncGenerator[None, None]:
        info.context.plan = SubscriptionPlan(_key(info), storable(id))
        yield

    async def tables(
        _: None, info: Info, game_type: str | None = None
    ) -> AsyncGenerator[list[LiveNode], None]:
        context: QueryContext = info.context
        context.plan = SubscriptionPlan(_key(info))
        found, total = await context.live(game_type) if context.planned else ([], 0)
        context.truncate(info, found, total)
        yield [LiveNode(context, table) for table in found]

    subscriptions = SubscriptionType()
    for name, source in (("match", match), ("liveTables", tables)):
        subscriptions.set_source(name, source)
        subscriptions.set_field(name, lambda event, *_, **__: event)
    return subscriptions


def _key(info: Info) -> str:
    return str(info.path.key)
