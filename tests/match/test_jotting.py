"""A long record is written step by step, and is the same as one that is written at once."""

from botdrome.formats import FORMATS
from botdrome.match.match import Match
from botdrome.match.reader import read
from botdrome.match.record import jotted, jotting


def test_a_long_record_takes_several_steps() -> None:
    row = FORMATS["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 7)
    match.start()
    for _ in range(20):
        match.minutes.keep(5, "move", 0, "x" * 50_000)
    match.abort(10)
    steps, number = jotting(match, ("Ann", "Bob")), 0
    while True:
        try:
            next(steps)
        except StopIteration as done:
            assert done.value == jotted(match, ("Ann", "Bob"))
            break
        number += 1
    assert number > 2
    record = read(jotted(match, ("Ann", "Bob")))
    assert len(record.lines) == 21
    assert b"".join(match.minutes.pieces()) == match.minutes.text()
