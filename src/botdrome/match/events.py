"""What a match tells its audience. Events name players; positions and what is in them come through views alone."""

from functools import cache
from typing import Any, Literal

from msgspec import Struct

from botdrome.games.game import Raw, Seat

Player = int
"""A place in the match's list of players. On the first board it is the seat too; on later boards the seats move on."""

Cause = Literal[
    "complete", "illegal moves", "timeout", "disconnect", "resigned", "crash", "flood", "unreadable", "expelled", "aborted"
]  # fmt: skip
"""Why a match ended for a player: `complete` is the rules, all else the discipline."""


class Event(Struct, frozen=True, tag_field="event"):
    """Something that happened in a match."""


class Began(Event, frozen=True, tag="began"):
    """A board starts. `order` says which player has which seat."""

    board: int
    order: tuple[Player, ...]


class Played(Event, frozen=True, tag="played"):
    """A step was played, with the moves as they were sent, unless they are secret."""

    step: int
    moves: dict[Player, Raw]


class Refused(Event, frozen=True, tag="refused"):
    """To one player alone: a move was not taken."""

    player: Player
    why: str
    move: Raw
    strikes: int
    """How many illegal moves that makes; 0 where they are free."""


class Late(Event, frozen=True, tag="late"):
    """To one player alone: a move came after its time."""

    player: Player
    by: int
    """Milliseconds."""


class Out(Event, frozen=True, tag="out"):
    """A player is out, of this board or of the match."""

    player: Player
    cause: Cause
    detail: str = ""


class Left(Event, frozen=True, tag="left"):
    """A player is gone, and its seat stays."""

    player: Player


class Returned(Event, frozen=True, tag="returned"):
    """A player that was gone is back."""

    player: Player


class Amended(Event, frozen=True, tag="amended"):
    """The set-up changes with the next round."""

    options: dict[str, Any]


class BoardResult(Struct, frozen=True):
    """How one board ended, player by player."""

    scores: tuple[float, ...]
    places: tuple[int, ...]
    causes: tuple[Cause, ...]


class BoardEnded(Event, frozen=True, tag="board ended"):
    board: int
    result: BoardResult


class Result(Struct, frozen=True):
    """How a match ended: who won, and apart from that why, player by player."""

    places: tuple[int, ...]
    """1 for the winner; players that tie share a place."""
    scores: tuple[float, ...]
    """The scores of the game; where there are several boards, the boards won, a half for a shared one."""
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


def meant_for(event: Event) -> Seat | None:
    """The one player that may see the event; None: everybody."""
    return event.player if isinstance(event, (Refused, Late)) else None


@cache
def rotated(players: int, by: int) -> tuple[int, ...]:
    """The numbers of all players, moved on by so many places: the players by seat on board `by`."""
    return tuple((number + by) % players for number in range(players))
