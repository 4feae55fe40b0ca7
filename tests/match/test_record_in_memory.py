"""Records of matches in memory, and the number in their seeds."""

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance, SplitMix
from botdrome.match.match import Match
from botdrome.match.record import read, record_of, seed_number, setup_of, unchecked_file
from tests.match.telling import mark


def test_a_record_in_memory_is_that_of_the_file() -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 5)
    match.start()
    match.submit(0, mark(0, 1, 1), 7)
    match.leave(1, 9)
    assert record_of(match, ("ada", "bob")) == read(unchecked_file(match, ("ada", "bob")))


@pytest.mark.parametrize("generator", [Chance, SplitMix])
def test_the_number_in_a_seed(generator: type[Chance]) -> None:
    row = CATALOGUE["noughts-and-crosses"]
    assert (
        seed_number(setup_of(Match(row.game, 2, row.terms, 300, generator), ("ada", "bob"))) == 300
    )
