"""Bots, matches and contests as GraphQL shows them. Each public name is a field of the schema."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from botdrome.api.arguments import (
    LONGEST_LIST,
    javascript,
    original_limit,
    original_offset,
    storable,
)
from botdrome.api.graphql.context import Info, QueryContext
from botdrome.api.problems import Problem
from botdrome.api.replays import PlayedStep, steps_of
from botdrome.api.results import RankingMethod, contest_ranks, first_view, native_state
from botdrome.games.game import View
from botdrome.server.arena import LiveTable
from botdrome.store import damage
from botdrome.store.store import BotEntry, MatchEntry, Status, Wanted

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
        self._context.truncate(info, ranks[:LONGEST_LIST], len(ranks))
        return [
            {
                "bot": BotNode(self._context, rank.bot, self.game_type),
                "wins": rank.wins,
                "draws": rank.draws,
                "losses": rank.losses,
                "played": rank.played,
                "score": points.points(rank.wins, rank.draws),
            }
            for rank in ranks[:LONGEST_LIST]
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
        entry = self._entry
        if entry.result is None:
            return None
        result = native_state(entry, entry.view or first_view(entry))["result"]
        victor = (
            None
            if result["victor"] is None
            else BotNode(self._context, result["victor"], entry.game)
        )
        return {"victor": victor, "reason": result["reason"]}

    def seats(self, info: Info) -> list[dict[str, Any]]:
        result, version = self._entry.result, self._entry.version
        seats: list[dict[str, Any]]
        seats = [
            {"seat": seat, "bot": bot, "version": version(seat) or None}
            for seat, bot in enumerate(self.bots)
        ]
        if result is not None:
            for seat, place, score, cause in zip(
                seats, result.places, result.scores, result.causes, strict=True
            ):
                seat |= {"place": place, "score": score, "cause": cause}
        return seats

    async def state(self, info: Info) -> View | None:
        if self._entry.view is None and self._entry.status == "running":
            return await self._context.present_view(self.id)
        return self._entry.view

    async def record(self, info: Info) -> str | None:
        record = await self._context.store.record(self.id)
        with damage.of_match(self.id):
            return None if record is None else record.decode()

    async def turns(
        self, info: Info, limit: int | None = None, offset: int | None = None
    ) -> list[dict[str, Any]]:
        wanted = (await self._turns())[original_offset(offset) :][: original_limit(limit)]
        self._context.truncate(info, wanted[:LONGEST_LIST], len(wanted))
        return [self._step(turn) for turn in wanted[:LONGEST_LIST]]

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
