"""Results as clients get them. Some clients distinguish whole numbers from others."""

import msgspec
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match


@pytest.mark.parametrize("game", ["bumblebots", "battleship", "battlecube"])
def test_scores_that_the_rules_count_in_whole_numbers_are_told_so(game: str) -> None:
    row = CATALOGUE[game]
    match = Match(row.game, 2, row.terms, seed=1)
    match.start()
    match.conclude(0)
    assert match.result is not None
    assert b"." not in msgspec.json.encode(match.result)


def test_the_result_if_a_match_ended_now_is_the_one_of_its_end() -> None:
    row = CATALOGUE["gomoku"]
    match = Match(row.game, 2, row.terms, seed=1)
    match.start()
    foretold = match.result_if_ended("aborted")
    match.abort(0)
    assert match.result == foretold
