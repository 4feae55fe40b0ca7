"""The board in play: its seats, the open step, the clocks of its players, and its result."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from botdrome.games.game import BadOption, Game, Raw, Seat, View
from botdrome.match.events import (
    BoardResult,
    Cause,
    Player,
    Result,
    rotated,
)
from botdrome.match.terms import Milliseconds, Pace

# Results: from the last position of a board to its result, and from all boards to the result of
# the match.


def places_by(keys: Sequence[Any]) -> tuple[int, ...]:
    """1 for the greatest key; equal keys share a place."""
    ranking = sorted(keys, reverse=True)
    return tuple([1 + ranking.index(key) for key in keys])


def board_result(
    position: Game[Any],
    seat_of: Sequence[Seat],
    out: Mapping[Seat, tuple[Cause, int]],
    otherwise: Cause = "complete",
) -> BoardResult:
    """The scores, places and causes by player.

    `out` has the cause and the step of each seat that is out.
    """
    by_seat = position.scores
    scores = tuple([by_seat[seat] for seat in seat_of])
    if not out:
        return BoardResult(scores, places_by(scores), (otherwise,) * len(scores))
    causes = tuple([out[seat][0] if seat in out else otherwise for seat in seat_of])
    if position.counts_departures:
        return BoardResult(scores, places_by(scores), causes)
    keys = [(0, out[seat][1]) if seat in out else (1, by_seat[seat]) for seat in seat_of]
    return BoardResult(scores, places_by(keys), causes)


def match_result(boards: Sequence[BoardResult]) -> Result:
    first = boards[0]
    if len(boards) == 1:
        return Result(first.places, first.scores, first.causes, (first,))
    won, causes = [0.0] * len(first.places), first.causes
    for board in boards:
        share = 1 / board.places.count(1)
        won = [had + share * (place == 1) for had, place in zip(won, board.places, strict=True)]
        causes = tuple(map(_later_fault, causes, board.causes))
    return Result(places_by(won), tuple(won), causes, tuple(boards))


def _later_fault(before: Cause, cause: Cause) -> Cause:
    return before if cause == "complete" else cause


# Board: one board of a match, and the step that is open on it.


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


# Player clocks: the time that each player has beyond the limit of a step.
#
# A player is charged for its thinking only: the time from the question to its answer, less its
# network time and the time by which the arena itself was late. What exceeds the limit comes from
# the player's time bank, if the terms have one.

MOST_CREDIT: Milliseconds = 10_000
"""The highest network credit of a match. The cap of a server may be lower."""


class PlayerClocks:
    __slots__ = ("_answers", "_bank", "_moves", "_pace", "active", "arena", "left", "network")

    def __init__(self, players: int, pace: Pace) -> None:
        bank = self._bank = None if pace.bank is UNSET else pace.bank
        if bank is not None and pace.beat:
            raise BadOption("a match that is played in ticks has no time bank")
        self._pace = pace
        self.active = bank is not None
        """False while all players have the same time: the match then need not ask here."""
        self.network: list[Milliseconds] = [0] * players
        """The credit for the network, which stays until it changes."""
        self.arena: list[Milliseconds] = [0] * players
        """The time by which the arena was late in the open step."""
        self.left: list[Milliseconds] = [0 if bank is None else bank.time] * players
        """The time left in each bank."""
        self._moves = [0] * players
        self._answers: dict[Player, Milliseconds] = {}
        """The time charged for the last answer of each player in the open step."""

    def credit(self, player: Player, network: Milliseconds, arena: Milliseconds) -> None:
        self.network[player], self.arena[player] = network, arena
        self.active = True

    def uncharged(self, player: Player) -> Milliseconds:
        return self.network[player] + self.arena[player]

    def time_of(self, player: Player, steps: int) -> Milliseconds | None:
        """The time from the question to the answer that the player has in the open step; None:
        there is no limit.
        """
        allowed = self._pace.allowed(steps)
        if allowed is None and self._bank is None:
            return None
        return (allowed or 0) + self.uncharged(player) + self.left[player]

    def due_of(self, player: Player, step: Step, steps: int) -> Milliseconds | None:
        """When the player's own time for the open step is up."""
        time = self.time_of(player, steps)
        return None if time is None else step.opened + time

    def shortest(self, players: list[Player], steps: int) -> Milliseconds | None:
        """The shortest time of these players for the open step."""
        return min(
            [time for player in players if (time := self.time_of(player, steps)) is not None],
            default=None,
        )

    def withdraw_late(
        self, step: Step, board: Board, away: set[Player], due: Milliseconds, steps: int
    ) -> list[Player]:
        """Return the awaited players whose time is up at `due`.

        If others have time left, these leave the step.

        If all awaited players are away, the terms say how long the step waits, so that their time
        is up together.
        """
        if not self.active:
            return step.awaited
        late = [player for player in step.awaited if (self.due_of(player, step, steps) or 0) <= due]
        if away.issuperset(step.awaited) or late == step.awaited:
            return step.awaited
        for player in late:
            step.awaited.remove(player)
            step.withdraw(board.seat_of[player], player)
            step.late[player] = due
        return late

    def answered(self, player: Player, wall: Milliseconds) -> None:
        self._answers[player] = max(0, wall - self.uncharged(player))

    def settle(self, step: Step, steps: int) -> None:
        """The step closes: take what exceeds the limit from the banks, and add what the players get
        for a move.
        """
        bank = self._bank
        if not self.active:
            return
        if bank is not None:
            for player, charged in self._answers.items():
                self._moves[player] += 1
                again = bank.time if bank.moves and self._moves[player] % bank.moves == 0 else 0
                spent = max(0, charged - (self._pace.allowed(steps) or 0))
                self.left[player] = max(0, self.left[player] - spent) + bank.increment + again
        step.late = {}
        self._answers.clear()
        self.arena = [0] * len(self.arena)
        self.active = bank is not None or any(self.network)
