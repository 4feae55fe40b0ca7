"""Input: one thing that a match was told, as it is kept and replayed."""

from typing import Any, Literal

from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds

Kind = Literal["move", "wake", "leave", "rejoin", "expel", "amend", "abort", "conclude"]

Input = tuple[Milliseconds, Kind, Player | None, Any]
"""When, what, who, and with which words."""
