"""Double elimination: two defeats, and a second final if the unbeaten entrant loses the first."""

from collections import Counter

import pytest

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.elimination import DoubleElimination
from botdrome.contest.formats.format import Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import (
    bots,
    by_chance,
    contest,
    document,
    order,
    played,
    seeds_win,
)


@pytest.mark.parametrize("entrants", range(2, 18))
def test_everybody_but_the_winner_loses_two_meetings(entrants: int) -> None:
    progress = contest(
        "double-elimination",
        entrants,
        lambda f: by_chance(f) if f.round % 2 else seeds_win(f),
        best_of=1,
    )
    meetings = {fixture.meeting: fixture for fixture in progress.fixtures.values()}
    played = Counter(number for fixture in meetings.values() for number in fixture.entrants)
    assert all(played[number] >= 2 for number in range(entrants))
    assert len(meetings) in (2 * entrants - 2, 2 * entrants - 1)
    assert [line.place for line in progress.standings()[:2]] == [1, 2]


def test_the_final_is_played_again_if_the_unbeaten_one_loses() -> None:
    def upset(fixture: Fixture) -> FixtureResult:
        """Entrant 1 loses to entrant 0 once, in round 2."""
        return (
            seeds_win(fixture)
            if 1 not in fixture.entrants or fixture.round == 2
            else _won_by_one(fixture)
        )

    def _won_by_one(fixture: Fixture) -> FixtureResult:
        return FixtureResult(tuple(1 if number == 1 else 2 for number in fixture.entrants))

    progress = contest("double-elimination", 4, upset)
    assert order(progress)[:2] == [1, 0]
    assert progress.rounds_played == 5
    assert contest("double-elimination", 4).rounds_played == 4


def test_a_second_defeat_counts_before_the_round_is_over() -> None:
    progress = ContestProgress(document("double-elimination", best_of=1), bots(4), {})
    played(progress, most=1)
    assert {line.note for line in progress.standings()} == {"still in"}
    progress = played(progress, most=1)
    lower = next(one for one in progress.open.values() if 3 in one.entrants)
    progress.add(lower.key, seeds_win(lower))
    assert progress.open
    last = progress.standings()[-1]
    assert (last.entrant, last.place, last.note) == (3, 4, "lost its second meeting in round 2")


def test_larger_tables_are_refused() -> None:
    four = ContestDocument(name="cup", game="bomberman", players=4)
    reason = DoubleElimination(four, (), {}).refusal(8)
    assert (
        reason
        == "double elimination is played in pairs, not at tables of 4; use knockout, swiss or "
        "groups"
    )


def test_meetings_have_places_in_the_drawing() -> None:
    progress = contest("double-elimination", 5)
    assert isinstance(progress.format, DoubleElimination)
    bracket = progress.format.followed()
    places = bracket.places
    assert (
        set(places)
        == set(bracket.winners)
        == {fixture.meeting for fixture in progress.fixtures.values()}
    )
    assert [(key, one.side, one.slot, one.slots) for key, one in places.items()][:3] == [
        ("1.1", "winners", 1, 4), ("2.1", "winners", 0, 2), ("2.2", "winners", 1, 2),
    ]  # fmt: skip
    byes = [(bye.entrant, bye.round, bye.place.side, bye.place.slot) for bye in bracket.byes]
    assert byes[:3] == [(0, 1, "winners", 0), (1, 1, "winners", 2), (2, 1, "winners", 3)]
    assert {bye.round: bye.place.side for bye in bracket.byes[3:]} == {2: "losers", 3: "losers"}
    assert [one.side for one in places.values()].count("losers") == 3 and list(places.values())[
        -1
    ].side == "final"


def test_without_enough_entrants_nothing_is_drawn() -> None:
    alone = DoubleElimination(document("double-elimination"), bots(1), {})
    assert alone.followed().places == {}
