"""Terms: how long a step lasts and what a fault costs. Every difference in discipline is a value here."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Milliseconds = int
PaceName = Literal["usual", "slow", "stepped"]
"""usual: the terms of the game as they are. slow and stepped are for people: see `paced`."""

PACES: tuple[PaceName, ...] = ("usual", "slow", "stepped")

SLOW_TICK, FIRST_TICK = 2_000, 10_000
"""Milliseconds of a tick at the slow pace; the first one is longer, for a look at the board."""
LONG_LIMIT = 300_000
"""Milliseconds for a move that people make."""
RETURN_LIMIT = 60_000
"""Milliseconds within which a person whose connection was lost may come back before its move is late."""
SLOW_PATIENCE = 3
"""Moves in a row that a person may miss where a late move is a pass."""


class Pace(Struct, frozen=True):
    """How long a step lasts."""

    limit: Milliseconds | None = 5000
    """None: there is no limit."""
    grace: int = 0
    """Percent on top of the limit that are not announced."""
    first: Milliseconds | None = None
    """The limit of the first step, where it differs."""
    beat: bool = False
    """True: every step lasts just its limit and takes what has come by then. False: it ends with the last answer."""
    pause: Milliseconds = 0
    """Rest after each step."""

    def allowed(self, step: int) -> Milliseconds | None:
        limit = self.first if step == 0 and self.first is not None else self.limit
        return limit if limit is None else limit + limit * self.grace // 100


class Terms(Struct, frozen=True):
    """What a fault costs."""

    pace: Pace = Pace()
    strikes: int | None = None
    """A seat is out of the board with this many illegal moves; None: they are free."""
    hasty: Literal["free", "illegal"] = "free"
    """What a move out of turn counts as."""
    late: Literal["out", "pass"] = "out"
    patience: int | None = None
    """Where late means pass: so many passes in a row put a seat out; None: any number."""
    gone: Literal["out", "pass", "wait"] = "out"
    """out: of the whole match; pass: the seat stays and passes; wait: the same, and it may come back."""
    absence: Milliseconds = 0
    """How long a step waits for seats that are gone: once, until they come back and go again."""
    reunion: Milliseconds = 0
    """How long a match that all players have left waits for one of them to come back; 0: it ends at once."""
    early_end: bool = False
    """True: the match ends as soon as those who are present have nothing left to play for (`Game.decided`)."""
    boards: int = 1
    """So many boards are played by the same players, the seats moved on by one each time."""


def offline(terms: Terms) -> Terms:
    """The same terms for bots that run here: no beat to wait for, time to start up, and no end of patience."""
    limit = terms.pace.limit
    pace = replace(terms.pace, beat=False, first=None if limit is None else max(limit, 10_000))
    return replace(terms, pace=pace, patience=terms.patience or (10 if terms.late == "pass" else None))


def paced(terms: Terms, name: PaceName) -> Terms:
    """The same terms at a pace for people: minutes for a move, illegal moves are free, and a lost player may come back.

    At the slow pace a beat stays a beat and waits longer. At the stepped pace a step ends with the last answer.
    """
    if name == "usual":
        return terms
    beat = terms.pace.beat and name == "slow"
    pace = replace(terms.pace, limit=SLOW_TICK, first=FIRST_TICK) if beat else Pace(LONG_LIMIT, pause=terms.pace.pause)
    patience = SLOW_PATIENCE if terms.late == "pass" and not beat else terms.patience
    return replace(
        terms, pace=pace, strikes=None, hasty="free", patience=patience, gone="wait", absence=RETURN_LIMIT, reunion=RETURN_LIMIT
    )
