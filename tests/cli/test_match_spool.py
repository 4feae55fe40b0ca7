"""The matches of a tournament on disk: in the order of their numbers, whatever the order they came
in.
"""

import json
from contextlib import closing

from botdrome.cli.standings import MatchSpool


def test_matches_come_back_in_the_order_of_their_numbers() -> None:
    for order in (
        [*range(40, 1000), 3, *range(10, 40), 0, 2, 1, *range(4, 10)],
        [*range(1000)],
        [0],
        [],
    ):
        with closing(MatchSpool()) as spool:
            for number in order:
                spool.add(number, {"number": number, "text": "é,"})
            parts = list(spool.parts())
        assert [match["number"] for match in json.loads(f"[{''.join(parts)}]")] == sorted(order)
        assert len(parts) == len(order), "no more than one match at a time is in memory"
