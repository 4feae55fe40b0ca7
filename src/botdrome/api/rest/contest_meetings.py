"""The meetings and the bracket of a contest with a document, over REST."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from botdrome.api.requests import Problem, ReadContext
from botdrome.api.rest.contests import (
    NO_CONTEST,
    RestFixture,
    fixtures_shown,
    names_of,
    progress_called,
)
from botdrome.api.rest.endpoint import PAGING, Endpoints, ListPage, Parameter, RestRequest
from botdrome.contest.formats.elimination import Bracket, BracketPlace, Groups, Knockout
from botdrome.contest.formats.format import EntrantNumber, Fixture, Scores
from botdrome.contest.progress import ContestProgress

endpoint = Endpoints()
FILTERS = (
    Parameter("round", "The number of a round; all rounds if nothing is said.", "integer"),
    Parameter("bot", "Only meetings of this bot."),
)


class ContestMeeting(Struct):
    key: str
    round: int
    group: int | None
    """The group, in the group stage of a contest."""
    bots: list[str]
    """In the order of seats of the first match."""
    scores: list[float]
    """Of these bots in this meeting, so far."""
    games: list[RestFixture]
    """Its matches."""
    winner: str | None
    """In a bracket, once its round is over."""
    place: BracketPlace | None
    """In the bracket of a knockout, of a double elimination or after groups, if it is one of pairs.
    """


class ContestMeetings(ListPage):
    meetings: list[ContestMeeting]


@endpoint(
    "GET",
    "/contest-meetings/{name:path}",
    "The meetings of a contest with a document, with their matches.",
    *FILTERS,
    *PAGING,
    NO_CONTEST,
)
async def contestmeetings(context: ReadContext, request: RestRequest) -> ContestMeetings:
    progress = await progress_called(context, request.path("name"))
    found = list(_meetings(progress, _round(request.text("round")), request.text("bot")))
    groups, bracket = _groups(progress), _bracket(progress)
    page = [_shown(progress, games, groups, bracket) for games in request.part(found)]
    return ContestMeetings(page, **request.page(len(found)))


class ContestBye(Struct):
    bot: str
    round: int
    place: BracketPlace


class ContestBracket(Struct):
    format: str
    meetings: list[ContestMeeting]
    """By round, from the top."""
    byes: list[ContestBye]


LARGEST_BRACKET = 128
"""Entrants of a bracket that can be drawn."""


@endpoint(
    "GET",
    "/contest-brackets/{name:path}",
    "The bracket of a contest with a document: its meetings and byes. It is empty without one, and "
    "with more than 128 entrants.",
    NO_CONTEST,
)
async def contestbracket(context: ReadContext, request: RestRequest) -> ContestBracket:
    progress = await progress_called(context, request.path("name"))
    bracket, shown = _bracket(progress), ContestBracket(progress.document.format_, [], [])
    if bracket is not None and len(bracket.players) <= LARGEST_BRACKET:
        shown.meetings = [
            _shown(progress, games, {}, bracket)
            for games in _meetings(progress, None, None)
            if games[0].meeting in bracket.places
        ]
        shown.byes = [
            ContestBye(progress.entrants[bye.entrant].name, bye.round, bye.place)
            for bye in bracket.byes
        ]
    return shown


def _round(text: str | None) -> int | None:
    if text is not None and not (text.isascii() and text.isdecimal()):
        raise Problem(f"round is the number of a round, such as 1, not {text!r}")
    return None if text is None else int(text)


def _meetings(
    progress: ContestProgress, number: int | None, bot: str | None
) -> Iterator[Sequence[Fixture]]:
    wanted = {at for at, entrant in enumerate(progress.entrants) if entrant.name == bot}
    for round_ in progress.rounds:
        if number is None or round_.number == number:
            meetings: defaultdict[str, list[Fixture]] = defaultdict(list)
            for fixture in round_.fixtures:
                if bot is None or not wanted.isdisjoint(fixture.entrants):
                    meetings[fixture.meeting].append(fixture)
            yield from meetings.values()


def _groups(progress: ContestProgress) -> dict[EntrantNumber, int]:
    if not isinstance(progress.format, Groups):
        return {}
    groups = enumerate(progress.format.groups(), 1)
    return {number: at for at, group in groups for number in group}


def _bracket(progress: ContestProgress) -> Bracket | None:
    return progress.format.followed() if isinstance(progress.format, Knockout | Groups) else None


def _shown(
    progress: ContestProgress,
    games: Sequence[Fixture],
    groups: dict[EntrantNumber, int],
    bracket: Bracket | None,
) -> ContestMeeting:
    first, scores = games[0], Scores(progress.document)
    for fixture in games:
        if (result := progress.results.get(fixture.key)) is not None:
            scores.add(fixture, result)
    return ContestMeeting(
        first.meeting,
        first.round,
        groups.get(first.entrants[0]) if first.round == 1 else None,
        names_of(progress, first.entrants),
        [scores.score(number) for number in first.entrants],
        fixtures_shown(progress, games),
        None
        if bracket is None or first.meeting not in bracket.winners
        else progress.entrants[bracket.winners[first.meeting]].name,
        None if bracket is None else bracket.places.get(first.meeting),
    )
