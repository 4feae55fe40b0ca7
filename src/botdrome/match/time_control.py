"""Time controls as people write them: `40/60+0.6` on a chess clock, `5/move+60` with a time bank. Times are in seconds."""

import re

from botdrome.match.terms import Bank, Milliseconds, Pace

TIME = r"(?:(\d{1,4}):)?(\d{1,6}(?:\.\d{1,3})?)"
PER_MOVE = re.compile(rf"{TIME}/move(?:\+{TIME})?", re.ASCII)
CHESS_CLOCK = re.compile(rf"(?:(\d{{1,4}})/)?{TIME}(?:\+{TIME})?", re.ASCII)
EXAMPLES = (
    "`40/60+0.6` is 60 s for 40 moves and 0.6 s more for each move, `2:30+1` 2.5 minutes for the match and 1 s more for each "
    "move, `5/move` 5 s for each move, `5/move+60` the same with a bank of 60 s for the match"
)


class BadTimeControl(ValueError):
    """A time control that cannot be read. The text has examples."""

    def __init__(self, text: str) -> None:
        super().__init__(f"there is no time control {text!r}; {EXAMPLES}")


def read_time_control(text: str) -> Pace:
    """Return the pace. Raise BadTimeControl, with examples, for anything else."""
    if (found := PER_MOVE.fullmatch(text)) is not None:
        limit, bank = _milliseconds(found[1], found[2]), _milliseconds(found[3], found[4])
        pace = Pace(limit, bank=Bank(bank)) if bank else Pace(limit)
    elif (found := CHESS_CLOCK.fullmatch(text)) is not None:
        limit = _milliseconds(found[2], found[3])
        pace = Pace(None, bank=Bank(limit, _milliseconds(found[4], found[5]), int(found[1] or 0)))
    else:
        raise BadTimeControl(text)
    if not limit:
        raise BadTimeControl(text)
    return pace


def _milliseconds(minutes: str | None, seconds: str | None) -> Milliseconds:
    return round((int(minutes or 0) * 60 + float(seconds or 0)) * 1000)
