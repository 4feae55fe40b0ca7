"""Matches and the contests that they belong to, as GraphQL shows them. Each public name is a field of the schema."""

from typing import Any

from msgspec.structs import replace

from botdrome.api.dates import javascript
from botdrome.api.graphql.bots import BotNode, bot_nodes
from botdrome.api.graphql.filters import Filters, wanted
from botdrome.api.graphql.reading import Info, Reading
from botdrome.api.outcomes import first_view, native_state
from botdrome.api.paging import LONGEST_LIST, original_limit, original_offset
from botdrome.api.rankings import Method, ranked
from botdrome.api.replays import Turn, turns
from botdrome.games.game import View
from botdrome.server.arena import LiveTable
from botdrome.store.store import MatchEntry


class ContestNode:
    def __init__(self, reading: Reading, game: str, name: str) -> None:
        self._reading = reading
        self.game_type, self.name = game, name

    async def games(self, info: Info, filters: Filters | None = None) -> list["MatchNode"]:
        return await games(self._reading, info, self.game_type, self._own(filters))

    async def games_count(self, info: Info, filters: Filters | None = None) -> int:
        return await games_count(self._reading, self.game_type, self._own(filters))

    def _own(self, filters: Filters | None) -> Filters:
        return (filters or {}) | {"contest": self.name}

    async def rankings(self, info: Info, method: Method | None = None) -> list[dict[str, Any]]:
        ranks = ranked(await self._reading.store.contest_lines(self.game_type, self.name), method or Method.AMBITIOUS)
        self._reading.truncate(info, ranks[:LONGEST_LIST], len(ranks))
        return [
            {
                "bot": BotNode(self._reading, rank.bot, self.game_type),
                "wins": rank.wins,
                "draws": rank.draws,
                "losses": rank.losses,
                "played": rank.played,
                "score": rank.score,
            }
            for rank in ranks[:LONGEST_LIST]
        ]


class MatchNode:
    type_name = "AnyGame"

    def __init__(self, reading: Reading, entry: MatchEntry) -> None:
        self._reading, self._entry = reading, entry
        self.id, self.game_type, self.status, self.options = entry.id, entry.game, entry.status, entry.options
        self.bots = bot_nodes(reading, entry.players, entry.game)
        self.contest = None if entry.contest is None else ContestNode(reading, entry.game, entry.contest)
        self.start_time = javascript(entry.started)
        self.end_time = None if entry.ended is None else javascript(entry.ended)
        self.abort_reason = entry.reason or None

    def result(self, info: Info) -> dict[str, Any] | None:
        entry = self._entry
        if entry.result is None:
            return None
        result = native_state(entry, entry.view or first_view(entry))["result"]
        victor = None if result["victor"] is None else BotNode(self._reading, result["victor"], entry.game)
        return {"victor": victor, "reason": result["reason"]}

    def seats(self, info: Info) -> list[dict[str, Any]]:
        result = self._entry.result
        seats: list[dict[str, Any]] = [{"seat": seat, "bot": bot} for seat, bot in enumerate(self.bots)]
        if result is not None:
            for seat, place, score, cause in zip(seats, result.places, result.scores, result.causes, strict=True):
                seat |= {"place": place, "score": score, "cause": cause}
        return seats

    async def state(self, info: Info) -> View | None:
        if self._entry.view is None and self._entry.status == "running":
            return await self._reading.present_view(self.id)
        return self._entry.view

    async def record(self, info: Info) -> str | None:
        record = await self._reading.store.record(self.id)
        return None if record is None else record.decode()

    async def turns(self, info: Info, limit: int | None = None, offset: int | None = None) -> list[dict[str, Any]]:
        wanted = (await self._turns())[original_offset(offset) :][: original_limit(limit)]
        self._reading.truncate(info, wanted[:LONGEST_LIST], len(wanted))
        return [self._step(turn) for turn in wanted[:LONGEST_LIST]]

    def _step(self, turn: Turn) -> dict[str, Any]:
        moves = [{"bot": self.bots[player], "move": move} for player, move in turn.moves.items()]
        return {"step": turn.step, "time": self._time(turn), "moves": moves}

    async def _turns(self) -> list[Turn]:
        record = await self._reading.store.record(self.id)
        return [] if record is None else turns(record)

    def _time(self, turn: Turn) -> str:
        return str(self._entry.started + turn.t)


class NoughtsAndCrossesNode(MatchNode):
    type_name = "NoughtsAndCrossesGame"

    async def board(self, info: Info) -> list[list[str]]:
        board: list[list[str]] = (await self._native(info))["board"]
        return board

    async def marks(self, info: Info) -> dict[str, BotNode]:
        marks = (await self._native(info))["marks"]
        return {mark.lower(): BotNode(self._reading, name, self.game_type) for mark, name in marks.items()}

    async def _native(self, info: Info) -> dict[str, Any]:
        return native_state(self._entry, await self.state(info) or first_view(self._entry))

    async def turns(self, info: Info, limit: int | None = None, offset: int | None = None) -> list[dict[str, Any]]:
        return [
            {"space": move["space"], "mark": move["mark"], "time": self._time(turn), "bot": self.bots[player]}
            for turn in await self._turns()
            for player, move in turn.moves.items()
        ]


NODES: dict[str, type[MatchNode]] = {"noughts-and-crosses": NoughtsAndCrossesNode}
"""Games with a type of their own."""


def match_node(reading: Reading, entry: MatchEntry) -> MatchNode:
    return NODES.get(entry.game, MatchNode)(reading, entry)


async def games(reading: Reading, info: Info, game: str, filters: Filters | None) -> list[MatchNode]:
    asked = wanted(game, filters or {})
    allowed = reading.games_allowed(asked.limit)
    entries = await reading.store.matches(replace(asked, limit=allowed)) if allowed else []
    reading.take_games(len(entries))
    if allowed != asked.limit and len(entries) == allowed:
        left = await reading.store.count(asked) - asked.offset
        reading.truncate(info, entries, left if asked.limit is None else min(left, asked.limit))
    return [match_node(reading, entry) for entry in entries]


async def games_count(reading: Reading, game: str, filters: Filters | None) -> int:
    return await reading.store.count(wanted(game, filters or {}))


class LiveNode:
    def __init__(self, reading: Reading, table: LiveTable) -> None:
        self.id, self.game_type = table.id, table.game
        self.steps, self.spectators = table.steps, table.spectators
        self.bots = bot_nodes(reading, table.players, table.game)
        self.contest = None if table.contest is None else ContestNode(reading, table.game, table.contest)
        self.start_time = javascript(table.started)
