"""Contests over REST: rankings; with a document also entrants, rounds, meetings and logs."""

import csv
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from io import StringIO
from math import comb
from time import monotonic
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.api.requests import (
    LONGEST_LIST,
    Problem,
    ReadContext,
    awaited,
    contest_games,
    game_called,
    iso,
)
from botdrome.api.rest.endpoint import (
    CSV,
    GAME,
    NO_GAME,
    PAGING,
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
from botdrome.contest.document import ContestDocument, document_from, read_document
from botdrome.contest.formats.elimination import STILL_IN, Groups
from botdrome.contest.formats.format import (
    EntrantNumber,
    Fixture,
    FixtureResult,
    StandingsLine,
    duels_in,
    played_in,
)
from botdrome.contest.progress import ContestProgress, commitment, contest_blocks, fixture_result
from botdrome.contest.strength import Ratings, rate
from botdrome.store.contest_journal import (
    BEFORE,
    ContestEntry,
    ContestReader,
    ContestState,
    StoredContest,
    UnknownContest,
)
from botdrome.store.entries import ContestLine, Epoch, Meetings, Wanted
from botdrome.store.reports import CONTEST_ORDERS
from botdrome.store.store import StoreReader
from botdrome.wire.battlebot.messages import game_type

endpoint = Endpoints()
NO_CONTEST = (404, "There is no such contest.")


class RankingMethod(Enum):
    """The points for a win and for a draw."""

    AMBITIOUS = (3, 1)
    BALANCED = (2, 1)
    PUNITIVE = (3, 2)

    def points(self, wins: int, draws: int) -> int:
        win, draw = self.value
        return int(win * wins + draw * draws)


METHOD = Parameter(
    "method",
    "Points for a win and a draw, in a contest without a document: 3 and 1, 2 and 1, 3 and 2.",
    choices=tuple(method.name.lower() for method in RankingMethod),
)


class Rank(Struct, frozen=True):
    """One bot's line in the standings of a contest."""

    place: int
    bot: str
    wins: int
    draws: int
    losses: int
    played: int
    score: float
    """As in the standings of its document; without a document, the points of the method."""
    note: str = ""
    """Such as `lost the final`; empty without a document."""


async def contest_ranks(
    store: StoreReader, game: str, name: str, method: RankingMethod = RankingMethod.AMBITIOUS
) -> tuple[list[Rank], ContestProgress | None]:
    """Return the standings of a contest, best first, and its progress if it has a document.

    A contest without a document is ranked by the points of the method, then more wins, then fewer
    losses.
    """
    progress = await _progress(store, game, name)
    if progress is not None:
        names = [entrant.name for entrant in progress.entrants]
        return [_rank(one, names[one.entrant]) for one in progress.standings()], progress
    lines = [
        (method.points(line.wins, line.draws), line)
        for line in await store.contest_lines(game, name)
    ]
    lines.sort(key=lambda item: (-item[0], -item[1].wins, item[1].losses, item[1].name))
    return [
        _rank(line, line.name, place=place, score=points, note="")
        for place, (points, line) in enumerate(lines, 1)
    ], None


async def _progress(store: StoreReader, game: str, name: str) -> ContestProgress | None:
    """Return the progress of a contest that has a document and has started."""
    try:
        stored = await ContestReader(store).load(name)
    except UnknownContest:
        return None
    if stored.entry.document.game != game or stored.entry.state in BEFORE:
        return None
    return ContestProgress(stored.entry.document, stored.entrants, stored.results)


def _rank(one: StandingsLine | ContestLine, bot: str, **given: Any) -> Rank:
    return copied(Rank, one, bot=bot, played=one.wins + one.draws + one.losses, **given)


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
    matches: int
    """How many have ended."""
    running: int
    planned: int
    """How many there will be, if no other bot joins."""
    rankings: list[Rank]


class RestStandings(ListPage):
    bots: list[Rank]


class Crosstable(Struct):
    bots: list[str]
    """The best first; 100 at most."""
    total: int
    """How many bots there are."""
    rows: list[list[list[int] | None]]
    """Wins, draws and losses of each against each; null: they have not met."""


MOST_ROWS = 100
"""Of a crosstable."""


@endpoint(
    "GET",
    "/contests",
    "The contests of all games, the one with the latest match first.",
    GAME,
    Parameter("document", "no: only contests without a document.", choices=("any", "no")),
    sorted_by(*CONTEST_ORDERS),
    *PAGING,
)
async def contestlist(context: ReadContext, request: RestRequest) -> AllContests:
    found, total = await context.store.reports.contests(
        request.game,
        *request.order("-last"),  # type: ignore[arg-type]
        request.limit,
        request.offset,
        request.text("document") == "no",
    )
    return AllContests([copied(RestContestLine, one) for one in found], **request.page(total))


@endpoint(
    "GET", "/contests/{game}", "The contests of a game, by their first match.", *PAGING, NO_GAME
)
async def contests(context: ReadContext, request: RestRequest) -> Contests:
    names = await context.store.contests(game_called(request.path("game")))
    return Contests(list(request.part(names)), **request.page(len(names)))


@endpoint("GET", "/contests/{game}/{name:path}", "A contest and its ranking.", METHOD, NO_CONTEST)
async def contest(context: ReadContext, request: RestRequest) -> Contest:
    game, name = await _known(context, request)
    rankings, progress = await contest_ranks(context.store, game, name, _method(request))
    ended, running = await context.store.meetings(game, name)
    planned = (
        _planned([ended, running], await context.call(contest_games))
        if progress is None
        else progress.expected
    )
    return Contest(
        name, game, game_type(game), sum(ended.values()), sum(running.values()), planned, rankings
    )


@endpoint(
    "GET",
    "/standings/{game}/{name:path}",
    "The ranking of a contest, a page at a time.",
    METHOD,
    sorted_by(*Rank.__struct_fields__),
    *PAGING,
    NO_CONTEST,
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
    if await context.store.count(Wanted(game=game, contest=name)):
        return game, name
    if await _progress(context.store, game, name) is None:
        raise Problem(f"there are no matches in a contest {name!r} of {game}", 404)
    return game, name


def _planned(met: list[Meetings], each_way: int) -> int:
    """Every group of players that fits a table plays `each_way` matches for each of its players."""
    players: defaultdict[int, set[str]] = defaultdict(set)
    for meetings in met:
        for names in meetings:
            players[len(names)].update(names)
    return sum(comb(len(names), seats) * seats * each_way for seats, names in players.items())


@endpoint(
    "GET",
    "/crosstables/{game}/{name:path}",
    "The results of each against each in a contest.",
    NO_CONTEST,
)
async def crosstable(context: ReadContext, request: RestRequest) -> Crosstable:
    game, name = await _known(context, request)
    rankings, progress = await contest_ranks(context.store, game, name)
    names = [rank.bot for rank in rankings[:MOST_ROWS]]
    scores = (
        await context.store.reports.crosstable(game, name)
        if progress is None
        else _crosstable(progress)
    )
    rows = [
        [list(scores[one, two]) if (one, two) in scores else None for two in names] for one in names
    ]
    return Crosstable(names, len(rankings), rows)


def _crosstable(progress: ContestProgress) -> Mapping[tuple[str, str], Sequence[int]]:
    """Return wins, draws and losses of each pair, from the results that count."""
    names = [entrant.name for entrant in progress.entrants]
    scores: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for one, two, points in duels_in(progress.rounds, progress.results):
        scores[names[one], names[two]][2 - points] += 1
    return scores


RESULT_COLUMNS = ("round", "meeting", "game", "match", "seat", "bot", "place", "fault")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The beginnings of a formula in spreadsheets. Bots choose their names."""


@endpoint(
    "GET",
    "/contest-results/{game}/{name:path}",
    "The standings of a contest as CSV, or its matches with a line for each player.",
    Parameter("table", "standings if nothing is said.", choices=("standings", "matches")),
    NO_CONTEST,
    answer=CSV,
)
async def contestresults(context: ReadContext, request: RestRequest) -> bytes:
    game, name = await _known(context, request)
    if request.text("table") == "matches":
        progress = await _progress(context.store, game, name)
        lines = [
            line
            async for place, bots, result in _results(context.store, game, name, progress)
            for line in _result_lines(place, bots, result)
        ]
        return as_csv(RESULT_COLUMNS, lines)
    ranks, _ = await contest_ranks(context.store, game, name)
    return as_csv(Rank.__struct_fields__, map(msgspec.structs.astuple, ranks))


async def _results(
    store: StoreReader, game: str, name: str, progress: ContestProgress | None
) -> AsyncIterator[tuple[Sequence[object], Sequence[str], FixtureResult]]:
    """Yield round, meeting and game, the bots and the result of each match that counts.

    A contest without a document has no rounds.
    """
    if progress is not None:
        for fixture, result in played_in(progress.rounds, progress.results):
            yield fixture.place, names_of(progress, fixture.entrants), result
        return
    wanted = Wanted(game, name, status="ended", oldest_first=True, limit=LONGEST_LIST)
    while found := await store.matches(wanted):
        last = found[-1].started
        together = found[0].started == last
        for entry in found:
            if entry.result is not None and (together or entry.started < last):
                yield ("", "", ""), entry.players, fixture_result(entry.result, entry.id)
        if together:
            wanted = replace(wanted, offset=wanted.offset + LONGEST_LIST)
        else:  # the next page begins with all that started at the last moment
            wanted = replace(wanted, since=last, offset=0)


def _result_lines(
    place: Sequence[object], bots: Sequence[str], result: FixtureResult
) -> Iterator[Sequence[object]]:
    places = result.places or [""] * len(bots)
    for seat, (bot, reached) in enumerate(zip(bots, places, strict=True)):
        fault = "no-show" if seat in result.absent else "crash" if seat in result.crashed else ""
        yield *place, result.match, seat, bot, reached, fault


def as_csv(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> bytes:
    """Return a table in UTF-8. A text that a spreadsheet would compute gets an apostrophe."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for line in lines:
        writer.writerow(
            [f"'{one}" if isinstance(one, str) and one.startswith(FORMULA) else one for one in line]
        )
    return text.getvalue().encode()


HIDDEN = "..."
"""In place of a password."""
STATES = {
    "current": ("open", "running", "paused"),
    "coming": ("draft", "open"),
    "playing": ("running", "paused"),
} | {state: (state,) for state in get_args(ContestState)}
STATE = Parameter(
    "state",
    "Only those in this state; current: open, running or paused; coming: draft or open; playing: "
    "running or paused.",
    choices=tuple(STATES),
)
LARGEST_GROUP = 1000
"""The largest group with intervals of ratings, which each request computes."""
MOST_LINES = 1000
"""Lines of the log in an answer: the latest."""


class ListedContest(Struct):
    name: str
    title: str
    game: GameName
    format: str
    state: ContestState
    entrants: int
    created: Moment
    start: str | None
    end: str | None
    entry: str
    """Which bots may enter: open, list or password."""
    late: bool
    """Whether bots may enter after the start."""
    why: str
    """Why it waits for its organiser; empty: it does not, or its page says so."""
    champions: list[str]
    """The bots in the first place, once it is over."""


class ListedContests(ListPage):
    contests: list[ListedContest]


class ContestEntrant(Struct):
    name: str
    owner: str
    version: str
    left: int | None
    """The first round in which it no longer plays."""


class ContestStanding(Struct, rename="camel"):
    bot: str
    place: int
    score: float
    wins: int
    draws: int
    losses: int
    byes: int
    no_shows: int
    crashes: int
    tie_breaks: list[float]
    note: str
    rating: float | None
    """From the matches of this contest; null: it has played none."""
    margin: float | None
    """Half of the 95 % interval's width."""
    group: int | None
    """Ratings of different groups are not comparable."""


class RestFixture(Struct):
    key: str
    bots: list[str]
    """By seat."""
    result: FixtureResult | None
    """null: it is still to be played."""


class RestRound(Struct):
    number: int
    byes: list[str]
    fixtures: list[RestFixture]
    meetings: int
    games: int
    """The number of its matches."""
    played: int
    """Those that have results."""


class ContestLogLine(Struct):
    when: Moment
    author: str
    action: str
    detail: str


class DocumentedContest(Struct, rename="camel"):
    name: str
    game: GameName
    state: ContestState
    document: dict[str, Any]
    """As in TOML. A password is shown as `...`."""
    why: str
    """Why it waits for its organiser; empty: it does not."""
    awaited: list[str]
    """Bots with matches to play that are not connected."""
    played: int
    expected: int
    """About how many matches there will be."""
    entrants: list[ContestEntrant]
    standings: list[ContestStanding]
    groups: list[list[ContestStanding]]
    """The standings of each group, in a contest of groups."""
    champions: list[str]
    """The bots in the first place, once it is over; none if it ended before it was decided."""
    distinct_games: int
    """How many different games were played; repeated games count once."""
    repeated: str
    """How many blocks the intervals count, as a sentence; empty: no block was repeated, so all
    count.
    """
    rounds: list[RestRound]
    log: list[ContestLogLine]
    """The latest line first; 1000 at most."""
    tie_breaks: list[str]
    """The names of the tie-breaks in the standings."""
    seeds_hash: str
    """SHA-256 of the secret on which the seeds depend."""
    seeds_secret: str | None
    """That secret, once the contest is over."""


@endpoint(
    "GET",
    "/contest-documents",
    "The contests with a document, the newest first.",
    GAME,
    STATE,
    *PAGING,
)
async def contestdocuments(context: ReadContext, request: RestRequest) -> ListedContests:
    journal = ContestReader(context.store)
    states = STATES.get(request.text("state") or "", ())
    found = [*(await journal.contests(request.game, states)).values()][::-1]
    page = [await _summary(journal, entry) for entry in request.part(found)]
    return ListedContests(page, **request.page(len(found)))


@endpoint(
    "GET",
    "/contest-documents/{name:path}",
    "A contest with its document, entrants, rounds, standings and log.",
    Parameter(
        "fixtures",
        "none: leave out the matches of the rounds, which may be many.",
        choices=("all", "none"),
    ),
    NO_CONTEST,
)
async def contestdocument(context: ReadContext, request: RestRequest) -> DocumentedContest:
    shown = await contest_called(context, request.path("name"))
    if request.text("fixtures") == "none":
        for one in shown.rounds:
            one.fixtures = []
    return shown


async def contest_called(context: ReadContext, name: str) -> DocumentedContest:
    return contest_shown(await _stored(context, name), await context.call(awaited, name))


async def progress_called(context: ReadContext, name: str) -> ContestProgress:
    """Return the progress of a contest; without rounds before its start."""
    stored = await _stored(context, name)
    entrants = [] if stored.entry.state in BEFORE else stored.entrants
    return ContestProgress(stored.entry.document, entrants, stored.results)


async def _stored(context: ReadContext, name: str) -> StoredContest:
    try:
        return await ContestReader(context.store).load(name)
    except UnknownContest:
        raise Problem(f"there is no contest {name!r} with a document", 404) from None


async def _summary(journal: ContestReader, entry: ContestEntry) -> ListedContest:
    document = entry.document
    entrants = await journal.count_entrants(document.name)
    title, created = document.title or document.name, iso(entry.created)
    return ListedContest(
        document.name, title, document.game, document.format_, entry.state, entrants, created,
        document.start, document.end, document.entry.kind, document.entry.late,
        "" if entry.state == "over" else entry.why, await _known_champions(journal, entry),
    )  # fmt: skip


KEPT = 60.0
"""Seconds for which the champions of a contest are kept. To find them, all results are read."""
_champions_of: dict[tuple[str, Epoch], tuple[float, list[str]]] = {}
"""By name and creation: when they were found, and their names."""


async def _known_champions(journal: ContestReader, entry: ContestEntry) -> list[str]:
    if entry.state != "over":
        return []
    key, now = (entry.document.name, entry.created), monotonic()
    if key not in _champions_of or now - _champions_of[key][0] > KEPT:
        stored = await journal.load(entry.document.name)
        progress = ContestProgress(entry.document, stored.entrants, stored.results)
        _champions_of[key] = now, _champions(progress)
    return _champions_of[key][1]


def _champions(progress: ContestProgress) -> list[str]:
    """Return the bots in the first place; none if too little was played to tell."""
    first = [line for line in progress.standings() if line.place == 1 and line.note != STILL_IN]
    return names_of(progress, [line.entrant for line in first]) if progress.results else []


class ContestTitle(Struct):
    game: GameName
    name: str
    title: str


class ContestTitles(Struct):
    contests: list[ContestTitle]
    """Those that have a title, the newest first; 1000 at most."""


@endpoint("GET", "/contest-titles", "The titles of contests with a document.")
async def contesttitles(context: ReadContext, _request: RestRequest) -> ContestTitles:
    entries = await ContestReader(context.store).contests()
    documents = [entry.document for entry in reversed(entries.values())]
    titled = [copied(ContestTitle, one) for one in documents if one.title]
    return ContestTitles(titled[:LONGEST_LIST])


def contest_shown(stored: StoredContest, awaited: list[str]) -> DocumentedContest:
    entry = stored.entry
    progress = ContestProgress(entry.document, stored.entrants, stored.results)
    began = entry.state not in BEFORE
    hidden = set() if began else hidden_keys(entry.document)
    named = {one.bot for one in entry.document.entrants} if "entrants" in hidden else ()
    blocks = contest_blocks(progress)
    ratings = rate(blocks.counted(), largest=LARGEST_GROUP)
    repetition = blocks.repetition()
    return DocumentedContest(
        name=entry.document.name,
        game=entry.document.game,
        state=entry.state,
        document={
            key: value for key, value in shown_document(entry.document).items() if key not in hidden
        },
        why="" if entry.state == "over" else entry.why or (progress.refusal if began else ""),
        awaited=awaited,
        played=len(progress.results) if began else 0,
        expected=progress.expected,
        entrants=[copied(ContestEntrant, one) for one in stored.entrants if one.name not in named],
        standings=_standings(progress, progress.standings(), ratings) if began else [],
        groups=[_standings(progress, table, ratings) for table in _tables(progress)]
        if began
        else [],
        champions=_champions(progress) if entry.state == "over" else [],
        distinct_games=repetition.games,
        repeated=repetition.words(),
        rounds=_rounds(progress) if began else [],
        log=[
            copied(ContestLogLine, one, detail="" if hidden else one.detail)
            for one in stored.log[: -MOST_LINES - 1 : -1]
        ],
        tie_breaks=list(entry.document.tie_breaks),
        seeds_hash=commitment(entry.secret),
        seeds_secret=entry.secret if entry.state == "over" else None,
    )


def hidden_keys(document: ContestDocument) -> set[str]:
    """Return the keys that only the organiser sees before the start."""
    hidden = set[str](document.hidden)
    return hidden | {"grades", "champion"} if "entrants" in hidden else hidden


def given_document(toml: str | None, document: Any) -> ContestDocument:
    """Return the document of a request, as TOML or as JSON."""
    if (toml is None) == (document is None):
        raise Problem('give the document as "toml" or as "document"')
    return read_document(toml) if toml is not None else document_from(document)


def shown_document(document: ContestDocument) -> dict[str, Any]:
    """Return what the organiser has set, without the password."""
    rules = document.entry
    shown = replace(document, entry=replace(rules, password=HIDDEN if rules.password else ""))
    values: dict[str, Any] = msgspec.to_builtins(shown)
    usual: dict[str, Any] = msgspec.to_builtins(
        ContestDocument(name=document.name, game=document.game)
    )
    return {
        key: value
        for key, value in values.items()
        if key in ("name", "game", "format") or value != usual[key]
    }


def _standings(
    progress: ContestProgress, lines: Sequence[StandingsLine], ratings: Ratings
) -> list[ContestStanding]:
    shown = []
    for one in lines:
        name = progress.entrants[one.entrant].name
        strength = ratings.strengths.get(name)
        rated = {field: getattr(strength, field, None) for field in ("rating", "margin", "group")}
        shown.append(copied(ContestStanding, one, bot=name, **rated))
    return shown


def _tables(progress: ContestProgress) -> Sequence[Sequence[StandingsLine]]:
    return progress.format.tables() if isinstance(progress.format, Groups) else ()


def _rounds(progress: ContestProgress) -> list[RestRound]:
    return [
        RestRound(
            one.number,
            names_of(progress, one.byes),
            fixtures_shown(progress, one.fixtures),
            len({fixture.meeting for fixture in one.fixtures}),
            len(one.fixtures),
            sum(fixture.key in progress.results for fixture in one.fixtures),
        )
        for one in progress.rounds
    ]


def fixtures_shown(progress: ContestProgress, fixtures: Sequence[Fixture]) -> list[RestFixture]:
    return [
        RestFixture(one.key, names_of(progress, one.entrants), progress.results.get(one.key))
        for one in fixtures
    ]


def names_of(progress: ContestProgress, entrants: Sequence[EntrantNumber]) -> list[str]:
    return [progress.entrants[number].name for number in entrants]
