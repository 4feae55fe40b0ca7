"""The executable schema: `schema.graphql`, the games on offer, and the resolvers of the root
fields.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ariadne import (
    EnumType,
    InterfaceType,
    ScalarType,
    SubscriptionType,
    UnionType,
    make_executable_schema,
)
from graphql import GraphQLResolveInfo, GraphQLSchema
from msgspec import Struct
from msgspec.structs import asdict, replace

from botdrome.api.graphql.query import SubscriptionPlan
from botdrome.api.replays import PlayedStep, first_view, native_state, steps_of
from botdrome.api.requests import (
    GAME_TYPES,
    LONGEST_LIST,
    Problem,
    ReadContext,
    check_contest,
    check_owner,
    javascript,
    live,
    order_contest,
    original_limit,
    original_offset,
    storable,
)
from botdrome.api.rest.contests import (
    DocumentedContest,
    RankingMethod,
    contest_called,
    contest_ranks,
    given_document,
)
from botdrome.api.rest.matches import outcome_of, seats_of
from botdrome.games.game import View
from botdrome.server.arena import Arena
from botdrome.server.contests.contests import (
    ChangeContest,
    ContestAction,
    CreateContest,
    RerunOfContest,
    Withdrawal,
)
from botdrome.server.tables.audience import LiveTable
from botdrome.server.workers.jobs import ServerCaller, WorkersBusy
from botdrome.store.contest_journal import ContestReader
from botdrome.store.entries import BotEntry, MatchEntry, Status, Wanted
from botdrome.store.store import StoreReader, about_match

# The context of one query in a worker process: a cache of its reads, and the truncated lists.

T = TypeVar("T")
Info = GraphQLResolveInfo[Any]

MOST_GAMES = 10_000
"""Games that one query is given, in all its lists together."""


class QueryContext(ReadContext):
    def __init__(
        self, server: ServerCaller, store: StoreReader, token: str | None, planned: bool = False
    ) -> None:
        """`planned`: the query is a subscription that was planned before."""
        super().__init__(server, store)
        self.token, self.planned = token, planned
        self.plan: SubscriptionPlan | None = None
        self._games_left = MOST_GAMES
        self._bots: dict[str, asyncio.Future[BotEntry | None]] = {}
        self._live: dict[str | None, asyncio.Future[tuple[list[LiveTable], int]]] = {}
        self._truncated: list[dict[str, Any]] = []

    async def call_bot(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        """A call to the server that calls a bot: while the bot takes long to answer, the worker
        runs other jobs.
        """
        try:
            return await self.call(function, *args, waits=True)
        except WorkersBusy:
            raise Problem(
                "Too many bots are being called just now: try again in a moment, or over REST.", 503
            ) from None

    async def bot(self, name: str) -> BotEntry | None:
        if name not in self._bots:
            self._bots[name] = asyncio.ensure_future(self.store.bot(name))
        return await self._bots[name]

    async def holder(self, name: str) -> BotEntry:
        """The bot of that name, if its token came with the request."""
        bot = await self.call(Arena.holder, storable(name), self.token)
        if bot is None:
            raise Problem(
                "The password of the bot is needed, in the header Authorization: Bearer PASSWORD",
                403,
            )
        return bot

    async def live(self, game: str | None) -> tuple[list[LiveTable], int]:
        """The running tables, and how many there are."""
        if game not in self._live:
            self._live[game] = asyncio.ensure_future(self.call(live, game))
        return await self._live[game]

    # Lists that are cut short.

    def games_allowed(self, wanted: int | None) -> int:
        return self._games_left if wanted is None else min(wanted, self._games_left)

    def take_games(self, number: int) -> None:
        self._games_left -= number

    def part(
        self,
        info: Info,
        whole: Sequence[T],
        limit: int | None = None,
        offset: int | None = None,
        most: int = LONGEST_LIST,
    ) -> Sequence[T]:
        """Return the part of a list that is asked for, with at most `most` entries."""
        wanted = whole[original_offset(offset) :][: original_limit(limit)]
        self.truncate(info, wanted[:most], len(wanted))
        return wanted[:most]

    def truncate(self, info: Info, given: Sequence[T], total: int) -> None:
        """Note that the list should have `total` entries."""
        if total > len(given):
            self._truncated.append(
                {"path": info.path.as_list(), "returned": len(given), "total": total}
            )

    @property
    def extensions(self) -> dict[str, Any] | None:
        return {"truncated": self._truncated} if self._truncated else None


# Bots, matches and contests as GraphQL shows them. Each public name is a field of the schema.

Filters = dict[str, Any]

STATUSES: dict[str, Status] = {"RUNNING": "running", "ENDED": "ended", "ABORTED": "aborted"}


def wanted(game: str, filters: Filters) -> Wanted:
    contest = filters.get("contest")
    return Wanted(
        game=game,
        contest=None if contest is None else storable(contest),
        all_of=_names(filters.get("bots")),
        any_of=_names(filters.get("any_bots")),
        status=STATUSES.get(filters.get("status") or "ENDED"),
        limit=original_limit(filters.get("limit")),
        offset=original_offset(filters.get("offset")),
    )


def _names(names: list[str | None] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if not names or None in names:
        raise Problem("a list of bots must have names in it, and nothing else")
    return tuple(storable(name) for name in names if name is not None)


class BotNode:
    """A bot by its name. The other fields are looked up when a query asks for them."""

    def __init__(
        self, context: QueryContext, name: str, game: str, entry: BotEntry | None = None
    ) -> None:
        self._context, self._entry = context, entry
        self.name, self.game_type = name, game

    async def owner(self, info: Info) -> str:
        bot = await self._found()
        return bot.owner if bot else ""

    async def date_registered(self, info: Info) -> str | None:
        bot = await self._found()
        return javascript(bot.registered) if bot else None

    async def called(self, info: Info) -> bool:
        bot = await self._found()
        return bot is not None and bot.url is not None

    async def _found(self) -> BotEntry | None:
        return self._entry or await self._context.bot(self.name)


def bot_node(context: QueryContext, bot: BotEntry) -> BotNode:
    return BotNode(context, bot.name, bot.game, bot)


def bot_nodes(context: QueryContext, names: Sequence[str], game: str) -> list[BotNode]:
    return [BotNode(context, name, game) for name in names]


class ContestNode:
    def __init__(self, context: QueryContext, game: str, name: str) -> None:
        self._context = context
        self.game_type, self.name = game, name

    async def games(self, info: Info, filters: Filters | None = None) -> list["MatchNode"]:
        return await games(self._context, info, self.game_type, self._own(filters))

    async def games_count(self, info: Info, filters: Filters | None = None) -> int:
        return await games_count(self._context, self.game_type, self._own(filters))

    def _own(self, filters: Filters | None) -> Filters:
        return (filters or {}) | {"contest": self.name}

    async def rankings(
        self, info: Info, method: RankingMethod | None = None
    ) -> list[dict[str, Any]]:
        """Return the order of the standings.

        The score is in points of the method, since the original has whole numbers.
        """
        points = method or RankingMethod.AMBITIOUS
        ranks, _ = await contest_ranks(self._context.store, self.game_type, self.name, points)
        return [
            asdict(rank)
            | {
                "bot": BotNode(self._context, rank.bot, self.game_type),
                "score": points.points(rank.wins, rank.draws),
            }
            for rank in self._context.part(info, ranks)
        ]


class MatchNode:
    type_name = "AnyGame"

    def __init__(self, context: QueryContext, entry: MatchEntry) -> None:
        self._context, self._entry = context, entry
        self.id, self.game_type, self.status, self.options = (
            entry.id,
            entry.game,
            entry.status,
            entry.options,
        )
        self.bots = bot_nodes(context, entry.players, entry.game)
        self.contest = (
            None if entry.contest is None else ContestNode(context, entry.game, entry.contest)
        )
        self.start_time = javascript(entry.started)
        self.end_time = None if entry.ended is None else javascript(entry.ended)
        self.abort_reason = entry.reason or None

    def result(self, info: Info) -> dict[str, Any] | None:
        outcome = outcome_of(self._entry)
        if outcome is None:
            return None
        name = outcome.victor
        victor = None if name is None else BotNode(self._context, name, self.game_type)
        return {"victor": victor, "reason": outcome.reason}

    def seats(self, info: Info) -> list[dict[str, Any]]:
        return [asdict(seat) | {"bot": self.bots[seat.seat]} for seat in seats_of(self._entry)]

    async def state(self, info: Info) -> View | None:
        if self._entry.view is None and self._entry.status == "running":
            return (await self._context.call(Arena.look, self.id)).view
        return self._entry.view

    async def record(self, info: Info) -> str | None:
        record = await self._context.store.record(self.id)
        with about_match(self.id):
            return None if record is None else record.decode()

    async def turns(
        self, info: Info, limit: int | None = None, offset: int | None = None
    ) -> list[dict[str, Any]]:
        wanted = self._context.part(info, await self._turns(), limit, offset)
        return [self._step(turn) for turn in wanted]

    def _step(self, turn: PlayedStep) -> dict[str, Any]:
        moves = [{"bot": self.bots[player], "move": move} for player, move in turn.moves.items()]
        return {"step": turn.step, "time": self._time(turn), "moves": moves}

    async def _turns(self) -> list[PlayedStep]:
        record = await self._context.store.record(self.id)
        return [] if record is None else steps_of(self.id, record)

    def _time(self, turn: PlayedStep) -> str:
        return str(self._entry.started + turn.t)


class NoughtsAndCrossesNode(MatchNode):
    type_name = "NoughtsAndCrossesGame"

    async def board(self, info: Info) -> list[list[str]]:
        board: list[list[str]] = (await self._native(info))["board"]
        return board

    async def marks(self, info: Info) -> dict[str, BotNode]:
        marks = (await self._native(info))["marks"]
        return {
            mark.lower(): BotNode(self._context, name, self.game_type)
            for mark, name in marks.items()
        }

    async def _native(self, info: Info) -> dict[str, Any]:
        return native_state(self._entry, await self.state(info) or first_view(self._entry))

    async def turns(
        self, info: Info, limit: int | None = None, offset: int | None = None
    ) -> list[dict[str, Any]]:
        return [
            {
                "space": move["space"],
                "mark": move["mark"],
                "time": self._time(turn),
                "bot": self.bots[player],
            }
            for turn in await self._turns()
            for player, move in turn.moves.items()
        ]


NODES: dict[str, type[MatchNode]] = {"noughts-and-crosses": NoughtsAndCrossesNode}
"""Games with their own type in the schema."""


def match_node(context: QueryContext, entry: MatchEntry) -> MatchNode:
    return NODES.get(entry.game, MatchNode)(context, entry)


async def games(
    context: QueryContext, info: Info, game: str, filters: Filters | None
) -> list[MatchNode]:
    asked = wanted(game, filters or {})
    allowed = context.games_allowed(asked.limit)
    entries = await context.store.matches(replace(asked, limit=allowed)) if allowed else []
    context.take_games(len(entries))
    if allowed != asked.limit and len(entries) == allowed:
        left = await context.store.count(asked) - asked.offset
        context.truncate(info, entries, left if asked.limit is None else min(left, asked.limit))
    return [match_node(context, entry) for entry in entries]


async def games_count(context: QueryContext, game: str, filters: Filters | None) -> int:
    return await context.store.count(wanted(game, filters or {}))


class LiveNode:
    def __init__(self, context: QueryContext, table: LiveTable) -> None:
        self.id, self.game_type = table.id, table.game
        self.steps, self.spectators = table.steps, table.spectators
        self.bots = bot_nodes(context, table.players, table.game)
        self.contest = (
            None if table.contest is None else ContestNode(context, table.game, table.contest)
        )
        self.start_time = javascript(table.started)


MOST_CONTESTS = 20
"""Contests with a document in one answer, since each is computed from all its results."""
CreatedBot = dict[str, str | BotNode]


class Root:
    """The fields of Query and Mutation."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._call, self._call_bot, self._store = context.call, context.call_bot, context.store

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
        names = await self._store.contests(game_type)
        return [
            ContestNode(self._context, game_type, name)
            for name in self._context.part(info, names, limit, offset)
        ]

    async def documented_contest(self, info: Info, name: str) -> DocumentedContest:
        return await contest_called(self._context, storable(name))

    async def documented_contests(
        self, info: Info, limit: int | None = None, offset: int | None = None
    ) -> list[DocumentedContest]:
        names = list(await ContestReader(self._store).contests())[::-1]
        wanted = self._context.part(info, names, limit, offset, MOST_CONTESTS)
        return [await contest_called(self._context, name) for name in wanted]

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
        bot, token = await call(Arena.register, game_type, name, owner, url)
        return {"password": token, "bot": bot_node(self._context, bot)}

    async def move_bot(self, info: Info, name: str, url: str | None = None) -> BotNode:
        call, bot = self._call if url is None else self._call_bot, await self._context.holder(name)
        return bot_node(self._context, await call(Arena.move, bot, url))

    async def enter_contest(
        self, info: Info, contest: str, bot: str, password: str = ""
    ) -> ContestNode:
        check_contest(contest)
        entrant = await self._context.holder(bot)
        await self._call_bot(Arena.enter, entrant, contest, password)
        return ContestNode(self._context, entrant.game, contest)

    async def withdraw_from_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._context.holder(bot)
        await self._call(Arena.withdraw, entrant, contest)
        return ContestNode(self._context, entrant.game, contest)

    async def create_contest(
        self, info: Info, toml: str | None = None, document: dict[str, Any] | None = None
    ) -> DocumentedContest:
        given = given_document(toml, document)
        return await self._order(given.name, CreateContest(given), given.game)

    async def change_contest(
        self, info: Info, name: str, toml: str | None = None, document: dict[str, Any] | None = None
    ) -> DocumentedContest:
        return await self._order(name, ChangeContest(given_document(toml, document)))

    async def act_on_contest(self, info: Info, name: str, action: str) -> DocumentedContest:
        return await self._order(name, ContestAction(action.lower()))  # type: ignore[arg-type]

    async def rerun_contest(
        self, info: Info, name: str, bots: list[str] | None = None, failed: bool = False
    ) -> DocumentedContest:
        return await self._order(name, RerunOfContest(bots or [], failed))

    async def withdraw_bot(
        self, info: Info, contest: str, bot: str, reason: str = ""
    ) -> DocumentedContest:
        return await self._order(contest, Withdrawal(bot, reason))

    async def _order(self, name: str, verb: Struct, game: str = "") -> DocumentedContest:
        """Return the contest after an order of the operator."""
        await self._call(order_contest, self._context.token, name, verb, game)
        return await contest_called(self._context, name)

    async def rotate_token(self, info: Info, name: str) -> CreatedBot:
        bot, token = await self._call(Arena.rotate, await self._context.holder(name))
        return {"password": token, "bot": bot_node(self._context, bot)}

    async def revoke_token(self, info: Info, name: str) -> BotNode:
        return bot_node(
            self._context, await self._call(Arena.revoke, await self._context.holder(name))
        )


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
