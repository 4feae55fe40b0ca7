"""A long record is written piece by piece, and is the same as one that is written at once."""

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import read, unchecked_file, unchecked_pieces


@pytest.mark.parametrize(("text", "fewest", "most"), [(50_000, 4, 6), (5, 2, 2)])
def test_a_long_record_has_several_pieces(text: int, fewest: int, most: int) -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 7)
    match.start()
    for _ in range(20):
        match.input_log.add(5, "move", 0, "x" * text)
    match.abort(10)
    pieces = list(unchecked_pieces(match, ("Ann", "Bob")))
    assert fewest <= len(pieces) <= most
    assert b"".join(pieces) == unchecked_file(match, ("Ann", "Bob"))
    record = read(unchecked_file(match, ("Ann", "Bob")))
    assert len(record.lines) == 21
