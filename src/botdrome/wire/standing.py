"""Standing: the state of a match beside its position."""

from msgspec import Struct

from botdrome.match.terms import Milliseconds


class Standing(Struct, frozen=True):
    now: Milliseconds
    time_left: Milliseconds | None
    """The time until the current step ends, as announced; None: no limit."""
    strikes: tuple[int, ...]
    players: int
    board: int
