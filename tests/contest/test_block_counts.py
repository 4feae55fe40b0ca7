"""Blocks that are counted are rated like all blocks one by one, in whatever order the matches are added."""

from collections import defaultdict
from random import Random

from botdrome.contest.block_counts import BlockCounts
from botdrome.contest.circular import circular_counted, circular_results
from botdrome.contest.schedule import fixtures
from botdrome.contest.strength import Places, rate, rate_counted

NAMES = ("ada", "bob", "cid", "dan")


def test_counted_blocks_are_rated_like_single_ones_in_any_order() -> None:
    random = Random(1)
    for seats in (2, 3):
        played = [
            (fixture, random.choice([(1, 2, 2), (1, 1, 3), (2, 1, 3)])[:seats])
            for fixture in fixtures(4, seats, 4 * seats + 1, 5)
        ]
        blocks: defaultdict[int, list[Places]] = defaultdict(list)
        for fixture, places in played:
            blocks[fixture.seed].append(dict(zip((NAMES[one] for one in fixture.entrants), places, strict=True)))
        expected = rate(blocks.values()).strengths
        counted = []
        for _ in range(2):
            counts = BlockCounts(NAMES)
            for fixture, places in played:
                counts.add(fixture.seed, fixture.entrants, places)
            counted.append(list(counts.counted()))
            random.shuffle(played)
        assert counted[0] == counted[1]
        assert sum(times for _, times in counted[0]) == len(blocks)
        found = rate_counted(counted[0]).strengths
        assert {name: round(one.rating, 6) for name, one in found.items()} == {
            name: round(one.rating, 6) for name, one in expected.items()
        }
        assert found["ada"].games == expected["ada"].games
        assert circular_counted(counted[0]) == circular_results(blocks.values())


def test_memory_does_not_grow_with_the_matches() -> None:
    counts = BlockCounts(NAMES[:2])
    for fixture in fixtures(2, 2, 1000, 1):
        counts.add(fixture.seed, fixture.entrants, (1, 2))
    assert list(counts.counted()) == [([{"ada": 1, "bob": 2}, {"ada": 2, "bob": 1}], 500)]
