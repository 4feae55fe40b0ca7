"""Input: one thing that a match was told, as it is kept and replayed."""

from typing import Any, Literal

from msgspec import Struct

from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds

Kind = Literal["move", "wake", "leave", "rejoin", "expel", "amend", "abort", "conclude"]

Input = tuple[Milliseconds, Kind, Player | None, Any]
"""When, what, who, and with which words."""


class Line(Struct, frozen=True, omit_defaults=True):
    """An input as it is written down."""

    t: Milliseconds
    do: Kind
    by: Player | None = None
    say: Any = None
    news: str = ""

    @property
    def input(self) -> Input:
        return (self.t, self.do, self.by, self.say)
