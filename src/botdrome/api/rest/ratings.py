"""Ratings over REST: the leaderboard of a game, and the profile of a bot."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

from msgspec import Meta, Struct

from botdrome.api.arguments import game_called, iso
from botdrome.api.leaderboard import HOUSE, GameResults, RatedRecord, rated_name, results_of
from botdrome.api.problems import Problem
from botdrome.api.rest.bots import RestBot, shown
from botdrome.api.rest.endpoint import GameName, GameType, ListPage, Moment, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.contest.strength import Score, Strength, performance
from botdrome.store.store import BotEntry, Wanted
from botdrome.store.tallies import Meeting
from botdrome.wire.battlebot.messages import game_type

Rating = Annotated[float, Meta(description="In Elo points; 1500 is the mean of all bots that met, directly or through others.")]
Low = Annotated[float | None, Meta(description="The lower end of the 95 % interval; null: there is none.")]
High = Annotated[float | None, Meta(description="The upper end of the 95 % interval; null: there is none.")]


class LeaderboardLine(Struct):
    place: Annotated[int | None, Meta(description="null: it has played no rated match.")]
    name: str
    owner: str
    house: Annotated[bool, Meta(description="Whether it is a house bot.")]
    rating: Rating | None
    low: Low
    high: High
    group: Annotated[int | None, Meta(description="Ratings of different groups cannot be compared: these bots never met.")]
    games: int
    wins: int
    draws: int
    losses: int


class Leaderboard(ListPage):
    game: GameName
    gameType: GameType  # noqa: N815
    bots: list[LeaderboardLine]
    matches: Annotated[int, Meta(description="Rated matches: those between registered bots or house bots.")]
    rated: Annotated[Moment | None, Meta(description="When the ratings were computed.")]


class RatingPoint(Struct):
    at: Moment
    games: Annotated[int, Meta(description="Rated matches until then.")]
    rating: Rating
    low: Low
    high: High


class Profile(Struct):
    name: str
    bot: Annotated[RestBot | None, Meta(description="null: the name is not registered.")]
    rating: LeaderboardLine | None
    history: Annotated[
        list[RatingPoint], Meta(description="Its results up to then against the present ratings of its opponents; 100 at most.")
    ]
    matches: Annotated[int, Meta(description="All of its matches.")]
    causes: Annotated[dict[str, int], Meta(description="Its matches by the cause of their end; all but `complete` are faults.")]


class OpponentLine(Struct):
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    last: Moment


class Opponents(ListPage):
    opponents: list[OpponentLine]


MOST_MEETINGS = 20_000
"""The latest meetings, from which the history of a rating is computed."""
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


async def leaderboard(context: ReadContext, request: RestRequest) -> Leaderboard:
    results = await results_of(game_called(request.path("game")), context.store)
    lines = lines_of(results)
    order, falling = request.order("-rating")
    if (order, falling) != ("rating", True):
        lines.sort(key=ORDERS[order], reverse=falling)
    page = list(request.part(lines))
    rated = iso(results.rated_at) if results.rated_at else None
    game = results.game
    return Leaderboard(game, game_type(game), page, results.matches, rated, **request.page(len(lines)))


def lines_of(results: GameResults) -> list[LeaderboardLine]:
    """The best first, group by group; then the bots without a rated match."""
    found = results.strengths()
    rated = sorted(found, key=lambda name: (found[name].group, -found[name].rating, name))
    lines = [_line(results, name, found[name], place) for place, name in enumerate(rated, 1)]
    return [*lines, *(_line(results, name) for name in results.bots if name not in found)]


def _line(results: GameResults, name: str, found: Strength | None = None, place: int | None = None) -> LeaderboardLine:
    bot, counts = results.bots.get(name), results.lines.get(name, RatedRecord())
    margin = None if found is None or counts.crowded else found.margin
    rating = None if found is None else found.rating
    return LeaderboardLine(
        place, name, bot.owner if bot else "", name.startswith(HOUSE), rating, *_interval(rating, margin),
        None if found is None else found.group, counts.games, counts.wins, counts.draws, counts.losses,
    )  # fmt: skip


def _interval(rating: float | None, margin: float | None) -> tuple[float | None, float | None]:
    return (None, None) if rating is None or margin is None else (rating - margin, rating + margin)


async def profile(context: ReadContext, request: RestRequest) -> Profile:
    name, store = request.path("name"), context.store
    bot = await store.bot(name)
    matches = await store.count(Wanted(all_of=[name]))
    if bot is None and not matches:
        raise Problem(f"there is no bot {name!r}, and no player of that name", 404)
    rating, history = (None, []) if bot is None else await _rating(context, bot)
    causes = await store.reports.causes(name, _since(bot))
    return Profile(name, None if bot is None else shown(bot), rating, history, matches, causes)


def _since(bot: BotEntry | None) -> int:
    """Matches before the registration may be those of guests."""
    return 0 if bot is None else bot.registered


async def _rating(context: ReadContext, bot: BotEntry) -> tuple[LeaderboardLine | None, list[RatingPoint]]:
    results = await results_of(bot.game, context.store)
    line = next(line for line in lines_of(results) if line.name == bot.name)
    meetings = await context.store.reports.meetings_of(bot.name, bot.registered, MOST_MEETINGS)
    return line, list(_history(results, bot.name, meetings[::-1]))


def _history(results: GameResults, name: str, meetings: Sequence[Meeting]) -> Iterator[RatingPoint]:
    """At most `POINTS` of them, evenly spread over the matches."""
    ratings = {other: strength.rating for other, strength in results.strengths().items() if other != name}
    rated = [meeting for meeting in meetings if rated_name(meeting.opponent) in ratings]
    matches = [list(group) for _, group in groupby(rated, lambda meeting: meeting.number)]
    every, crowded = -(-len(matches) // POINTS) or 1, results.lines.get(name, RatedRecord()).crowded
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


async def opponents(context: ReadContext, request: RestRequest) -> Opponents:
    name = request.path("name")
    order, falling = request.order("-games")
    since = _since(await context.store.bot(name))
    found, total = await context.store.reports.opponents(name, since, order, falling, request.limit, request.offset)  # type: ignore[arg-type]
    lines = [OpponentLine(one.name, one.games, one.wins, one.draws, one.losses, iso(one.last)) for one in found]
    return Opponents(lines, **request.page(total))
