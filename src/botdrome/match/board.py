"""Board: one board of a match, and the step that is open on it."""

from collections.abc import Collection
from typing import Any

from botdrome.games.game import Game, Raw, Seat, View
from botdrome.match.events import BoardResult, Cause, Player, rotated
from botdrome.match.results import board_result


class Board:
    __slots__ = ("number", "order", "out", "position", "seat_of", "strikes")

    def __init__(self, number: int, position: Game[Any], players: int) -> None:
        self.number, self.position = number, position
        self.order = rotated(players, number)
        """The player at each seat."""
        self.seat_of = rotated(players, -number)
        """The seat of each player."""
        self.out: dict[Seat, tuple[Cause, int]] = {}
        """The seats that are out of this board, with the cause and the step."""
        self.strikes = (0,) * players
        """The illegal moves on this board by player, where the terms count them."""

    def view(self, player: Player | None) -> View:
        view: View = self.position.view(None if player is None else self.seat_of[player])
        return view

    def put_out(self, seat: Seat, cause: Cause, step: int) -> None:
        self.out[seat] = (cause, step)
        self.position = self.position.without(seat)

    @property
    def forfeited(self) -> bool:
        """All seats but one are out, and the rules do not score departures."""
        return not self.position.counts_departures and 0 < len(self.out) >= len(self.order) - 1

    def result(self, otherwise: Cause = "complete") -> BoardResult:
        return board_result(self.position, self.seat_of, self.out, otherwise)


class Step:
    """The open step of a board: the seats that may move, and what they sent."""

    __slots__ = ("awaited", "faults", "late", "moves", "opened", "raws", "seats")

    def __init__(self) -> None:
        self.opened = 0
        self.seats: Collection[Seat] = ()
        self.awaited: list[Player] = []
        """The players that have yet to answer."""
        self.moves: dict[Seat, Any] = {}
        self.raws: dict[Player, Raw] = {}
        self.faults: dict[Seat, tuple[Cause, str]] = {}
        self.late: dict[Player, int] = {}
        """The players whose own time is up while others still have some, and when it was up."""

    def withdraw(self, seat: Seat, player: Player) -> None:
        """The seat may not move any more, and its move does not count."""
        self.seats = tuple(other for other in self.seats if other != seat)
        self.moves.pop(seat, None)
        self.raws.pop(player, None)
