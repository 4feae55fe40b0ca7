"""Habits and comparisons of bots, over REST: openings and deaths in words, two bots compared."""

from collections import OrderedDict
from time import process_time
from typing import Any, Literal

from msgspec import Struct

from botdrome.api.requests import Problem, ReadContext, no_bot
from botdrome.api.rest.bots import BotFace, OpponentLine, faces
from botdrome.api.rest.endpoint import Endpoints, Parameter, RestRequest, copied
from botdrome.catalogue import CATALOGUE, restored
from botdrome.games.game import Game
from botdrome.match.events import Began, Ended, Played, Player
from botdrome.match.record import BadRecord, replay
from botdrome.store.entries import BotEntry, Source, Wanted
from botdrome.store.reports import Opponent
from botdrome.store.store import StoreReader

endpoint = Endpoints()
NO_BOT = (404, "There is no such bot.")
LATEST = 40
"""The matches of a bot that are replayed, at most."""
SECONDS = 1.0
"""Of processor time for the replays of one request; the next request goes on from there."""
REMEMBERED = 2000
"""Matches whose words a worker process keeps."""
MOST_OPPONENTS = 10_000
MOST_COMMON = 50

Kind = Literal["openings", "deaths", "none"]
Words = tuple[str, ...]
"""By player; empty: there is nothing to say of it."""


class Habit(Struct):
    words: str
    """Such as: opens with a corner."""
    times: int
    wins: int
    draws: int
    losses: int
    match: str
    """The id of the last match of this kind."""


class Habits(Struct):
    kind: Kind
    """What the game has words for."""
    matches: int
    """The latest matches of which they tell."""
    habits: list[Habit]
    """The most frequent first."""


def kind_of(game: Game[Any]) -> Kind:
    """What a game has words for."""
    if type(game).opening_words is not Game.opening_words:
        return "openings"
    return "deaths" if type(game).death_words is not Game.death_words else "none"


def words_of(data: bytes, until: float) -> Words | None:
    """Replay a match file: the first move of each player on the first board, or how it died on the
    last one. None: that takes more processor time than is left. Raise BadRecord.
    """
    record, game = restored(data)
    openings, before = kind_of(game) == "openings", game
    order: tuple[Player, ...] = ()
    words: dict[Player, str] = {}
    for _, news in replay(record, game):
        if process_time() > until:
            return None
        for event, position in news:
            if isinstance(event, Began):
                order = event.order
            elif isinstance(event, Played) and openings:
                for player, raw in event.moves.items():
                    if not words.get(player):
                        words[player] = before.opening_words(order.index(player), raw)
            elif isinstance(event, Ended) and not openings:
                words = {
                    player: position.death_words(seat) or "survives"
                    for seat, player in enumerate(order)
                }
            before = position
        if openings and len(words) == len(order) and all(words.values()):
            break
    return tuple([words.get(player, "") for player in range(len(record.setup.names))])


_known: OrderedDict[tuple[Source, str], Words] = OrderedDict()
"""By store and match."""


async def told(store: StoreReader, match_id: str, until: float) -> Words:
    """The words of a match that is over.

    There are none if it cannot be replayed, or no processor time is left. A match that is not
    over after half of the time of a request is not tried again.
    """
    key, left = (store.source, match_id), until - process_time()
    words = _known.get(key)
    if words is None and left > 0:
        record = await store.record(match_id)
        try:
            words = () if record is None else words_of(record, until)
        except BadRecord:
            words = ()
        if words is None and left > SECONDS / 2:
            words = ()
        if words is not None:
            _known[key] = words
        if len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return words or ()


@endpoint(
    "GET",
    "/habits/{name:path}",
    "The openings of a bot, or how it dies, in its latest matches.",
    NO_BOT,
)
async def habits(context: ReadContext, request: RestRequest) -> Habits:
    bot = await _bot(context, request.path("name"))
    kind = kind_of(CATALOGUE[bot.game].game)
    if kind == "none":
        return Habits(kind, 0, [])
    wanted = Wanted(bot.game, all_of=[bot.name], status="ended", since=bot.registered, limit=LATEST)
    until, matches, found = process_time() + SECONDS, 0, dict[str, Habit]()
    for match in await context.store.matches(wanted):
        words = await told(context.store, match.id, until)
        if words and match.result is not None:
            matches += 1
            player, places = match.players.index(bot.name), match.result.places
            if words[player]:
                habit = found.setdefault(words[player], Habit(words[player], 0, 0, 0, 0, match.id))
                first = places[player] == 1
                habit.times += 1
                habit.wins += first and places.count(1) == 1
                habit.draws += first and places.count(1) > 1
                habit.losses += not first
    return Habits(kind, matches, sorted(found.values(), key=lambda one: -one.times))


async def _bot(context: ReadContext, name: str) -> BotEntry:
    bot = await context.store.bot(name)
    if bot is None:
        raise no_bot(name)
    return bot


class CommonOpponent(Struct):
    name: str
    first: OpponentLine
    """The results of the first bot."""
    second: OpponentLine


class Comparison(Struct):
    bots: list[BotFace]
    """The two, in the order of the request."""
    met: OpponentLine | None
    """The results of the first against the second; null: they have not met."""
    expected: float | None
    """The share of the points that the first may expect by the ratings; null: these cannot be
    compared.
    """
    common: list[CommonOpponent]
    """The opponents that both have met, by the number of matches; 50 at most."""


@endpoint(
    "GET",
    "/comparison",
    "Two bots: their ratings, matches against each other, and common opponents.",
    Parameter("bot", "A bot; there are two.", many=True),
    NO_BOT,
)
async def comparison(context: ReadContext, request: RestRequest) -> Comparison:
    names = request.texts("bot")
    if len(set(names)) != 2 or len(names) != 2:
        raise Problem(f"name two different bots, as in ?bot=ada&bot=bob, not {len(set(names))}")
    one, two = [await _bot(context, name) for name in names]
    ours, theirs = [await _opponents(context, bot) for bot in (one, two)]
    met = ours.get(two.name)
    common = sorted(
        ours.keys() & theirs.keys(),
        key=lambda name: (-min(ours[name].games, theirs[name].games), name),
    )
    shown = await faces(context, [one, two])
    return Comparison(
        shown,
        copied(OpponentLine, met) if met else None,
        _expected(*shown),
        [
            CommonOpponent(
                name, copied(OpponentLine, ours[name]), copied(OpponentLine, theirs[name])
            )
            for name in common[:MOST_COMMON]
        ],
    )


async def _opponents(context: ReadContext, bot: BotEntry) -> dict[str, Opponent]:
    found, _ = await context.store.reports.opponents(
        bot.name, bot.registered, "games", True, MOST_OPPONENTS, 0
    )
    return {one.name: one for one in found}


def _expected(one: BotFace, two: BotFace) -> float | None:
    if one.rating is None or two.rating is None or (one.game, one.group) != (two.game, two.group):
        return None
    if one.provisional or two.provisional:
        return None
    return 1 / (1 + 10 ** ((two.rating - one.rating) / 400))
