"""Events of a match. Events name players; positions are only shown through views."""

from functools import cache
from typing import Any, Literal

from msgspec import Struct

from botdrome.games.game import Raw, Seat

Player = int
"""An index in the match's list of players.

On the first board it is also the seat; on later boards the seats rotate.
"""

Cause = Literal[
    "complete",
    "illegal moves",
    "timeout",
    "disconnect",
    "resigned",
    "crash",
    "flood",
    "unreadable",
    "expelled",
    "aborted",
]
"""Why a match ended for a player: `complete` is an end by the rules, the others are not."""


class Event(Struct, frozen=True, tag_field="event"):
    """Something that happened in a match."""


class Began(Event, frozen=True, tag="began"):
    """A board starts. `order` lists the players by seat."""

    board: int
    order: tuple[Player, ...]


class Played(Event, frozen=True, tag="played"):
    """A step was played. The moves are shown as they were sent, unless they are secret."""

    step: int
    moves: dict[Player, Raw]


class Refused(Event, frozen=True, tag="refused"):
    """A move was refused. Only its player sees this."""

    player: Player
    why: str
    move: Raw
    strikes: int
    """The player's illegal moves so far; 0 if they have no penalty."""


class Late(Event, frozen=True, tag="late"):
    """A move came too late. Only its player sees this."""

    player: Player
    by: int
    """Milliseconds."""


class Out(Event, frozen=True, tag="out"):
    """A player is out of this board or of the match."""

    player: Player
    cause: Cause
    detail: str = ""


class Left(Event, frozen=True, tag="left"):
    """A player has disconnected, and its seat stays."""

    player: Player


class Returned(Event, frozen=True, tag="returned"):
    """A disconnected player is back."""

    player: Player


class Amended(Event, frozen=True, tag="amended"):
    """The options change with the next round."""

    options: dict[str, Any]


class BoardResult(Struct, frozen=True):
    """The result of one board, by player."""

    scores: tuple[float, ...]
    places: tuple[int, ...]
    causes: tuple[Cause, ...]


class BoardEnded(Event, frozen=True, tag="board ended"):
    board: int
    result: BoardResult


class Result(Struct, frozen=True):
    """The result of a match, by player: the places, and separately the reasons."""

    places: tuple[int, ...]
    """1 for the winner; tied players share a place."""
    scores: tuple[float, ...]
    """The scores of the game; with several boards, the boards won, where a shared board counts a
    half.
    """
    causes: tuple[Cause, ...]
    boards: tuple[BoardResult, ...]

    @property
    def winner(self) -> Player | None:
        return self.places.index(1) if self.places.count(1) == 1 else None

    @property
    def aborted(self) -> bool:
        return "aborted" in self.causes


class Ended(Event, frozen=True, tag="ended"):
    result: Result


AnyEvent = Began | Played | Refused | Late | Out | Left | Returned | Amended | BoardEnded | Ended
"""For readers of events in JSON."""


def meant_for(event: Event) -> Seat | None:
    """Return the only player that may see the event; None if everybody may."""
    return event.player if isinstance(event, (Refused, Late)) else None


@cache
def rotated(players: int, by: int) -> tuple[int, ...]:
    """Return the players by seat on board `by`: all numbers rotated by that many places."""
    return tuple((number + by) % players for number in range(players))
