"""How a match stands, beside its position."""

from msgspec import Struct

from botdrome.match.terms import Milliseconds


class Standing(Struct, frozen=True):
    now: Milliseconds
    time_left: Milliseconds | None
    """Until the running step is over, as announced; None: for ever."""
    strikes: tuple[int, ...]
    players: int
    board: int
