"""Matches and live tables over REST."""

from collections import OrderedDict
from hashlib import sha256
from math import inf
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from botdrome.api.leaderboard import HOUSE, rated_key, rated_name, results_of
from botdrome.api.live_tables import live_tables
from botdrome.api.replays import (
    LIMITS,
    film_of_file,
    film_of_match,
    film_so_far,
    first_view,
    headlines_of_match,
    native_state,
)
from botdrome.api.requests import Problem, ReadContext, no_match
from botdrome.api.rest.endpoint import (
    GAME,
    PAGING,
    Endpoints,
    GameName,
    GameType,
    ListPage,
    Moment,
    Pace,
    Parameter,
    RestRequest,
    copied,
    sorted_by,
)
from botdrome.match.film import FilmFrame, FilmHeader
from botdrome.server.arena import Arena
from botdrome.server.lobby.clients import is_bots, is_of_guest, rematch_invite
from botdrome.server.tables.flight_records import written
from botdrome.store.entries import MatchEntry, Source, Status, Wanted

endpoint = Endpoints()
NO_MATCH = (404, "There is no such match.")
FILM = (FilmHeader, FilmFrame)
LARGEST_FILE = 8 << 20
"""Bytes of an uploaded match file."""


class RematchInvite(Struct):
    invite: str


class Seat(Struct):
    seat: int
    """From 0, in the order of the players."""
    bot: str
    place: int | None = None
    """1 for the winner; players that tie share a place."""
    score: float | None = None
    cause: str | None = None
    """Why it ended for this bot."""
    version: str | None = None
    """The version that the bot named; null: none."""
    headline: str | UnsetType = UNSET
    """The outcome in one line. Only for one match, when it is over and can be replayed."""


class RestOutcome(Struct):
    victor: str | None
    """null: a draw."""
    reason: str


class RestMatch(Struct):
    id: str
    game: GameName
    gameType: GameType  # noqa: N815
    players: list[str]
    contest: str | None
    pace: Pace
    status: str
    """running, ended or aborted."""
    started: Moment
    ended: Moment | None
    result: RestOutcome | None
    seats: list[Seat]
    void: str | None
    """Why it is left out of ratings, leaderboards and records: the runner of a hosted bot was lost.
    null: it counts.
    """


class MatchInFull(RestMatch):
    options: dict[str, Any]
    reason: str | None
    """Why it was aborted."""
    view: dict[str, Any] | None
    """The public view of the present or last position."""
    verdict: str | None = None
    """What decided a match that ended by the rules, in words, if it can be replayed."""


AnyMatch = TypeVar("AnyMatch", bound=RestMatch)


class Matches(ListPage):
    matches: list[RestMatch]


class RestTable(Struct):
    id: str
    game: GameName
    gameType: GameType  # noqa: N815
    players: list[str]
    contest: str | None
    started: Moment
    steps: int
    spectators: int
    pace: Pace


class Live(Struct):
    tables: list[RestTable]
    total: int


class MatchPlayer(Struct):
    name: str
    owner: str | None
    """Of a registered bot."""
    rating: float | None
    """The present rating of its version; null: it has none."""
    protocol: str | None
    """The protocol of its connection while the match runs; null: none."""


class MatchPlayers(Struct):
    players: list[MatchPlayer]
    """In the order of the seats."""
    void: str | None
    """As that of a match."""


@endpoint(
    "GET",
    "/matches",
    "Matches, the newest first.",
    GAME,
    Parameter("contest", "The name of a contest."),
    Parameter("bot", "A bot that took part. If there are several, all of them did.", many=True),
    Parameter("any_bot", "If there are several, one of them took part.", many=True),
    Parameter("status", "How far they are.", choices=get_args(Status)),
    Parameter("winner", "The player that won alone."),
    Parameter("since", "When they started, at the earliest: a date or a moment as in ISO 8601."),
    Parameter("until", "Before when they started."),
    sorted_by("started"),
    *PAGING,
)
async def matches(context: ReadContext, request: RestRequest) -> Matches:
    wanted = Wanted(
        game=request.game,
        contest=request.text("contest"),
        all_of=request.texts("bot"),
        any_of=request.texts("any_bot"),
        status=request.text("status"),  # type: ignore[arg-type]
        winner=request.text("winner"),
        since=request.moment("since"),
        until=request.moment("until"),
        oldest_first=request.order("-started") == ("started", False),
        limit=request.limit,
        offset=request.offset,
    )
    found = await context.store.matches(wanted)
    total = await context.store.count(wanted)
    return Matches([_shown(RestMatch, entry) for entry in found], **request.page(total))


@endpoint("GET", "/matches/{id}", "A match.", NO_MATCH)
async def match(context: ReadContext, request: RestRequest) -> MatchInFull:
    entry = await match_entry(context, request)
    view = entry.view
    if entry.status == "running":
        view = (await context.call(Arena.look, entry.id)).view
    found = _shown(MatchInFull, entry, reason=entry.reason or None, view=view, verdict=None)
    record = None if entry.status == "running" else await context.store.record(entry.id)
    headlines, verdict = headlines_of_match(record) if record else ((), "")
    for seat, headline in zip(found.seats, headlines, strict=False):
        seat.headline = headline
    found.verdict = verdict or None
    return found


async def match_entry(context: ReadContext, request: RestRequest) -> MatchEntry:
    entry = await context.store.match(request.path("id"))
    if entry is None:
        raise no_match(request.path("id"))
    return entry


def _shown(kind: type[AnyMatch], entry: MatchEntry, **given: Any) -> AnyMatch:
    result, void = outcome_of(entry), entry.void or None
    return copied(kind, entry, result=result, seats=seats_of(entry), void=void, **given)


def outcome_of(entry: MatchEntry) -> RestOutcome | None:
    if entry.result is None:
        return None
    result = native_state(entry, entry.view or first_view(entry))["result"]
    return RestOutcome(result["victor"], result["reason"])


def seats_of(entry: MatchEntry) -> list[Seat]:
    result = entry.result
    seats = [
        Seat(seat, name, version=entry.version(seat) or None)
        for seat, name in enumerate(entry.players)
    ]
    if result is not None:
        for one in seats:
            one.place, one.score = result.places[one.seat], result.scores[one.seat]
            one.cause = result.causes[one.seat]
    return seats


@endpoint(
    "GET",
    "/matches/{id}/record",
    "The match file, from which the match can be played again.",
    (404, "There is no such match, or it is not over."),
)
async def record(context: ReadContext, request: RestRequest) -> bytes:
    entry = await match_entry(context, request)
    found = await context.store.record(entry.id)
    if found is None:
        raise _missing(entry, "record", "its record is stored when it ends")
    return found


def _missing(entry: MatchEntry, what: str, when: str) -> Problem:
    words = f"is still running; {when}" if entry.status == "running" else f"has no {what}"
    return Problem(f"match {entry.id} {words}", 404)


@endpoint(
    "GET",
    "/matches/{id}/film",
    "The match frame by frame, as a viewer shows it.",
    NO_MATCH,
    (409, "The match is still running: watch it."),
    (422, "It takes too long to play again."),
    lines=FILM,
    keeps=inf,
)
async def film(context: ReadContext, request: RestRequest) -> bytes:
    entry = await match_entry(context, request)
    if entry.status == "running":
        raise Problem(
            f"match {entry.id} is still running: watch it at /watch/{entry.id}; its film follows "
            "when it ends",
            409,
        )
    record = await context.store.record(entry.id)
    if record is None:
        raise Problem(f"match {entry.id} has no record, so there is no film of it", 404)
    return film_of_match(entry, await owners_of(entry, context), record)


ROOM = 16 << 20
"""Bytes of the films of running matches that a worker process keeps."""
_pasts: OrderedDict[tuple[Source, str], tuple[tuple[bytes, list[str | None]], bytes]] = (
    OrderedDict()
)
"""By store and match: of which file and owners it is the film, and the film."""


@endpoint(
    "GET",
    "/matches/{id}/past",
    "A running match so far, frame by frame, as its spectators saw it.",
    NO_MATCH,
    (409, "The match does not run, or one of its boards is being stored."),
    (422, "It takes too long to play again."),
    lines=FILM,
)
async def past(context: ReadContext, request: RestRequest) -> bytes:
    entry = await match_entry(context, request)
    lines: list[bytes] = []
    while True:
        some = await context.call(Arena.past, entry.id, len(lines))
        if some is None:
            raise Problem(f"match {entry.id} cannot be shown from its start just now", 409)
        lines += some
        if len(lines) > LIMITS.inputs:
            raise Problem(f"match {entry.id} has more than {LIMITS.inputs} inputs so far", 422)
        if not some:
            break
    data, owners = b"\n".join([*lines, b""]), await owners_of(entry, context)
    key, version = (context.store.source, entry.id), (sha256(data).digest(), owners)
    known, film = _pasts.pop(key, (None, b""))
    if known != version:
        film = film_so_far(entry, owners, data)
    _pasts[key] = version, film
    while sum(len(film) for _, film in _pasts.values()) > ROOM:
        _pasts.popitem(last=False)
    return film


async def owners_of(entry: MatchEntry, context: ReadContext) -> list[str | None]:
    """The owner of each player that is a registered bot."""
    bots = [await context.store.bot(name) for name in entry.players]
    return [
        bot.owner if bot and is_bots(entry, seat, bot) else None for seat, bot in enumerate(bots)
    ]


@endpoint(
    "POST",
    "/films",
    "The film of a match file.",
    (413, "The file is too large."),
    (422, "The file is broken, or takes too long to play again."),
    file=LARGEST_FILE,
    lines=FILM,
)
async def filmed(_: ReadContext, request: RestRequest) -> bytes:
    return film_of_file(request.file)


@endpoint(
    "GET",
    "/matches/{id}/seats/{seat:int}/log",
    "The flight record: what passed between the server and one bot.",
    (401, "There is no token."),
    (403, "It is not the token of the bot at that seat."),
    NO_MATCH,
    private=True,
)
async def flight(context: ReadContext, request: RestRequest) -> bytes:
    """Private: the messages between the server and one bot, with the verdicts."""
    entry = await _own_match(context, request)
    found = await context.store.flight(entry.id, request.path("seat"))
    if found is None:
        raise _missing(entry, "flight records", "flight records are stored at its end")
    return written(found, entry.reason)


@endpoint(
    "GET",
    "/matches/{id}/seats/{seat:int}/rematch",
    "The invite by which the players of a match meet again, for a guest that played in it.",
    (401, "There is no token."),
    (403, "It is not the secret of the guest at that seat."),
    NO_MATCH,
    private=True,
)
async def rematch(context: ReadContext, request: RestRequest) -> RematchInvite:
    entry = await _own_match(context, request)
    if not entry.owners or not is_of_guest(entry.owners[request.path("seat")]):
        raise Problem("this is the seat of a bot; a rematch is for guests", 403)
    return RematchInvite(rematch_invite(entry))


async def _own_match(context: ReadContext, request: RestRequest) -> MatchEntry:
    """The match, for the owner of the seat."""
    token, seat = request.token, request.path("seat")
    entry = await match_entry(context, request)
    if seat >= len(entry.players):
        raise Problem(f"match {entry.id} has the seats 0 to {len(entry.players) - 1}", 404)
    if not await context.call(Arena.owns, entry, seat, token):
        raise Problem(f"this is not the token of the bot at seat {seat}", 403)
    return entry


@endpoint("GET", "/live", "The running matches, the one that runs longest first.", GAME)
async def live(arena: Arena, request: RestRequest) -> Live:
    tables, _ = live_tables(arena.tables, request.game)
    return Live([copied(RestTable, table) for table in tables], arena.tables.count())


@endpoint(
    "GET", "/matches/{id}/players", "The players of a match: owner, rating and protocol.", NO_MATCH
)
async def players(context: ReadContext, request: RestRequest) -> MatchPlayers:
    entry = await match_entry(context, request)
    results = await results_of(entry.game, context.store)
    options = results.form(msgspec.json.encode(entry.options).decode())
    ratings = results.table(options, len(entry.players)).ratings
    running = entry.status == "running"
    protocols = (await context.call(Arena.look, entry.id)).protocols if running else {}
    found = []
    for seat, owner in enumerate(await owners_of(entry, context)):
        name = entry.players[seat]
        key = ratings.chains.key(rated_key(rated_name(name), entry.version(seat)))
        rated = key in ratings.strengths and (owner is not None or name.startswith(HOUSE))
        rating = ratings.strengths[key].rating if rated else None
        found.append(MatchPlayer(name, owner, rating, protocols.get(name)))
    return MatchPlayers(found, entry.void or None)
