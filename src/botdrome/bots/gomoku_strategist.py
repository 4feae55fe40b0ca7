"""The strategist: a house bot for gomoku that searches for attacks that cannot be stopped, its own and its opponent's."""

from collections.abc import Iterable
from functools import cached_property

from botdrome.bots.gomoku import THREE, WIN, move_to, nearness_to_centre, threat, threats_worth
from botdrome.bots.gomoku_attack import Nodes, find_attack
from botdrome.bots.gomoku_stones import SEARCHED, Cell, Stones, stones_on
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View
from botdrome.games.gomoku import FREE, points

NODES = 700
"""The number of boards that the bot visits for one move."""
ATTACK, DANGER, CHOICE = 250, 200, 60
"""The shares of the nodes: for an attack of its own, one of the opponent, and to look into one choice."""
CHOICES = 12
"""The number of cells that the bot looks into."""
OWN, OTHER = 3, 2
"""The weights of its own stones and of the opponent's stones around a cell."""


def strategist(view: View, chance: Chance) -> Raw:
    """Win by force if possible, prevent such wins, and otherwise build rows."""
    size, win_length, board = view["size"], view["winLength"], "".join(view["board"])
    if win_length not in SEARCHED or board.count(FREE) < CHOICES:
        return threat(view, chance)
    stones = stones_on(board, size, win_length)
    return move_to(points(size)[_Thought(stones, view["you"], size, chance).choice()])


class _Thought:
    """The bot's thought about one move."""

    def __init__(self, stones: Stones, you: Seat, size: int, chance: Chance) -> None:
        self._stones, self._you, self._chance = stones, you, chance
        self._centre, self._nodes = nearness_to_centre(size), Nodes(NODES)

    def choice(self) -> Cell:
        mine, theirs = self._stones.threats[self._you], self._stones.threats[1 - self._you]
        if max(theirs.values(), default=0) >= WIN > max(mine.values(), default=0):
            return max(theirs, key=theirs.__getitem__)
        attack = find_attack(self._stones, self._you, self._nodes, ATTACK)
        return self._without_attack() if attack is None else attack

    def _without_attack(self) -> Cell:
        worths = self._worths(self._stones, self._you)
        cells = list(worths)
        self._chance.shuffle(cells)
        cells.sort(key=worths.__getitem__, reverse=True)
        danger = find_attack(self._stones, 1 - self._you, self._nodes, DANGER)
        if danger is None:
            return next(filter(self._prepares, cells[:CHOICES]), cells[0])
        return next(filter(self._defends, [*cells[:CHOICES], danger]), cells[0])

    def _prepares(self, cell: Cell) -> bool:
        """Return True if the bot has an attack after the most likely answer to a stone on this cell."""
        after = self._stones.with_stone(cell, self._you)
        worths = self._answers | self._worths(after, 1 - self._you, after.near(cell))
        del worths[cell]
        after = after.with_stone(max(worths, key=worths.__getitem__), 1 - self._you)
        return find_attack(after, self._you, self._nodes, CHOICE) is not None

    def _defends(self, cell: Cell) -> bool:
        """Return True if the opponent has no attack after a stone on this cell."""
        return find_attack(self._stones.with_stone(cell, self._you), 1 - self._you, self._nodes, CHOICE) is None

    @cached_property
    def _answers(self) -> dict[Cell, float]:
        """The value of each free cell for the opponent."""
        return self._worths(self._stones, 1 - self._you)

    def _worths(self, stones: Stones, you: Seat, cells: Iterable[Cell] | None = None) -> dict[Cell, float]:
        """Return the value of each free cell (of these cells) for the player to move."""
        found = {}
        for cell, promises in stones.promises(cells):
            mine, theirs = promises[you], promises[1 - you]
            threats = threats_worth(mine, theirs) if mine >= THREE or theirs >= THREE else 0
            found[cell] = threats + OWN * (mine % THREE) + OTHER * (theirs % THREE) + self._centre[cell]
        return found
