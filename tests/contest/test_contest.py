"""Pairings, standings, and their confidence."""

from collections import Counter
from functools import partial
from math import inf, isclose

import pytest

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import FixtureResult
from botdrome.contest.formats.round_robin import TurnsRoundRobin
from botdrome.contest.progress import ContestProgress
from botdrome.contest.sequential import DuelBlocks
from botdrome.contest.strength import elo_points, wilson
from tests.contest.formats.examples import bots


def play(entrants: int, seats: int, games: int, seed: int = 7) -> ContestProgress:
    game = "noughts-and-crosses" if seats < 3 else "bomberman"
    document = ContestDocument(name="play", game=game, players=seats, games=games, seed=seed)
    return ContestProgress(document, bots(entrants), {}, format_=TurnsRoundRobin)


def test_all_groups_meet_in_each_turn_and_seats_rotate() -> None:
    played = list(play(2, 2, games=4).open.values())
    assert [fixture.entrants for fixture in played] == [(0, 1), (1, 0), (0, 1), (1, 0)]
    assert [fixture.seed for fixture in played] == [7, 7, 8, 8]
    assert [fixture.key for fixture in played] == ["1.1.1", "1.1.2", "1.1.3", "1.1.4"]
    assert [one.entrants for one in play(3, 2, 1).open.values()] == [(0, 1), (0, 2), (1, 2)]


def test_meetings_share_no_seed() -> None:
    played = list(play(3, 2, games=4).open.values())
    assert [fixture.seed for fixture in played] == [7, 8, 9, 7, 8, 9, 10, 11, 12, 10, 11, 12]
    blocks = {fixture.seed: frozenset(fixture.entrants) for fixture in played}
    assert all(blocks[fixture.seed] == frozenset(fixture.entrants) for fixture in played)


def test_every_entrant_sits_on_every_seat_as_often() -> None:
    seats = Counter(
        (seat, entrant)
        for fixture in play(4, 3, 6).open.values()
        for seat, entrant in enumerate(fixture.entrants)
    )
    assert set(seats.values()) == {6}


def test_a_fixture_is_found_by_its_key() -> None:
    progress = play(3, 2, 2)
    assert [progress.open[key].key for key in progress.open] == list(progress.open)
    others = ["1.0.1", "1.1.0", "1.4.1", "1.1.3", "2.1.1", "1.1", "x"]
    assert not [key for key in others if key in progress.open]
    assert progress.rounds[0].fixtures[2:4] == list(progress.open.values())[2:4]


def test_the_order_is_by_points_then_by_wins_then_by_losses() -> None:
    progress = play(3, 2, 2)
    for key, places in (("1.1.1", (1, 2)), ("1.1.2", (1, 1)), ("1.2.2", (2, 1))):
        progress.add(key, FixtureResult(places))
    first, second, third = progress.standings()
    assert (first.entrant, first.wins, first.draws, first.losses, first.score) == (0, 2, 1, 0, 2.5)
    assert (second.entrant, second.score) == (1, 0.5)
    assert (third.entrant, third.losses, third.place) == (2, 1, 3)


def test_at_a_larger_table_every_opponent_counts() -> None:
    progress = play(4, 4, 1)
    progress.add("1.1.1", FixtureResult((1, 3, 1, 4)))
    lines = sorted(progress.standings(), key=lambda line: line.entrant)
    assert [line.score for line in lines] == pytest.approx([2.5 / 3, 1 / 3, 2.5 / 3, 0])
    assert (lines[0].draws, lines[1].losses) == (1, 1)


def test_a_match_alone_gives_no_points() -> None:
    progress = play(1, 1, 1)
    progress.add("1.1.1", FixtureResult((1,)))
    assert [(line.wins, line.score) for line in progress.standings()] == [(1, 0)]


def test_a_duel_plays_each_seed_in_all_its_seatings() -> None:
    document = ContestDocument(name="duel", game="bomberman", players=4, games=3, seed=5)
    for copies, size in ((None, 2), (1, 4)):
        progress = ContestProgress(document, bots(8), {}, format_=partial(DuelBlocks, copies))
        fixtures = list(progress.open.values())
        assert progress.expected == len(fixtures) == 3 * size
        assert [fixture.seed for fixture in fixtures] == [5] * size + [6] * size + [7] * size
        for fixture in fixtures:
            assert [number % 4 for number in fixture.entrants] == [0, 1, 2, 3]
            assert progress.open[fixture.key] == fixture
            assert sum(number < 4 for number in fixture.entrants) == (copies or 2)
        assert "1.1.0" not in progress.open and "1.4.1" not in progress.open


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
