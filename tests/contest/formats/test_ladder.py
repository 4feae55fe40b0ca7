"""Ladder: always open, ordered by live ratings."""

from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.formats.ladder import LiveRating, updated
from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import bots, document, order, played


def test_a_ladder_never_ends_and_finds_the_order() -> None:
    progress = played(ContestProgress(document("ladder"), bots(7), {}), most=400)
    assert (progress.over, order(progress)) == (False, [0, 1, 2, 3, 4, 5, 6])
    waits = [sum(number in round_.byes for round_ in progress.rounds) for number in range(7)]
    assert max(waits) - min(waits) <= 1
    assert progress.standings()[0].note.startswith("rating ")


def test_newcomers_play_from_the_next_round() -> None:
    progress = played(ContestProgress(document("ladder", games=1), bots(4), {}), most=3)
    assert progress.entrants[progress.enter(Entrant("new"))].joined == 3
    assert not any(4 in fixture.entrants for fixture in progress.open.values())
    assert any(4 in fixture.entrants for fixture in played(progress, most=5).fixtures.values())


def test_matches_that_do_not_count_move_nobody() -> None:
    progress = played(
        ContestProgress(document("ladder"), bots(2), {}), lambda _: FixtureResult(()), most=4
    )
    assert [line.place for line in progress.standings()] == [1, 1]


def test_a_win_raises_and_a_surprise_raises_more() -> None:
    start = LiveRating()
    assert start.ordinal == 0
    won, lost = updated([start, start], (1, 2))
    assert won.mean > 25 > lost.mean
    assert won.deviation < start.deviation
    assert (
        updated([lost, won], (1, 2))[0].mean - lost.mean
        > updated([won, lost], (1, 2))[0].mean - won.mean
    )
    assert [one.mean for one in updated([start] * 3, (1, 1, 1))] == [25] * 3
