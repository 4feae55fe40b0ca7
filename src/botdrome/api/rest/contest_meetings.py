"""Meetings of a contest over REST, a page at a time: a round of a large contest has thousands of
matches.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.problems import Problem
from botdrome.api.rest.contest_documents import RestFixture, progress_called
from botdrome.api.rest.endpoint import ListPage, Parameter, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.contest.formats.elimination import Bracket, BracketPlace, Knockout
from botdrome.contest.formats.format import ContestFixture, EntrantNumber, Scores
from botdrome.contest.formats.groups import Groups, groups_in
from botdrome.contest.progress import ContestProgress

FILTERS = (
    Parameter("round", "The number of a round; all rounds if nothing is said.", "integer"),
    Parameter("bot", "Only meetings of this bot."),
)


class ContestMeeting(Struct):
    key: str
    round: int
    group: Annotated[int | None, Meta(description="The group, in the group stage of a contest.")]
    bots: Annotated[list[str], Meta(description="In the order of seats of the first match.")]
    scores: Annotated[list[float], Meta(description="Of these bots in this meeting, so far.")]
    games: Annotated[list[RestFixture], Meta(description="Its matches.")]
    winner: Annotated[
        str | None, Meta(description="In a knockout or double elimination, once its round is over.")
    ]
    place: Annotated[
        BracketPlace | None,
        Meta(description="In the bracket of a knockout or double elimination of pairs."),
    ]


class ContestMeetings(ListPage):
    meetings: list[ContestMeeting]


async def contestmeetings(context: ReadContext, request: RestRequest) -> ContestMeetings:
    progress = await progress_called(context, request.path("name"))
    found = list(_meetings(progress, _round(request.text("round")), request.text("bot")))
    groups, bracket = _groups(progress), _bracket(progress)
    page = [_shown(progress, games, groups, bracket) for games in request.part(found)]
    return ContestMeetings(page, **request.page(len(found)))


def _round(text: str | None) -> int | None:
    if text is not None and not (text.isascii() and text.isdecimal()):
        raise Problem(f"round is the number of a round, such as 1, not {text!r}")
    return None if text is None else int(text)


def _meetings(
    progress: ContestProgress, number: int | None, bot: str | None
) -> Iterator[Sequence[ContestFixture]]:
    wanted = {at for at, entrant in enumerate(progress.entrants) if entrant.name == bot}
    for round_ in progress.rounds:
        if number is None or round_.number == number:
            meetings: defaultdict[str, list[ContestFixture]] = defaultdict(list)
            for fixture in round_.fixtures:
                if bot is None or not wanted.isdisjoint(fixture.entrants):
                    meetings[fixture.meeting].append(fixture)
            yield from meetings.values()


def _groups(progress: ContestProgress) -> dict[EntrantNumber, int]:
    if not isinstance(progress.format, Groups):
        return {}
    groups = groups_in(progress.document, progress.entrants)
    return {number: at for at, group in enumerate(groups, 1) for number in group}


def _bracket(progress: ContestProgress) -> Bracket | None:
    if not isinstance(progress.format, Knockout):
        return None
    return progress.format.followed(progress.document, progress.entrants, progress.results)


def _shown(
    progress: ContestProgress,
    games: Sequence[ContestFixture],
    groups: dict[EntrantNumber, int],
    bracket: Bracket | None,
) -> ContestMeeting:
    first, names, scores = (
        games[0],
        [entrant.name for entrant in progress.entrants],
        Scores(progress.document),
    )
    for fixture in games:
        if (result := progress.results.get(fixture.key)) is not None:
            scores.add(fixture, result)
    return ContestMeeting(
        first.meeting,
        first.round,
        groups.get(first.entrants[0]) if first.round == 1 else None,
        [names[number] for number in first.entrants],
        [scores.score(number) for number in first.entrants],
        [
            RestFixture(
                fixture.key,
                [names[number] for number in fixture.entrants],
                progress.results.get(fixture.key),
            )
            for fixture in games
        ],
        None
        if bracket is None or first.meeting not in bracket.winners
        else names[bracket.winners[first.meeting]],
        None if bracket is None else bracket.places.get(first.meeting),
    )
