"""Blocks that are counted are rated like all blocks one by one, in whatever order the matches are
added.
"""

from collections import defaultdict
from random import Random

import pytest

from botdrome.contest import progress as block_counts
from botdrome.contest.formats.round_robin import TurnFixtures
from botdrome.contest.progress import BlockCounts, Repetition
from botdrome.contest.strength import rate
from tests.contest.worlds import Places, rated

NAMES = ("ada", "bob", "cid", "dan")
BOTH = [(("ada", 1), ("bob", 2)), (("ada", 2), ("bob", 1))]
"""A block in which the first seat wins."""


def test_counted_blocks_are_rated_like_single_ones_in_any_order() -> None:
    random = Random(1)
    for seats in (2, 3):
        played = [
            (fixture, random.choice([(1, 2, 2), (1, 1, 3), (2, 1, 3)])[:seats])
            for fixture in TurnFixtures(4, seats, 4 * seats + 1, 5)
        ]
        blocks: defaultdict[int, list[Places]] = defaultdict(list)
        for fixture, places in played:
            blocks[fixture.seed].append(
                dict(zip((NAMES[one] for one in fixture.entrants), places, strict=True))
            )
        expected = rated(blocks.values()).strengths
        counted = []
        for _ in range(2):
            counts = BlockCounts(NAMES)
            for fixture, places in played:
                counts.add(fixture.seed, fixture.entrants, places)
            counted.append(list(counts.counted()))
            random.shuffle(played)
        assert counted[0] == counted[1]
        assert sum(times for _, times, _ in counted[0]) == len(blocks)
        found = rate(counted[0]).strengths
        assert {name: round(one.rating, 6) for name, one in found.items()} == {
            name: round(one.rating, 6) for name, one in expected.items()
        }
        assert found["ada"].games == expected["ada"].games


def test_memory_does_not_grow_with_the_matches() -> None:
    counts = BlockCounts(NAMES[:2])
    for fixture in TurnFixtures(2, 2, 1000, 1):
        counts.add(fixture.seed, fixture.entrants, (1, 2))
    assert list(counts.counted()) == [(BOTH, 500, 1.0)]


def test_repeated_games_count_once() -> None:
    """200 matches of two bots that always answer alike are two games, and one block."""
    counts = BlockCounts(NAMES[:2])
    for fixture in TurnFixtures(2, 2, 200, 1):
        counts.add(fixture.seed, fixture.entrants, (1, 2), fingerprint=1 + fixture.entrants[0])
    assert list(counts.counted()) == [(BOTH, 100, 0.01)]
    assert (
        counts.repetition().words()
        == "2 distinct games in 200: the interval counts 1 of 100 blocks."
    )
    strength = rate(counts.counted()).strengths["ada"]
    assert strength.games == 200 and strength.margin is None


def test_the_same_moves_in_other_seats_are_another_game() -> None:
    counts = BlockCounts(NAMES[:2])
    for fixture in TurnFixtures(2, 2, 7, 1):
        counts.add(fixture.seed, fixture.entrants, (1, 1), fingerprint=5)
    assert counts.repetition() == Repetition(games=2, matches=7, counted=2, blocks=4)


def test_an_interval_is_that_of_the_distinct_blocks() -> None:
    """Each of eight blocks is played ten times: the margin is that of eight blocks."""
    once, often = BlockCounts(NAMES[:2]), BlockCounts(NAMES[:2])
    for fixture in TurnFixtures(2, 2, 160, 0):
        game = fixture.seed % 8
        places = (1, 2) if (game + fixture.entrants[0]) % 3 else (2, 1)
        often.add(fixture.seed, fixture.entrants, places, fingerprint=1 + game)
        if fixture.seed < 8:
            once.add(fixture.seed, fixture.entrants, places, fingerprint=1 + game)
    assert once.repetition().words() == "" and often.repetition().counted == 8
    one, many = (rate(counts.counted()).strengths["ada"] for counts in (once, often))
    assert many.rating == pytest.approx(one.rating) and many.margin == pytest.approx(one.margin)


def test_only_so_many_games_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_counts, "MOST_COMPARED", 4)
    counts = BlockCounts(NAMES[:2])
    for fixture in TurnFixtures(2, 2, 8, 1):
        counts.add(fixture.seed, fixture.entrants, (1, 1), fingerprint=1 + fixture.entrants[0])
    assert [share for *_, share in counts.counted()] == [0.5]
    assert (
        Repetition(1, 4, 1, 2).words() == "1 distinct game in 4: the interval counts 1 of 2 blocks."
    )
