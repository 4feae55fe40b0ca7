"""Contests over REST."""

from collections import defaultdict
from math import comb
from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.arguments import game_called, iso
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import GameName, GameType, ListPage, Moment, RestRequest
from botdrome.api.results import Rank, RankingMethod, contest_ranks
from botdrome.api.server_calls import ReadContext
from botdrome.store.store import Meetings, Wanted
from botdrome.wire.battlebot.messages import game_type


class Contests(ListPage):
    contests: list[str]


class RestContestLine(Struct):
    game: GameName
    gameType: GameType  # noqa: N815
    name: str
    matches: int
    first: Moment
    last: Moment


class AllContests(ListPage):
    contests: list[RestContestLine]


class Contest(Struct):
    name: str
    game: GameName
    gameType: GameType  # noqa: N815
    matches: Annotated[int, Meta(description="How many have ended.")]
    running: int
    planned: Annotated[int, Meta(description="How many there will be, if no other bot joins.")]
    rankings: list[Rank]


class RestStandings(ListPage):
    bots: list[Rank]


class Crosstable(Struct):
    bots: Annotated[list[str], Meta(description="The best first; 100 at most.")]
    total: Annotated[int, Meta(description="How many bots there are.")]
    rows: Annotated[
        list[list[list[int] | None]],
        Meta(description="Wins, draws and losses of each against each; null: they have not met."),
    ]


MOST_ROWS = 100
"""Of a crosstable."""


async def contestlist(context: ReadContext, request: RestRequest) -> AllContests:
    wanted = request.text("game")
    game = None if wanted is None else game_called(wanted)
    order, falling = request.order("-last")
    found, total = await context.store.reports.contests(
        game,
        order,  # type: ignore[arg-type]
        falling,
        request.limit,
        request.offset,
    )
    lines = [
        RestContestLine(
            one.game, game_type(one.game), one.name, one.matches, iso(one.first), iso(one.last)
        )
        for one in found
    ]
    return AllContests(lines, **request.page(total))


async def contests(context: ReadContext, request: RestRequest) -> Contests:
    names = await context.store.contests(game_called(request.path("game")))
    return Contests(list(request.part(names)), **request.page(len(names)))


async def contest(context: ReadContext, request: RestRequest) -> Contest:
    game, name = await _known(context, request)
    rankings, progress = await contest_ranks(context.store, game, name, _method(request))
    ended, running = await context.store.meetings(game, name)
    planned = (
        _planned([ended, running], await context.contest_games())
        if progress is None
        else progress.expected
    )
    return Contest(
        name, game, game_type(game), sum(ended.values()), sum(running.values()), planned, rankings
    )


async def standings(context: ReadContext, request: RestRequest) -> RestStandings:
    game, name = await _known(context, request)
    lines, _ = await contest_ranks(context.store, game, name, _method(request))
    order, falling = request.order("place")
    lines.sort(key=lambda line: getattr(line, order), reverse=falling)
    return RestStandings(list(request.part(lines)), **request.page(len(lines)))


def _method(request: RestRequest) -> RankingMethod:
    return RankingMethod[(request.text("method") or "ambitious").upper()]


async def _known(context: ReadContext, request: RestRequest) -> tuple[str, str]:
    game, name = game_called(request.path("game")), request.path("name")
    if not await context.store.count(Wanted(game=game, contest=name)):
        raise Problem(f"there are no matches in a contest {name!r} of {game}", 404)
    return game, name


def _planned(met: list[Meetings], each_way: int) -> int:
    """Every group of players that fits a table plays `each_way` matches for each of its players."""
    players: defaultdict[int, set[str]] = defaultdict(set)
    for meetings in met:
        for names in meetings:
            players[len(names)].update(names)
    return sum(comb(len(names), seats) * seats * each_way for seats, names in players.items())


async def crosstable(context: ReadContext, request: RestRequest) -> Crosstable:
    game, name = await _known(context, request)
    rankings, _ = await contest_ranks(context.store, game, name)
    names = [rank.bot for rank in rankings[:MOST_ROWS]]
    scores = await context.store.reports.crosstable(game, name)
    rows = [
        [list(scores[one, two]) if (one, two) in scores else None for two in names] for one in names
    ]
    return Crosstable(names, len(rankings), rows)
