"""Scores and tie-breaks."""

from botdrome.contest.document import TieBreak
from botdrome.contest.formats.format import FixtureResult, StandingsLine, points_of
from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import bots, document

WINNERS = {(0, 1): 0, (1, 2): 1, (0, 2): 2, (0, 3): 0, (1, 3): 1, (2, 3): 3}
"""0, 1 and 2 beat each other in a circle; only 2 loses to the last."""


def lines(*tie_breaks: TieBreak, seats: int = 2) -> list[StandingsLine]:
    progress = ContestProgress(document(games=1, tie_breaks=tie_breaks), bots(4), {})
    for fixture in list(progress.open.values()):
        winner = WINNERS[tuple(sorted(fixture.entrants))]  # type: ignore[index]
        progress.add(
            fixture.key,
            FixtureResult(tuple(1 if number == winner else 2 for number in fixture.entrants)),
        )
    return progress.standings()


def test_entrants_that_nothing_tells_apart_share_a_place() -> None:
    assert [(line.entrant, line.place, line.score) for line in lines()] == [
        (0, 1, 2),
        (1, 1, 2),
        (2, 3, 1),
        (3, 3, 1),
    ]
    assert [line.place for line in lines("games", "wins")] == [1, 1, 3, 3]


def test_the_result_against_each_other_decides() -> None:
    assert [(line.entrant, line.tie_breaks) for line in lines("direct")] == [
        (0, (1,)),
        (1, (0,)),
        (3, (1,)),
        (2, (0,)),
    ]


def test_the_scores_of_opponents_decide() -> None:
    assert {line.entrant: line.tie_breaks for line in lines("opponents")} == {
        0: (4 / 3,),
        1: (4 / 3,),
        2: (5 / 3,),
        3: (5 / 3,),
    }
    assert {line.entrant: line.tie_breaks for line in lines("sonneborn-berger")} == {
        0: (3,),
        1: (2,),
        2: (2,),
        3: (1,),
    }


def test_a_larger_table_counts_every_opponent() -> None:
    assert [points_of((1, 3, 1, 4), seat) for seat in range(4)] == [5, 2, 5, 0]
    progress = ContestProgress(document(players=4, games=1), bots(4), {})
    progress.add("1.1.1", FixtureResult((1, 3, 1, 4)))
    by_score = [(line.score, line.wins, line.draws, line.losses) for line in progress.standings()]
    assert by_score == [(5 / 6, 0, 1, 0), (5 / 6, 0, 1, 0), (2 / 6, 0, 0, 1), (0, 0, 0, 1)]
