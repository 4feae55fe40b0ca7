"""Player clocks: the time that each player has beyond the limit of a step.

A player is charged for its thinking only: the time from the question to its answer, less its network time and the time by which
the arena itself was late. What exceeds the limit comes from the player's time bank, if the terms have one.
"""

from msgspec import UNSET

from botdrome.games.game import BadOption
from botdrome.match.board import Board, Step
from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds, Pace

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
        """The time from the question to the answer that the player has in the open step; None: there is no limit."""
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
        return min([time for player in players if (time := self.time_of(player, steps)) is not None], default=None)

    def withdraw_late(self, step: Step, board: Board, away: set[Player], due: Milliseconds, steps: int) -> list[Player]:
        """Return the awaited players whose time is up at `due`. If others have time left, these leave the step.

        If all awaited players are away, the terms say how long the step waits, so that their time is up together.
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
        """The step closes: take what exceeds the limit from the banks, and add what the players get for a move."""
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
