"""Terms: how long a step lasts and what a fault costs. Every difference in discipline is a value here."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Milliseconds = int


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
    boards: int = 1
    """So many boards are played by the same players, the seats moved on by one each time."""


def offline(terms: Terms) -> Terms:
    """The same terms for bots that run here: no beat to wait for, time to start up, and no end of patience."""
    limit = terms.pace.limit
    pace = replace(terms.pace, beat=False, first=None if limit is None else max(limit, 10_000))
    return replace(terms, pace=pace, patience=terms.patience or (10 if terms.late == "pass" else None))
