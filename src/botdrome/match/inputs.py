"""Inputs of a match: values, and lines of its record."""

from typing import Any, Literal

from msgspec import Struct

from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds

Kind = Literal["move", "wake", "leave", "rejoin", "expel", "amend", "abort", "conclude", "credit", "stall"]
TIMES = ("credit", "stall")
"""The kinds that came with version 3 of the match file."""

Input = tuple[Milliseconds, Kind, Player | None, Any]
"""The time, the kind, the player (None: all), and the value that came with it."""


class InputLine(Struct, frozen=True, omit_defaults=True):
    """An input as a line of the record."""

    t: Milliseconds
    do: Kind
    by: Player | None = None
    say: Any = None
    news: str = ""

    @property
    def input(self) -> Input:
        return (self.t, self.do, self.by, self.say)
