"""Ratings over REST: the leaderboard of a game, and the profile of a bot."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

from msgspec import Meta, Struct

from botdrome.api.arguments import game_called, iso
from botdrome.api.leaderboard import HOUSE, GameResults, RatedRecord, TableResults, rated_name, results_of
from botdrome.api.problems import Problem
from botdrome.api.rest.bots import RestBot, shown
from botdrome.api.rest.endpoint import GameName, GameType, ListPage, Moment, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.contest.performance import OwnMatch, performance
from botdrome.contest.strength import Strength
from botdrome.store.store import BotEntry, Wanted
from botdrome.store.tallies import Meeting
from botdrome.wire.battlebot.messages import game_type

Rating = Annotated[float, Meta(description="In Elo points; 1500 is the mean of all bots that met, directly or through others.")]
Low = Annotated[float | None, Meta(description="The lower end of the 95 % interval; null: there is none.")]
High = Annotated[float | None, Meta(description="The upper end of the 95 % interval; null: there is none.")]
TableSize = Annotated[
    int | None, Meta(description="The seats at a table; each size has ratings of its own. null: there is no rated match.")
]
TableSizes = Annotated[list[int], Meta(description="The table sizes with rated matches, the one with most matches first.")]


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
    beatsNext: Annotated[  # noqa: N815
        float | None, Meta(description="The probability that it is stronger than the next bot by rating; null: nothing is known.")
    ] = None


class Leaderboard(ListPage):
    game: GameName
    gameType: GameType  # noqa: N815
    bots: list[LeaderboardLine]
    matches: Annotated[int, Meta(description="Rated matches: those between registered bots or house bots.")]
    rated: Annotated[Moment | None, Meta(description="When the ratings were computed.")]
    players: TableSize
    sizes: TableSizes


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
    players: TableSize
    sizes: TableSizes
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
    sizes = results.sizes()
    size = request.table_size(sizes)
    table = results.table(size)
    lines = lines_of(results, table)
    rated_names = [line.name for line in lines if line.place]
    order, falling = request.order("-rating")
    if (order, falling) != ("rating", True):
        lines.sort(key=ORDERS[order], reverse=falling)
    page = list(request.part(lines))
    for line in page:
        line.beatsNext = _beats_next(table, rated_names, line.place)
    rated = iso(table.rated_at) if table.rated_at else None
    game = results.game
    return Leaderboard(game, game_type(game), page, table.matches, rated, size, sizes, **request.page(len(lines)))


def _beats_next(table: TableResults, names: Sequence[str], place: int | None) -> float | None:
    return table.ratings().beats(*names[place - 1 : place + 1]) if place and place < len(names) else None


def lines_of(results: GameResults, table: TableResults) -> list[LeaderboardLine]:
    """The best first, group by group; then the bots without a rated match."""
    found = table.ratings().strengths
    rated = [name for names in table.ratings().groups() for name in names]
    lines = [_line(results, table, name, found[name], place) for place, name in enumerate(rated, 1)]
    return [*lines, *(_line(results, table, name) for name in results.bots if name not in found)]


def _line(
    results: GameResults, table: TableResults, name: str, found: Strength | None = None, place: int | None = None
) -> LeaderboardLine:
    bot, counts = results.bots.get(name), table.lines.get(name, RatedRecord())
    rating, margin = (None, None) if found is None else (found.rating, found.margin)
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
    causes = await store.reports.causes(name, _since(bot))
    if bot is None:
        return Profile(name, None, None, [], matches, None, [], causes)
    results = await results_of(bot.game, store)
    sizes = results.sizes(name)
    size = request.table_size(sizes)
    table = results.table(size)
    line = next(line for line in lines_of(results, table) if line.name == name)
    meetings = await store.reports.meetings_of(name, bot.registered, MOST_MEETINGS)
    history = list(_history(table, name, size, meetings[::-1]))
    return Profile(name, shown(bot), line, history, matches, size, sizes, causes)


def _since(bot: BotEntry | None) -> int:
    """Matches before the registration may be those of guests."""
    return 0 if bot is None else bot.registered


def _history(table: TableResults, name: str, size: int | None, meetings: Sequence[Meeting]) -> Iterator[RatingPoint]:
    """At most `POINTS` of them, evenly spread over the matches."""
    ratings = {other: strength.rating for other, strength in table.ratings().strengths.items() if other != name}
    played = (list(group) for _, group in groupby(meetings, lambda meeting: meeting.number))
    of_size = ([one for one in match if rated_name(one.opponent) in ratings] for match in played if len(match) + 1 == size)
    matches = [match for match in of_size if match]
    every = -(-len(matches) // POINTS) or 1
    results: Counter[OwnMatch] = Counter()
    for number, match in enumerate(matches, 1):
        results[_points(match, ratings)] += 1
        if number % every == 0 or number == len(matches):
            point = performance(results)
            yield RatingPoint(iso(match[0].started), number, point.rating, *_interval(point.rating, point.margin))


def _points(match: Sequence[Meeting], ratings: dict[str, float]) -> OwnMatch:
    """Copies of a house bot count as one bot, with the place of the best."""
    mine, places = match[0].place, dict[str, int]()
    for one in match:
        other = rated_name(one.opponent)
        places[other] = min(one.opponents_place, places.get(other, one.opponents_place))
    return tuple(sorted((ratings[other], (mine < place) + (mine == place) / 2) for other, place in places.items()))


async def opponents(context: ReadContext, request: RestRequest) -> Opponents:
    name = request.path("name")
    order, falling = request.order("-games")
    since = _since(await context.store.bot(name))
    found, total = await context.store.reports.opponents(name, since, order, falling, request.limit, request.offset)  # type: ignore[arg-type]
    lines = [OpponentLine(one.name, one.games, one.wins, one.draws, one.losses, iso(one.last)) for one in found]
    return Opponents(lines, **request.page(total))
