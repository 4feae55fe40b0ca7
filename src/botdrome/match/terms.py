"""Terms: the time limits of a step, and the penalties for faults.

All differences between formats are values here.
"""

import re
from math import ceil
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

Milliseconds = int
PaceName = Literal["usual", "slow", "stepped"]
"""usual: the unchanged terms of the game. slow and stepped are for people: see `paced`."""

PACES: tuple[PaceName, ...] = ("usual", "slow", "stepped")

SLOW_TICK, FIRST_TICK = 2_000, 10_000
"""The length of a tick at the slow pace, in ms.

The first tick is longer, so that people can look at the board.
"""
LONG_LIMIT = 300_000
"""The time limit of a person's move, in ms."""
RETURN_LIMIT = 60_000
"""The time in which a disconnected person may reconnect before its move is late, in ms."""
SLOW_PATIENCE = 3
"""The number of moves in a row that a person may miss if a late move is a pass."""


class Bank(Struct, frozen=True):
    """The time of a player for a whole match.

    A move that exceeds the limit of its step takes the rest from it.
    """

    time: Milliseconds
    increment: Milliseconds = 0
    """The time added after each move."""
    moves: int = 0
    """`time` is added again after this many moves; 0: never."""


class Pace(Struct, frozen=True):
    """The time limits of a step."""

    limit: Milliseconds | None = 5000
    """None for no limit."""
    grace: int = 0
    """Extra time in percent of the limit that is not announced."""
    first: Milliseconds | None = None
    """The limit of the first step, if it differs."""
    beat: bool = False
    """True: every step lasts exactly its limit and uses the moves received by then.

    False: it ends with the last answer.
    """
    pause: Milliseconds = 0
    """The pause after each step."""
    bank: Bank | UnsetType = UNSET
    """The time bank of each player, as on a chess clock.

    With a limit of None all time comes from the bank.
    """

    def allowed(self, step: int) -> Milliseconds | None:
        limit = self.first if step == 0 and self.first is not None else self.limit
        return limit if limit is None else limit + limit * self.grace // 100


class Terms(Struct, frozen=True):
    """The penalties for faults."""

    pace: Pace = Pace()
    strikes: int | None = None
    """The number of illegal moves that puts a seat out of the board; None for no penalty."""
    hasty: Literal["free", "illegal"] = "free"
    """How a move out of turn counts."""
    late: Literal["out", "pass"] = "out"
    patience: int | None = None
    """The number of passes in a row that puts a seat out, if a late move is a pass; None for no
    limit.
    """
    gone: Literal["out", "pass", "wait"] = "out"
    """out: the seat leaves the match; pass: it stays and passes; wait: it passes, and the player
    may reconnect.
    """
    absence: Milliseconds = 0
    """How long a step waits for disconnected players: once per disconnection."""
    reunion: Milliseconds = 0
    """How long a match without connected players waits for one to reconnect; 0: it ends at once."""
    early_end: bool = False
    """True: the match ends as soon as the present players have nothing left to play for
    (`Game.decided`).
    """
    boards: int = 1
    """The number of boards that the same players play. The seats rotate by one each time."""


def offline(terms: Terms) -> Terms:
    """Return the terms for local bots: no beat, and a limit of missed moves."""
    return replace(
        terms,
        pace=replace(terms.pace, beat=False),
        patience=terms.patience or (10 if terms.late == "pass" else None),
    )


def with_grace(terms: Terms, extra: Milliseconds) -> Terms:
    """Return the terms with extra time that is not announced, if they put a late player out."""
    pace = terms.pace
    if terms.late == "pass" or not pace.limit:
        return terms
    return replace(terms, pace=replace(pace, grace=pace.grace + ceil(100 * extra / pace.limit)))


def paced(terms: Terms, name: PaceName) -> Terms:
    """Return the terms for people: minutes for a move, no penalty for illegal moves, and players
    may reconnect.

    The slow pace keeps the beat but makes it longer. At the stepped pace a step ends with the last
    answer.
    """
    if name == "usual":
        return terms
    beat = terms.pace.beat and name == "slow"
    pace = (
        replace(terms.pace, limit=SLOW_TICK, first=FIRST_TICK)
        if beat
        else Pace(LONG_LIMIT, pause=terms.pace.pause)
    )
    patience = SLOW_PATIENCE if terms.late == "pass" and not beat else terms.patience
    return replace(
        terms,
        pace=pace,
        strikes=None,
        hasty="free",
        patience=patience,
        gone="wait",
        absence=RETURN_LIMIT,
        reunion=RETURN_LIMIT,
    )


# Time controls as people write them: `40/60+0.6` on a chess clock, `5/move+60` with a time bank.
# Times are in seconds.

TIME = r"(?:(\d{1,4}):)?(\d{1,6}(?:\.\d{1,3})?)"
PER_MOVE = re.compile(rf"{TIME}/move(?:\+{TIME})?", re.ASCII)
CHESS_CLOCK = re.compile(rf"(?:(\d{{1,4}})/)?{TIME}(?:\+{TIME})?", re.ASCII)
EXAMPLES = (
    "`40/60+0.6` is 60 s for 40 moves and 0.6 s more for each move, `2:30+1` 2.5 minutes for the "
    "match and 1 s more for each "
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
