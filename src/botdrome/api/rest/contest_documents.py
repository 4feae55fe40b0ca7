"""Contests with a document, over REST: their documents, entrants, rounds, standings and logs."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.api.arguments import iso
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import GameName, ListPage, Moment, Parameter, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.contest.block_counts import contest_blocks
from botdrome.contest.document import BadDocument, ContestDocument, document_from, read_document
from botdrome.contest.formats.format import FixtureResult, Standing
from botdrome.contest.progress import ContestProgress, commitment
from botdrome.contest.strength import Ratings, rate_counted
from botdrome.store.contest_journal import (
    BEFORE,
    ContestEntry,
    ContestJournal,
    ContestState,
    StoredContest,
    UnknownContest,
)

HIDDEN = "..."
"""In place of a password."""
CURRENT = ("open", "running", "paused")
"""The states of contests that bots can enter or that are being played."""
STATE = Parameter(
    "state",
    "Only those in this state; current: those that are open, running or paused.",
    choices=("draft", *CURRENT, "over", "current"),
)
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
    entry: Annotated[str, Meta(description="Which bots may enter: open, list or password.")]
    late: Annotated[bool, Meta(description="Whether bots may enter after the start.")]
    why: Annotated[
        str,
        Meta(
            description="Why it waits for its organiser; empty: it does not, or its page says so."
        ),
    ]


class ListedContests(ListPage):
    contests: list[ListedContest]


class ContestEntrant(Struct):
    name: str
    owner: str
    version: str
    left: Annotated[int | None, Meta(description="The first round in which it no longer plays.")]


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
    rating: Annotated[
        float | None,
        Meta(description="From the matches of this contest; null: it has played none."),
    ]
    margin: Annotated[float | None, Meta(description="Half of the 95 % interval's width.")]
    group: Annotated[
        int | None, Meta(description="Ratings of different groups are not comparable.")
    ]


class RestFixture(Struct):
    key: str
    bots: Annotated[list[str], Meta(description="By seat.")]
    result: Annotated[FixtureResult | None, Meta(description="null: it is still to be played.")]


class RestRound(Struct):
    number: int
    byes: list[str]
    fixtures: list[RestFixture]
    meetings: int
    games: Annotated[int, Meta(description="The number of its matches.")]
    played: Annotated[int, Meta(description="Those that have results.")]


class ContestLogLine(Struct):
    when: Moment
    author: str
    action: str
    detail: str


class DocumentedContest(Struct, rename="camel"):
    name: str
    game: GameName
    state: ContestState
    document: Annotated[
        dict[str, Any], Meta(description="As in TOML. A password is shown as `...`.")
    ]
    why: Annotated[str, Meta(description="Why it waits for its organiser; empty: it does not.")]
    awaited: Annotated[
        list[str], Meta(description="Bots with matches to play that are not connected.")
    ]
    played: int
    expected: Annotated[int, Meta(description="About how many matches there will be.")]
    entrants: list[ContestEntrant]
    standings: list[ContestStanding]
    distinct_games: Annotated[
        int, Meta(description="How many different games were played; repeated games count once.")
    ]
    repeated: Annotated[
        str,
        Meta(
            description="How many blocks the intervals count, as a sentence; empty: no block was "
            "repeated, so all count."
        ),
    ]
    rounds: list[RestRound]
    log: Annotated[
        list[ContestLogLine], Meta(description=f"The latest line first; {MOST_LINES} at most.")
    ]
    tie_breaks: Annotated[
        list[str], Meta(description="The names of the tie-breaks in the standings.")
    ]
    seeds_hash: Annotated[str, Meta(description="SHA-256 of the secret on which the seeds depend.")]
    seeds_secret: Annotated[str | None, Meta(description="That secret, once the contest is over.")]


async def contestdocuments(context: ReadContext, request: RestRequest) -> ListedContests:
    journal = ContestJournal(context.store)
    state = request.text("state")
    states = CURRENT if state == "current" else (state,)
    found = [
        entry
        for entry in (await journal.contests()).values()
        if state is None or entry.state in states
    ][::-1]
    page = [await _summary(journal, entry) for entry in request.part(found)]
    return ListedContests(page, **request.page(len(found)))


async def contestdocument(context: ReadContext, request: RestRequest) -> DocumentedContest:
    shown = await contest_called(context, request.path("name"))
    if request.text("fixtures") == "none":
        for one in shown.rounds:
            one.fixtures = []
    return shown


async def contest_called(context: ReadContext, name: str) -> DocumentedContest:
    return contest_shown(await _stored(context, name), await context.awaited(name))


async def progress_called(context: ReadContext, name: str) -> ContestProgress:
    """Return the progress of a contest; without rounds before its start."""
    stored = await _stored(context, name)
    entrants = [] if stored.entry.state in BEFORE else stored.entrants
    return ContestProgress(stored.entry.document, entrants, stored.results)


async def _stored(context: ReadContext, name: str) -> StoredContest:
    try:
        return await ContestJournal(context.store).load(name)
    except UnknownContest:
        raise Problem(f"there is no contest {name!r} with a document", 404) from None


async def _summary(journal: ContestJournal, entry: ContestEntry) -> ListedContest:
    document = entry.document
    entrants = len(await journal.entrants(document.name))
    title, created = document.title or document.name, iso(entry.created)
    return ListedContest(
        document.name, title, document.game, document.format_, entry.state, entrants, created,
        document.start, document.end, document.entry.kind, document.entry.late,
        "" if entry.state == "over" else entry.why,
    )  # fmt: skip


def contest_shown(stored: StoredContest, awaited: list[str]) -> DocumentedContest:
    entry = stored.entry
    progress = ContestProgress(entry.document, stored.entrants, stored.results)
    began = entry.state not in BEFORE
    blocks = contest_blocks(progress)
    repetition = blocks.repetition()
    return DocumentedContest(
        name=entry.document.name,
        game=entry.document.game,
        state=entry.state,
        document=shown_document(entry.document),
        why="" if entry.state == "over" else entry.why or (progress.refusal if began else ""),
        awaited=awaited,
        played=len(progress.results) if began else 0,
        expected=progress.expected,
        entrants=[
            ContestEntrant(one.name, one.owner, one.version, one.left) for one in stored.entrants
        ],
        standings=_standings(progress, rate_counted(blocks.counted())) if began else [],
        distinct_games=repetition.games,
        repeated=repetition.words(),
        rounds=_rounds(progress) if began else [],
        log=[
            ContestLogLine(iso(one.when), one.author, one.action, one.detail)
            for one in stored.log[: -MOST_LINES - 1 : -1]
        ],
        tie_breaks=list(entry.document.tie_breaks),
        seeds_hash=commitment(entry.secret),
        seeds_secret=entry.secret if entry.state == "over" else None,
    )


def given_document(toml: str | None, document: Any) -> ContestDocument:
    """Return the document of a request, as TOML or as JSON."""
    if (toml is None) == (document is None):
        raise Problem('give the document as "toml" or as "document"')
    try:
        return read_document(toml) if toml is not None else document_from(document)
    except BadDocument as bad:
        raise Problem(str(bad)) from None


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


def _standings(progress: ContestProgress, ratings: Ratings) -> list[ContestStanding]:
    return [_standing(progress, ratings, one) for one in progress.standings()]


def _standing(progress: ContestProgress, ratings: Ratings, one: Standing) -> ContestStanding:
    name = progress.entrants[one.entrant].name
    strength = ratings.strengths.get(name)
    rated = (
        (None, None, None)
        if strength is None
        else (strength.rating, strength.margin, strength.group)
    )
    return ContestStanding(
        name, one.place, one.score, one.wins, one.draws, one.losses, one.byes, one.no_shows,
        one.crashes, list(one.tie_breaks), one.note, *rated,
    )  # fmt: skip


def _rounds(progress: ContestProgress) -> list[RestRound]:
    names = [entrant.name for entrant in progress.entrants]
    return [
        RestRound(
            one.number,
            [names[number] for number in one.byes],
            [
                RestFixture(
                    fixture.key,
                    [names[number] for number in fixture.entrants],
                    progress.results.get(fixture.key),
                )
                for fixture in one.fixtures
            ],
            len({fixture.meeting for fixture in one.fixtures}),
            len(one.fixtures),
            sum(fixture.key in progress.results for fixture in one.fixtures),
        )
        for one in progress.rounds
    ]
