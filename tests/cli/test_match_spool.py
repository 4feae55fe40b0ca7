"""The matches of a tournament on disk: in the order of their numbers, whatever the order they came
in.
"""

import json
from contextlib import closing

from botdrome.cli.standings import LONGEST_STRETCH, MatchSpool


def test_matches_come_back_in_the_order_of_their_numbers() -> None:
    many = 2 * LONGEST_STRETCH
    for order in (
        [*range(40, many), 3, *range(10, 40), 0, 2, 1, *range(4, 10)],
        [*range(many)],
        [0],
        [],
    ):
        with closing(MatchSpool()) as spool:
            for number in order:
                spool.add(number, {"number": number, "text": "é,"})
            parts = list(spool.parts())
        assert [match["number"] for match in json.loads(f"[{''.join(parts)}]")] == sorted(order)
        assert max(map(len, parts), default=0) < 40 * LONGEST_STRETCH
