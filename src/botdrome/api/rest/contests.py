"""Contests over REST."""

from collections import defaultdict
from math import comb

import msgspec

from botdrome.api.dates import iso
from botdrome.api.games import game_called
from botdrome.api.problems import Problem
from botdrome.api.rankings import Method, ranked
from botdrome.api.rest.answers import Contests
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.api.rest.reports import AllContests, Contest, ContestLine, Crosstable, Standing, Standings
from botdrome.store.store import Meetings, Wanted
from botdrome.wire.battlebot.messages import game_type

MOST_ROWS = 100
"""Of a crosstable."""


async def contestlist(reach: Reach, asked: Asked) -> AllContests:
    wanted = asked.text("game")
    game = None if wanted is None else game_called(wanted)
    order, falling = asked.order("-last")
    found, total = await reach.store.reports.contests(game, order, falling, asked.limit, asked.offset)  # type: ignore[arg-type]
    lines = [ContestLine(one.game, game_type(one.game), one.name, one.matches, iso(one.first), iso(one.last)) for one in found]
    return AllContests(lines, total, asked.limit, asked.offset)


async def contests(reach: Reach, asked: Asked) -> Contests:
    names = await reach.store.contests(game_called(asked.path("game")))
    return Contests(names[asked.offset : asked.offset + asked.limit], len(names), asked.limit, asked.offset)


async def contest(reach: Reach, asked: Asked) -> Contest:
    game, name = await _known(reach, asked)
    method = Method[(asked.text("method") or "ambitious").upper()]
    rankings = ranked(await reach.store.contest_lines(game, name), method)
    ended, running = await reach.store.meetings(game, name)
    planned = _planned([ended, running], await reach.contest_games())
    return Contest(name, game, game_type(game), sum(ended.values()), sum(running.values()), planned, rankings)


async def standings(reach: Reach, asked: Asked) -> Standings:
    game, name = await _known(reach, asked)
    method = Method[(asked.text("method") or "ambitious").upper()]
    ranks = ranked(await reach.store.contest_lines(game, name), method)
    lines = [Standing(place, **msgspec.structs.asdict(rank)) for place, rank in enumerate(ranks, 1)]
    order, falling = asked.order("place")
    lines.sort(key=lambda line: getattr(line, order), reverse=falling)
    return Standings(lines[asked.offset : asked.offset + asked.limit], len(lines), asked.limit, asked.offset)


async def _known(reach: Reach, asked: Asked) -> tuple[str, str]:
    game, name = game_called(asked.path("game")), asked.path("name")
    if not await reach.store.count(Wanted(game=game, contest=name)):
        raise Problem(f"nobody has played in a contest {name!r} of {game}", 404)
    return game, name


def _planned(met: list[Meetings], each_way: int) -> int:
    """Every group of players that fits a table meets so often for each of them that begins."""
    players: defaultdict[int, set[str]] = defaultdict(set)
    for meetings in met:
        for names in meetings:
            players[len(names)].update(names)
    return sum(comb(len(names), seats) * seats * each_way for seats, names in players.items())


async def crosstable(reach: Reach, asked: Asked) -> Crosstable:
    game, name = await _known(reach, asked)
    rankings = ranked(await reach.store.contest_lines(game, name))
    names = [rank.bot for rank in rankings[:MOST_ROWS]]
    scores = await reach.store.reports.crosstable(game, name)
    rows = [[list(scores[one, two]) if (one, two) in scores else None for two in names] for one in names]
    return Crosstable(names, len(rankings), rows)
