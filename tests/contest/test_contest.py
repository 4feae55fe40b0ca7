"""Pairings, standings, and their confidence."""

from collections import Counter
from math import inf, isclose

import pytest

from botdrome.contest.schedule import fixtures, meetings
from botdrome.contest.standings import Standings
from botdrome.contest.strength import elo_points, wilson
from botdrome.match.events import Cause, Result


def result(*places: int, causes: tuple[Cause, ...] | None = None) -> Result:
    complete: tuple[Cause, ...] = tuple("complete" for _ in places)
    return Result(places, tuple(float(-place) for place in places), causes or complete, ())


def test_everybody_meets_everybody() -> None:
    assert meetings(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert meetings(4, 4) == [(0, 1, 2, 3)]


def test_seats_move_on_and_a_seed_serves_every_way_to_sit() -> None:
    played = list(fixtures(2, 2, matches=4, seed=7))
    assert [fixture.entrants for fixture in played] == [(0, 1), (1, 0), (0, 1), (1, 0)]
    assert [fixture.seed for fixture in played] == [7, 7, 8, 8]
    assert [fixture.number for fixture in played] == [0, 1, 2, 3]


def test_meetings_share_no_seed() -> None:
    played = list(fixtures(3, 2, matches=4, seed=7))
    assert [fixture.seed for fixture in played] == [7, 8, 9, 7, 8, 9, 10, 11, 12, 10, 11, 12]
    blocks = {fixture.seed: frozenset(fixture.entrants) for fixture in played}
    assert all(blocks[fixture.seed] == frozenset(fixture.entrants) for fixture in played)


def test_every_entrant_sits_on_every_seat_as_often() -> None:
    seats = Counter(
        (seat, entrant)
        for fixture in fixtures(4, 3, 6, 1)
        for seat, entrant in enumerate(fixture.entrants)
    )
    assert set(seats.values()) == {6}


def test_wins_draws_and_losses_are_counted() -> None:
    standings = Standings(3)
    standings.add((0, 1), result(1, 2))
    standings.add((1, 0), result(1, 1))
    standings.add((2, 0), result(2, 1, causes=("timeout", "complete")))
    first, second, third = standings.ranked()
    assert (first.entrant, first.wins, first.draws, first.losses, first.points, first.played) == (
        0,
        2,
        1,
        0,
        2.5,
        3,
    )
    assert (second.entrant, second.points) == (1, 0.5)
    assert third.causes == {"timeout": 1}
    assert standings.matches == 3


def test_at_a_larger_table_every_opponent_counts() -> None:
    standings = Standings(4)
    standings.add((0, 1, 2, 3), result(1, 3, 1, 4))
    points = [tally.points for tally in standings.tallies]
    assert points == pytest.approx([2.5 / 3, 1 / 3, 2.5 / 3, 0])
    assert (standings.tallies[0].draws, standings.tallies[1].losses) == (1, 1)


def test_a_match_alone_gives_no_points() -> None:
    standings = Standings(1)
    standings.add((0,), result(1))
    assert (standings.tallies[0].wins, standings.tallies[0].points) == (1, 0)


@pytest.mark.parametrize(
    ("share", "points"), [(0.5, 0), (0.75, 190.85), (0.25, -190.85), (0, -inf), (1, inf)]
)
def test_a_share_of_points_is_a_difference_in_rating(share: float, points: float) -> None:
    assert isclose(elo_points(share), points, abs_tol=0.01)


def test_the_interval_of_a_share_covers_the_truth_about_as_often_as_it_says() -> None:
    """60 % of 100 games, drawn 2,000 times: the share of intervals that hold the truth."""
    from botdrome.games.chance import Chance

    chance, held = Chance(1), 0
    for _ in range(2000):
        low, high = wilson(sum(chance.random() < 0.6 for _ in range(100)) / 100, 100)
        held += low <= 0.6 <= high
    assert 0.93 < held / 2000 < 0.97
    assert wilson(1.0, 10)[1] == pytest.approx(1) and 0.7 < wilson(1.0, 10)[0] < 0.73
