"""Round robin: every group meets, seats and seeds are balanced, and late entrants
append meetings.
"""

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from botdrome.contest.formats import round_robin
from botdrome.contest.formats.format import Entrant
from botdrome.contest.formats.round_robin import RoundRobin, all_groups
from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import bots, contest, document, order, played


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_group_meets_once_with_balanced_seats(seats: int) -> None:
    progress = contest("round-robin", 6, players=seats)
    fixtures = list(progress.fixtures.values())
    assert Counter(frozenset(fixture.entrants) for fixture in fixtures) == dict.fromkeys(
        map(frozenset, combinations(range(6), seats)), seats
    )
    assert (
        len(
            set(
                Counter(
                    (seat, who) for fixture in fixtures for seat, who in enumerate(fixture.entrants)
                ).values()
            )
        )
        == 1
    )
    assert progress.rounds_played == 1
    assert progress.expected == len(fixtures)


def test_each_meeting_has_seeds_of_its_own_and_each_seed_one_match_per_seating() -> None:
    (round_,) = RoundRobin(document(games=4), bots(4), {}).rounds()
    meetings = {
        seed: {f.meeting for f in round_.fixtures if f.seed == seed}
        for seed in {f.seed for f in round_.fixtures}
    }
    assert len(meetings) == 12
    assert all(len(found) == 1 for found in meetings.values())
    assert (
        len({(fixture.seed, fixture.entrants) for fixture in round_.fixtures})
        == len(round_.fixtures)
        == 24
    )
    assert [fixture.key for fixture in round_.fixtures[:5]] == [
        "1.1.1",
        "1.1.2",
        "1.1.3",
        "1.1.4",
        "1.2.1",
    ]


def test_single_matches_share_the_seats_and_without_rotation_the_higher_seed_sits_first() -> None:
    first = Counter(
        fixture.entrants[0] for fixture in contest("round-robin", 7, games=1).fixtures.values()
    )
    assert set(first.values()) == {3}
    assert all(
        f.entrants == tuple(sorted(f.entrants))
        for f in contest("round-robin", 4, rotate=False).fixtures.values()
    )


def test_large_contests_have_several_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_robin, "LARGEST_ROUND", 4)
    progress = contest("round-robin", 5)
    assert (progress.rounds_played, len(progress.results), order(progress)) == (
        3,
        20,
        [0, 1, 2, 3, 4],
    )


def test_late_entrants_append_meetings_and_leavers_forfeit() -> None:
    progress = played(ContestProgress(document(), bots(3), {}), most=2)
    before = list(progress.fixtures)
    assert progress.enter(Entrant("late")) == 3
    assert list(progress.fixtures)[: len(before)] == before
    forfeits = progress.withdraw(0)
    assert {
        progress.fixtures[key].entrants[result.absent[0]] for key, result in forfeits.items()
    } == {0}
    assert len(forfeits) == 4
    played(progress)
    lines = [(line.entrant, line.score, line.no_shows) for line in progress.standings()]
    assert lines == [(1, 4, 0), (2, 4, 0), (3, 2, 0), (0, 2, 4)]


def test_too_few_entrants_are_refused() -> None:
    progress = ContestProgress(document(), bots(1), {})
    assert progress.refusal == "1 entrant cannot fill a table of 2; at least 2 are needed"
    assert progress.standings()[0].place == 1


@pytest.mark.parametrize(
    ("size", "seats", "most"), [(2, 2, 1), (3, 2, 1), (20, 2, 1), (29, 2, 2), (30, 2, 1), (7, 3, 5)]
)
def test_everyone_has_played_about_equally_often_at_any_time(
    size: int, seats: int, most: int
) -> None:
    progress = ContestProgress(document(players=seats, games=1), bots(size), {})
    counts = Counter(dict.fromkeys(range(size), 0))
    for fixture in progress.open.fixtures():
        counts.update(fixture.entrants)
        assert max(counts.values()) - min(counts.values()) <= most
    assert set(counts.values()) == {comb(size - 1, seats - 1)}


def test_groups_are_played_side_by_side() -> None:
    progress = ContestProgress(document("groups", groups=3, games=1), bots(24), {})
    first = list(progress.open.fixtures())[:12]
    assert sorted(number for fixture in first for number in fixture.entrants) == list(range(24))


def test_turns_do_not_change_the_keys_of_fixtures() -> None:
    progress = ContestProgress(document(games=2), bots(6), {})
    assert [fixture.key for fixture in progress.open.fixtures()][:4] != [
        "1.1.1",
        "1.1.2",
        "1.2.1",
        "1.2.2",
    ]
    for index, pair in enumerate(all_groups(range(6), 2), 1):
        assert set(progress.open[f"1.{index}.2"].entrants) == set(pair)
