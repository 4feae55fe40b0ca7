"""Bots over REST: their registration, the leaderboard of a game, and the profile of a bot."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Struct

from botdrome.api.leaderboard import (
    HOUSE,
    STANDARD,
    GameResults,
    TableResults,
    bot_of,
    rated_key,
    rated_name,
    results_of,
    standard_form,
    version_of,
)
from botdrome.api.requests import (
    Problem,
    ReadContext,
    check_contest,
    check_owner,
    game_called,
    iso,
    no_bot,
)
from botdrome.api.rest.endpoint import (
    GAME,
    NO_GAME,
    OPTION_SET,
    PAGING,
    TABLE_SIZE,
    Endpoints,
    GameName,
    GameType,
    ListPage,
    Moment,
    Parameter,
    RestRequest,
    copied,
    sorted_by,
)
from botdrome.contest.strength import OwnMatch, Strength, performance
from botdrome.server.arena import Arena
from botdrome.server.lobby.registry import LANGUAGES, PROTOCOLS
from botdrome.store.entries import BotEntry, BotOrder, Wanted
from botdrome.store.reports import OPPONENT_ORDERS, Meeting
from botdrome.wire.battlebot.messages import game_type

endpoint = Endpoints()
PRIVATE = (
    (401, "There is no token."),
    (403, "It is not the token of that bot."),
    (404, "There is no such bot or game."),
)
Holder = Callable[[Arena, str, str], Awaitable[BotEntry | None]]
NOT_CALLED = (422, "The bot cannot be called, or does not repeat the challenge.")
FIGURES = ("rating", "low", "high", "provisional", "group", "games", "wins", "draws", "losses")
"""Of a line of the leaderboard, for the face of a bot."""
MOST_NAMED = 100
"""Bots that one request asks for by name."""
IN_STORE: tuple[BotOrder, ...] = get_args(BotOrder)
"""The orders in which the store sorts bots; for others all of them are read."""


class RestBot(Struct):
    name: str
    game: GameName
    gameType: GameType  # noqa: N815
    owner: str
    registered: Moment
    called: bool = False
    """Whether the server calls it at a URL."""


Rating = Annotated[
    float,
    Meta(
        description="In Elo points. House bots have fixed ratings; in a group without them, 1500 "
        "is the mean."
    ),
]
Low = Annotated[
    float | None, Meta(description="The lower end of the 95 % interval; null: there is none.")
]
High = Annotated[
    float | None, Meta(description="The upper end of the 95 % interval; null: there is none.")
]


class BotFace(RestBot, kw_only=True):
    """A bot as lists of bots show it. The rating is that of its current version at the tables at
    which it plays most.
    """

    rating: Rating | None
    low: Low
    high: High
    provisional: bool
    group: int | None
    games: int
    """Rated matches there."""
    wins: int
    draws: int
    losses: int
    seen: Moment | None
    """When its last match began; null: it has not played."""
    protocol: str | None
    """The protocol that it used last; null: it is unknown."""
    language: str | None
    """The programming language that its owner has named; null: none."""


class Bots(ListPage):
    bots: list[BotFace]


class NewBot(Struct, forbid_unknown_fields=True):
    game: GameName
    name: str
    owner: str = ""
    url: str | None = None
    """Where the server calls it; the bot must repeat a challenge there."""
    language: Annotated[str, Meta(max_length=30, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    """The programming language that it is written in, for its page."""


class Address(Struct, forbid_unknown_fields=True):
    url: str | None
    """Where the server calls the bot; null: it connects by itself."""


class RestEntrant(Struct, forbid_unknown_fields=True):
    bot: str
    password: str = ""
    """The contest's password, if it has one."""


class RestEntry(Struct):
    contest: str
    bot: str
    entered: bool


class RegisteredBot(Struct):
    bot: RestBot
    password: str
    """The bot's token, which is shown only once."""


def shown(bot: BotEntry) -> RestBot:
    return copied(RestBot, bot, called=bot.url is not None)


@endpoint(
    "GET",
    "/bots",
    "The registered bots, by the time of their registration.",
    GAME,
    Parameter("owner", "Whose bots."),
    Parameter("name", f"Only these bots, at most {MOST_NAMED}.", many=True),
    sorted_by(*IN_STORE, "rating", "games", "seen", "protocol", "language"),
    *PAGING,
)
async def bots(context: ReadContext, request: RestRequest) -> Bots:
    store, game, owner = context.store, request.game, request.text("owner")
    order, falling = request.order("registered")
    if names := request.texts("name"):
        found = [await store.bot(name) for name in dict.fromkeys(names[:MOST_NAMED])]
        everyone = [bot for bot in found if bot is not None]
    elif order in IN_STORE:
        page = await store.bots(
            game,
            owner,
            request.limit,
            request.offset,
            order,
            falling,
        )
        total = await store.count_bots(game, owner)
        return Bots(await faces(context, page), **request.page(total))
    else:
        everyone = await store.bots(game, owner)
    lines = await faces(context, everyone)
    lines.sort(key=lambda bot: _rank(bot, order, falling), reverse=falling)
    return Bots(list(request.part(lines)), **request.page(len(lines)))


@endpoint("GET", "/bots/{name:path}", "A bot.", (404, "There is no such bot."))
async def bot(context: ReadContext, request: RestRequest) -> RestBot:
    name = request.path("name")
    found = await context.store.bot(name)
    if found is None:
        raise no_bot(name)
    return shown(found)


@endpoint(
    "POST",
    "/bots",
    "Register a bot. With the owner token of a participant of a class, that is its owner.",
    (403, "The token is not that of a participant, or the owner is one and needs its token."),
    NO_GAME,
    (409, "There is a bot of that name, or the participant's class is closed."),
    (413, "The body is too large."),
    NOT_CALLED,
    status=201,
)
async def register(arena: Arena, request: RestRequest, new: NewBot) -> RegisteredBot:
    check_owner(new.owner)
    game, owner_token = game_called(new.game), request.given_token
    if owner_token is not None and new.owner:
        raise Problem("give an owner or an owner token, not both")
    registered, token = await arena.register(
        game, new.name, new.owner, new.url, owner_token, new.language
    )
    return RegisteredBot(shown(registered), token)


@endpoint(
    "PUT",
    "/bots/{name:path}",
    "Give a bot an address, another one, or none.",
    *PRIVATE,
    (409, "The bot is hosted here."),
    NOT_CALLED,
    private=True,
)
async def move(arena: Arena, request: RestRequest, new: Address) -> RestBot:
    return shown(await arena.move(await held(arena, request, request.path("name")), new.url))


@endpoint(
    "POST",
    "/contests/{game}/{name:path}",
    "Enter a bot; without a document, one that the server can call.",
    *PRIVATE,
    NOT_CALLED,
    (409, "A rule of the contest forbids it."),
    private=True,
)
async def enter(arena: Arena, request: RestRequest, entrant: RestEntrant) -> RestEntry:
    bot, contest = await _entrant(arena, request, entrant)
    await arena.enter(bot, contest, entrant.password)
    return RestEntry(contest, bot.name, True)


@endpoint(
    "DELETE",
    "/contests/{game}/{name:path}",
    "Withdraw a bot that was entered.",
    *PRIVATE,
    private=True,
)
async def withdraw(arena: Arena, request: RestRequest, entrant: RestEntrant) -> RestEntry:
    bot, contest = await _entrant(arena, request, entrant)
    await arena.withdraw(bot, contest)
    return RestEntry(contest, bot.name, False)


async def _entrant(
    arena: Arena, request: RestRequest, entrant: RestEntrant
) -> tuple[BotEntry, str]:
    """Return the bot and the name of the contest."""
    game, contest = game_called(request.path("game")), request.path("name")
    check_contest(contest)
    bot = await held(arena, request, entrant.bot)
    if bot.game != game:
        raise Problem(f"{bot.name} is registered for {bot.game}")
    return bot, contest


async def held(
    arena: Arena, request: RestRequest, name: str, holder: Holder = Arena.holder
) -> BotEntry:
    """The bot of that name, if its token came with the request, or another one that `holder`
    takes.
    """
    token = request.token
    if "\0" in name or await arena.store.bot(name) is None:
        raise no_bot(name)
    bot = await holder(arena, name, token)
    if bot is None:
        raise Problem(f"that is not the token of {name}", 403)
    return bot


TableSize = Annotated[
    int | None,
    Meta(
        description="The seats at a table; each size has ratings of its own. null: there is no "
        "rated match."
    ),
]
TableSizes = Annotated[
    list[int],
    Meta(description="The table sizes with rated matches, the one with most matches first."),
]


class OptionSet(Struct):
    """A set of options with rated matches, which has leaderboards of its own."""

    options: dict[str, Any]
    """Those that differ from the defaults; empty: the standard set."""
    matches: int


Options = Annotated[
    dict[str, Any],
    Meta(description="The options of these ratings, as far as they differ from the defaults."),
]
OptionSets = Annotated[
    list[OptionSet],
    Meta(
        description="The sets of options with rated matches: the standard one, then by matches; 20 "
        "at most."
    ),
]


class LeaderboardLine(Struct):
    place: int | None
    """By the lower end of the interval. null: its rating is provisional, or not comparable with the
    first.
    """
    name: str
    version: str | None
    """The version that played last; null: it names none, or these are several old versions."""
    owner: str
    house: bool
    """Whether it is a house bot."""
    rating: Rating | None
    low: Low
    high: High
    fixed: bool
    """Whether it is a house bot whose rating was measured once and stays as it is."""
    provisional: bool
    """Its interval is wider than 150 points either way, and it has played fewer than 50 matches."""
    group: int | None
    """Ratings of different groups cannot be compared: these bots never met."""
    games: int
    """Rated matches of this version."""
    wins: int
    draws: int
    losses: int
    beatsNext: float | None = None  # noqa: N815
    """The probability that it is stronger than the next bot by rating; null: nothing is known."""


class Leaderboard(ListPage):
    game: GameName
    gameType: GameType  # noqa: N815
    bots: list[LeaderboardLine]
    matches: int
    """Rated matches: those between registered bots or house bots."""
    rated: Moment | None
    """When the ratings were computed."""
    players: TableSize
    sizes: TableSizes
    options: Options
    optionSets: OptionSets  # noqa: N815


class RatingPoint(Struct):
    at: Moment
    version: str | None
    """The version that played; each begins anew. null: it names none."""
    games: int
    """Rated matches of this version until then."""
    rating: Rating
    low: Low
    high: High


class Profile(Struct):
    name: str
    bot: BotFace | None
    """null: the name is not registered."""
    rating: LeaderboardLine | None
    versions: list[LeaderboardLine]
    """Its rated versions, the newest first."""
    history: list[RatingPoint]
    """Its results up to then against the present ratings of its opponents; 100 at most."""
    matches: int
    """All of its matches."""
    players: TableSize
    sizes: TableSizes
    options: Options
    optionSets: OptionSets  # noqa: N815
    causes: dict[str, int]
    """Its matches by the cause of their end; all but `complete` are faults."""


class OpponentLine(Struct):
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    last: Moment


class Opponents(ListPage):
    opponents: list[OpponentLine]


MOST_SETS = 20
MOST_MEETINGS = 20_000
"""The latest meetings, from which the history of a rating is computed."""
POINTS = 100


def _rank(bot: BotFace, order: str, falling: bool) -> tuple[int, Any]:
    """The value that sorts a bot. Unknown values come last, and provisional ratings before them."""
    value, tier = getattr(bot, order), 2
    if value is None:
        value, tier = "", 0
    elif order == "rating":
        value, tier = (value, 1) if bot.provisional else (bot.low or value, 2)
    return tier if falling else -tier, value


async def faces(context: ReadContext, bots: Sequence[BotEntry]) -> list[BotFace]:
    store, names = context.store, [bot.name for bot in bots]
    seen = await store.reports.last_seen(names)
    used = await store.reports.notes_of(PROTOCOLS, names)
    written = await store.reports.notes_of(LANGUAGES, names)
    lines: dict[str, LeaderboardLine] = {}
    for game in {bot.game for bot in bots}:
        results = await results_of(game, store)
        tables = results.usual_tables()
        for bot in bots:
            if bot.game == game:
                table = tables.get(bot.name, TableResults())
                key = table.ratings.chains.shown(bot.name) or bot.name
                lines[bot.name] = _line(results, table, key, table.ratings.strengths.get(key))
    return [
        copied(
            BotFace,
            bot,
            called=bot.url is not None,
            seen=iso(seen[bot.name]) if bot.name in seen else None,
            protocol=used.get(bot.name, {}).get("protocol"),
            language=written.get(bot.name, {}).get("language"),
            **{figure: getattr(lines[bot.name], figure) for figure in FIGURES},
        )
        for bot in bots
    ]


@endpoint(
    "GET",
    "/games/{game}/leaderboard",
    "The bots of a game with their ratings, the best first.",
    OPTION_SET,
    TABLE_SIZE,
    sorted_by("rating", "name", "owner", "games", "wins", "draws", "losses"),
    *PAGING,
    NO_GAME,
)
async def leaderboard(context: ReadContext, request: RestRequest) -> Leaderboard:
    results = await results_of(game_called(request.path("game")), context.store)
    chosen, sets = _option_sets(results, request)
    sizes = results.sizes(chosen)
    size = request.table_size(sizes)
    table = results.table(chosen, size)
    lines = lines_of(results, table)
    order, falling = request.order("-rating")
    if (order, falling) != ("rating", True):
        lines.sort(
            key=lambda line: line.rating or 0 if order == "rating" else getattr(line, order),
            reverse=falling,
        )
    page = list(request.part(lines))
    for line in page:
        line.beatsNext = table.ratings.beats_next.get(rated_key(line.name, line.version or ""))
    rated = iso(table.ratings.at) if table.ratings.at else None
    return Leaderboard(
        results.game, game_type(results.game), page, table.matches, rated, size, sizes,
        _decoded(chosen), sets, **request.page(len(lines)),
    )  # fmt: skip


def _option_sets(
    results: GameResults, request: RestRequest, name: str | None = None
) -> tuple[str, list[OptionSet]]:
    """The set that is asked for, or else the first; and all sets with rated matches, or with those
    of one bot.
    """
    played, asked = results.option_sets(name), request.text("options")
    chosen = next(iter(played), STANDARD) if asked is None else standard_form(results.game, asked)
    if chosen is None:
        raise Problem(
            f"options is a JSON object with options of {results.game}, such as {STANDARD}, not "
            f"{asked!r}"
        )
    return chosen, [
        OptionSet(_decoded(one), results.matches(one, name)) for one in played[:MOST_SETS]
    ]


def _decoded(options: str) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(options)
    return decoded


def lines_of(results: GameResults, table: TableResults) -> list[LeaderboardLine]:
    """The bots with settled ratings, group by group, those of the first group with places; then
    those whose ratings are provisional; then the bots without a rated match. Each bot in the
    version that played last.
    """
    ratings = table.ratings
    return [
        *(
            _line(results, table, key, ratings.strengths[key], at if at <= ratings.placed else None)
            for at, key in enumerate(ratings.ranked, 1)
        ),
        *(
            _line(results, table, name)
            for name in results.bots
            if ratings.chains.shown(name) is None
        ),
    ]


def _versions(results: GameResults, table: TableResults, name: str) -> list[LeaderboardLine]:
    return [
        _line(results, table, key, table.ratings.strengths[key])
        for key in table.ratings.chains.of_bot.get(name, [])[::-1]
    ]


def _line(
    results: GameResults,
    table: TableResults,
    key: str,
    found: Strength | None = None,
    place: int | None = None,
) -> LeaderboardLine:
    name, counts = bot_of(key), table.record(key)
    bot = results.bots.get(name)
    rating, margin = (None, None) if found is None else (found.rating, found.margin)
    return LeaderboardLine(
        place, name, version_of(key) or None, bot.owner if bot else "", name.startswith(HOUSE),
        rating, *_interval(rating, margin), found is not None and found.anchor,
        found is not None and not found.settled, None if found is None else found.group,
        counts.games, counts.wins, counts.draws, counts.losses,
    )  # fmt: skip


def _interval(rating: float | None, margin: float | None) -> tuple[float | None, float | None]:
    return (None, None) if rating is None or margin is None else (rating - margin, rating + margin)


@endpoint(
    "GET",
    "/profiles/{name:path}",
    "A bot in full: its rating over time, and why its matches ended.",
    OPTION_SET,
    TABLE_SIZE,
    (404, "There is no player of that name."),
)
async def profile(context: ReadContext, request: RestRequest) -> Profile:
    name, store = request.path("name"), context.store
    bot = await store.bot(name)
    matches = await store.count(Wanted(all_of=[name]))
    if bot is None and not matches:
        raise Problem(f"there is no bot {name!r}, and no player of that name", 404)
    causes = await store.reports.causes(name, _since(bot))
    if bot is None:
        return Profile(name, None, None, [], [], matches, None, [], {}, [], causes)
    results = await results_of(bot.game, context.store)
    chosen, sets = _option_sets(results, request, name)
    sizes = results.sizes(chosen, name)
    size = request.table_size(sizes)
    table = results.table(chosen, size)
    line = next(line for line in lines_of(results, table) if line.name == name)
    meetings = await store.reports.meetings_of(name, bot.registered, MOST_MEETINGS)
    meetings = [meeting for meeting in meetings if results.form(meeting.options) == chosen]
    history = list(_history(table, name, size, meetings[::-1]))
    (face,) = await faces(context, [bot])
    return Profile(
        name, face, line, _versions(results, table, name), history, matches, size, sizes,
        _decoded(chosen), sets, causes,
    )  # fmt: skip


def _since(bot: BotEntry | None) -> int:
    """Matches before the registration may be those of guests."""
    return 0 if bot is None else bot.registered


def _history(
    table: TableResults, name: str, size: int | None, meetings: Sequence[Meeting]
) -> Iterator[RatingPoint]:
    """At most `POINTS` of them, evenly spread over the matches.

    Results of another version do not count.
    """
    ratings = {
        key: strength.rating
        for key, strength in table.ratings.strengths.items()
        if bot_of(key) != name
    }
    played = (list(group) for _, group in groupby(meetings, lambda meeting: meeting.number))
    of_size = (
        [one for one in match if _opponent(table, one) in ratings]
        for match in played
        if len(match) + 1 == size
    )
    matches = [match for match in of_size if match]
    every = -(-len(matches) // POINTS) or 1
    results: defaultdict[str, Counter[OwnMatch]] = defaultdict(Counter)
    blocks: dict[tuple[str, str], OwnMatch] = {}
    played_by: Counter[str] = Counter()
    for number, match in enumerate(matches, 1):
        key = table.ratings.chains.key(rated_key(name, match[0].version))
        own, block = _points(table, match, ratings), (key, match[0].block)
        if match[0].block:  # it joins the earlier matches of its block
            earlier = blocks.get(block, ())
            results[key][earlier] -= bool(earlier)
            own = blocks[block] = tuple(sorted(earlier + own))
        results[key][own] += 1
        played_by[key] += 1
        if number % every == 0 or number == len(matches):
            point, games = performance(+results[key]), played_by[key]
            interval = _interval(point.rating, point.margin)
            yield RatingPoint(
                iso(match[0].started), version_of(key) or None, games, point.rating, *interval
            )


def _opponent(table: TableResults, one: Meeting) -> str:
    return table.ratings.chains.key(rated_key(rated_name(one.opponent), one.opponents_version))


def _points(table: TableResults, match: Sequence[Meeting], ratings: dict[str, float]) -> OwnMatch:
    """Copies of a house bot count as one bot, with the place of the best."""
    mine, places = match[0].place, dict[str, int]()
    for one in match:
        other = _opponent(table, one)
        places[other] = min(one.opponents_place, places.get(other, one.opponents_place))
    return tuple(
        sorted(
            (ratings[other], (mine < place) + (mine == place) / 2)
            for other, place in places.items()
        )
    )


@endpoint(
    "GET",
    "/opponents/{name:path}",
    "The results of a player against each of its opponents.",
    sorted_by(*OPPONENT_ORDERS),
    *PAGING,
)
async def opponents(context: ReadContext, request: RestRequest) -> Opponents:
    name = request.path("name")
    found, total = await context.store.reports.opponents(
        name,
        _since(await context.store.bot(name)),
        *request.order("-games"),  # type: ignore[arg-type]
        request.limit,
        request.offset,
    )
    return Opponents([copied(OpponentLine, one) for one in found], **request.page(total))
