"""Ratings over REST: the leaderboard of a game, and a bot in full."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from botdrome.api.dates import iso
from botdrome.api.games import game_called
from botdrome.api.leaderboard import HOUSE, GameResults, Line, rated_name, results_of
from botdrome.api.problems import Problem
from botdrome.api.rest.bots import shown
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.api.rest.reports import Leaderboard, LeaderboardLine, OpponentLine, Opponents, Profile, RatingPoint
from botdrome.contest.strength import Score, Strength, performance
from botdrome.store.store import BotEntry, Wanted
from botdrome.store.tallies import Meeting
from botdrome.wire.battlebot.messages import game_type

MOST_MEETINGS = 20_000
"""The last ones, of which the history of a rating is made."""
POINTS = 100

ORDERS: dict[str, Callable[[LeaderboardLine], Any]] = {
    "rating": lambda line: line.rating or 0,
    "name": lambda line: line.name,
    "owner": lambda line: line.owner,
    "games": lambda line: line.games,
    "wins": lambda line: line.wins,
    "draws": lambda line: line.draws,
    "losses": lambda line: line.losses,
}


async def leaderboard(reach: Reach, asked: Asked) -> Leaderboard:
    results = await results_of(game_called(asked.path("game")), reach.store)
    lines = lines_of(results)
    order, falling = asked.order("-rating")
    if (order, falling) != ("rating", True):
        lines.sort(key=ORDERS[order], reverse=falling)
    page = lines[asked.offset : asked.offset + asked.limit]
    rated = iso(results.rated_at) if results.rated_at else None
    game = results.game
    return Leaderboard(game, game_type(game), page, results.matches, rated, len(lines), asked.limit, asked.offset)


def lines_of(results: GameResults) -> list[LeaderboardLine]:
    """The best first; groups that never met one after the other, then bots that have played nobody."""
    found = results.strengths()
    rated = sorted(found, key=lambda name: (found[name].group, -found[name].rating, name))
    lines = [_line(results, name, found[name], place) for place, name in enumerate(rated, 1)]
    return [*lines, *(_line(results, name) for name in results.bots if name not in found)]


def _line(results: GameResults, name: str, found: Strength | None = None, place: int | None = None) -> LeaderboardLine:
    bot, counts = results.bots.get(name), results.lines.get(name, Line())
    margin = None if found is None or counts.crowded else found.margin
    rating = None if found is None else found.rating
    return LeaderboardLine(
        place, name, bot.owner if bot else "", name.startswith(HOUSE), rating, *_interval(rating, margin),
        None if found is None else found.group, counts.games, counts.wins, counts.draws, counts.losses,
    )  # fmt: skip


def _interval(rating: float | None, margin: float | None) -> tuple[float | None, float | None]:
    return (None, None) if rating is None or margin is None else (rating - margin, rating + margin)


async def profile(reach: Reach, asked: Asked) -> Profile:
    name, store = asked.path("name"), reach.store
    bot = await store.bot(name)
    matches = await store.count(Wanted(all_of=[name]))
    if bot is None and not matches:
        raise Problem(f"there is no bot {name!r}, and nobody of that name has played", 404)
    rating, history = (None, []) if bot is None else await _rating(reach, bot)
    causes = await store.reports.causes(name, _since(bot))
    return Profile(name, None if bot is None else shown(bot), rating, history, matches, causes)


def _since(bot: BotEntry | None) -> int:
    """Before a name was registered, anybody may have played under it."""
    return 0 if bot is None else bot.registered


async def _rating(reach: Reach, bot: BotEntry) -> tuple[LeaderboardLine | None, list[RatingPoint]]:
    results = await results_of(bot.game, reach.store)
    line = next(line for line in lines_of(results) if line.name == bot.name)
    meetings = await reach.store.reports.meetings_of(bot.name, bot.registered, MOST_MEETINGS)
    return line, list(_history(results, bot.name, meetings[::-1]))


def _history(results: GameResults, name: str, meetings: Sequence[Meeting]) -> Iterator[RatingPoint]:
    """At most `POINTS` of them, evenly spread over the matches."""
    ratings = {other: strength.rating for other, strength in results.strengths().items() if other != name}
    rated = [meeting for meeting in meetings if rated_name(meeting.opponent) in ratings]
    matches = [list(group) for _, group in groupby(rated, lambda meeting: meeting.number)]
    every, crowded = -(-len(matches) // POINTS) or 1, results.lines.get(name, Line()).crowded
    scores: dict[str, Score] = {}
    for played, match in enumerate(matches, 1):
        for meeting in match:
            other = rated_name(meeting.opponent)
            wins, draws, losses = scores.get(other, (0, 0, 0))
            mine, theirs = meeting.place, meeting.opponents_place
            scores[other] = wins + (mine < theirs), draws + (mine == theirs), losses + (mine > theirs)
        if played % every == 0 or played == len(matches):
            point = performance((ratings[other], score) for other, score in scores.items())
            interval = _interval(point.rating, None if crowded else point.margin)
            yield RatingPoint(iso(match[0].started), played, point.rating, *interval)


async def opponents(reach: Reach, asked: Asked) -> Opponents:
    name = asked.path("name")
    order, falling = asked.order("-games")
    since = _since(await reach.store.bot(name))
    found, total = await reach.store.reports.opponents(name, since, order, falling, asked.limit, asked.offset)  # type: ignore[arg-type]
    lines = [OpponentLine(one.name, one.games, one.wins, one.draws, one.losses, iso(one.last)) for one in found]
    return Opponents(lines, total, asked.limit, asked.offset)
