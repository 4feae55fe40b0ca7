"""Pictures for previews of links, and matches as animations, over REST.

The address of a picture is that of its page, below `/pictures`.
"""

from collections.abc import Iterable
from math import inf
from time import process_time

from botdrome.api.leaderboard import STANDARD, results_of
from botdrome.api.pages import ending_words
from botdrome.api.replays import LIMITS, first_view
from botdrome.api.requests import Problem, ReadContext, game_called, no_bot
from botdrome.api.rest.analysis import RUNNING, record_over
from botdrome.api.rest.bots import LeaderboardLine, lines_of
from botdrome.api.rest.contests import NO_CONTEST, contest_ranks
from botdrome.api.rest.endpoint import NO_GAME, Endpoints, RestRequest
from botdrome.api.rest.matches import NO_MATCH, match_entry
from botdrome.catalogue import CATALOGUE, restored
from botdrome.drawing import (
    MOST_LINES,
    DrawnScene,
    StandingsRow,
    animation,
    match_picture,
    scenes,
    standings_picture,
    titled,
)
from botdrome.match.events import rotated
from botdrome.match.record import BadRecord
from botdrome.server.arena import Arena
from botdrome.store.contest_journal import ContestReader, UnknownContest
from botdrome.store.entries import BrokenMatch, Wanted
from botdrome.store.store import StoreReader

PNG, GIF = "image/png", "image/gif"
MINUTE = 60.0
endpoint = Endpoints(answer=PNG, keeps=MINUTE)
MOST_SHOWN = 200
"""Positions of an animation; of a longer match, every n-th."""
RATE = 4.0
"""Positions a second."""


@endpoint("GET", "/pictures/", "A picture of the best bot of each game, for previews of links.")
async def frontpicture(context: ReadContext, _: RestRequest) -> bytes:
    rows = []
    for game in CATALOGUE:
        best = (await _best(context.store, game))[:1]
        rows += [StandingsRow("", f"{titled(game)}: {row.name}", row.figure) for row in best]
    return standings_picture("Bots play here.", "Six games, five protocols, any language", rows)


@endpoint("GET", "/pictures/matches/{id}", "A picture of the board of a match.", NO_MATCH)
async def boardpicture(context: ReadContext, request: RestRequest) -> bytes:
    entry = await match_entry(context, request)
    running, result, view = entry.status == "running", entry.result, entry.view
    boards = len(result.boards) if result else 0
    if running:
        view = (await context.call(Arena.look, entry.id)).view or view
    order = rotated(len(entry.players), boards if running else max(0, boards - 1))
    scores = [] if result is None or running else [f"{score:g}" for score in result.scores]
    scene = DrawnScene(0, order, view or first_view(entry))
    return match_picture(entry.game, entry.players, scene, scores, ending_words(entry))


@endpoint("GET", "/pictures/games/{game}", "A picture of the best bots of a game.", NO_GAME)
async def gamepicture(context: ReadContext, request: RestRequest) -> bytes:
    game = game_called(request.path("game"))
    rows = await _best(context.store, game)
    about = "The best bots" if rows else "No bot has a settled rating yet."
    return standings_picture(titled(game), about, rows)


@endpoint(
    "GET",
    "/pictures/bots/{name:path}",
    "A picture of a bot's results.",
    (404, "There is no player of that name."),
)
async def botpicture(context: ReadContext, request: RestRequest) -> bytes:
    name, store = request.path("name"), context.store
    bot = await store.bot(name)
    played = await store.count(Wanted(all_of=[name]))
    if bot is None and not played:
        raise no_bot(name)
    rows = [StandingsRow("", "Matches", f"{played:,}")]
    if bot is not None:
        line = next((one for one in await _lines(store, bot.game) if one.name == name), None)
        rows = [*([] if line is None else _record(line)), *rows]
    about = f"A bot of {titled(bot.game)}" if bot else "A guest"
    return standings_picture(name, about, rows)


def _record(line: LeaderboardLine) -> Iterable[StandingsRow]:
    if line.rating is not None and not line.provisional:
        yield StandingsRow("", "Rating", f"{line.rating:.0f}")
    if line.place is not None:
        yield StandingsRow("", "Place", str(line.place))
    yield StandingsRow(
        "", "Rated matches: won, drawn, lost", f"{line.wins} / {line.draws} / {line.losses}"
    )


@endpoint(
    "GET",
    "/pictures/contests/{game}/{name:path}",
    "A picture of the standings of a contest.",
    NO_CONTEST,
    NO_GAME,
)
async def contestpicture(context: ReadContext, request: RestRequest) -> bytes:
    game, name = game_called(request.path("game")), request.path("name")
    try:
        title = (await ContestReader(context.store).entry(name)).document.title or name
    except UnknownContest:
        if not await context.store.count(Wanted(game=game, contest=name)):
            raise
        title = name
    ranks, _ = await contest_ranks(context.store, game, name)
    rows = [StandingsRow(str(one.place), one.bot, f"{one.score:g}") for one in ranks[:MOST_LINES]]
    return standings_picture(title, f"A contest of {titled(game)}", rows)


async def _lines(store: StoreReader, game: str) -> list[LeaderboardLine]:
    results = await results_of(game, store)
    options = next(iter(results.option_sets()), STANDARD)
    return lines_of(results, results.table(options, next(iter(results.sizes(options)), None)))


async def _best(store: StoreReader, game: str) -> list[StandingsRow]:
    """The settled ratings, best first."""
    return [
        StandingsRow(str(line.place), line.name, f"{line.rating:.0f}")
        for line in await _lines(store, game)
        if line.place is not None and line.rating is not None
    ][:MOST_LINES]


@endpoint(
    "GET",
    "/matches/{id}/gif",
    "A match that is over as an animated GIF.",
    NO_MATCH,
    RUNNING,
    (422, "It takes too long to play again."),
    answer=GIF,
    keeps=inf,
)
async def matchgif(context: ReadContext, request: RestRequest) -> bytes:
    entry, data = await record_over(context.store, request.path("id"))
    until = process_time() + LIMITS.seconds

    def check() -> None:
        if process_time() > until:
            raise Problem(
                f"this match takes more than {LIMITS.seconds:g} s to draw; `botdrome replay FILE "
                "--gif match.gif` does it on your machine, without a limit",
                422,
            )

    try:
        record, game = restored(data)
        if len(record.lines) > LIMITS.inputs:
            raise Problem(f"this match has more than {LIMITS.inputs} inputs", 422)
        shown = scenes(record, game, MOST_SHOWN, check)
    except BadRecord as error:
        raise BrokenMatch(f"match {entry.id} is broken: {error}") from error
    return animation(entry.game, entry.players, shown, RATE, check)
