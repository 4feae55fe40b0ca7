"""Threat-space search for gomoku: wins by a sequence of fours and threes that the opponent must answer."""

from collections.abc import Iterable

from botdrome.bots.gomoku import FOUR, THREE, WIN, Promise
from botdrome.bots.gomoku_stones import Cell, Stones, Threats
from botdrome.games.game import Seat

TWO_FOURS = 2 * FOUR
MOST_FOURS = 20
"""The largest number of fours in an attack with fours only."""
DEEPEST = 4
"""The largest number of forced answers in an attack with threes."""


class Nodes:
    """The boards that the searches for one move have visited, and the number that they may still visit."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._visited: dict[int, Stones] = {}

    def with_stone(self, stones: Stones, cell: Cell, seat: Seat) -> Stones:
        """Return the board with one more stone. A board that two orders of stones lead to counts once."""
        key = stones.key_with(cell, seat)
        after = self._visited.get(key)
        if after is None:
            self.left -= 1
            self._visited[key] = after = stones.with_stone(cell, seat)
        return after


def find_attack(stones: Stones, attacker: Seat, nodes: Nodes, share: int) -> Cell | None:
    """Return the first stone of an attack that wins, or None if none was found with this share of the nodes.

    Attacks with fours only come first, since they can be deep; then those with threes, the shortest ones first.
    """
    cell = Attack(attacker, FOUR, nodes, share // 4).winning_cell(stones, MOST_FOURS)
    attack = Attack(attacker, THREE, nodes, share)
    for depth in range(1, DEEPEST + 1):
        if cell is None:
            cell = attack.winning_cell(stones, depth)
    return cell


class Attack:
    """A search for the attacks of one player."""

    def __init__(self, attacker: Seat, least: Promise, nodes: Nodes, share: int) -> None:
        self._attacker, self._least, self._nodes = attacker, least, nodes
        self._last = max(0, nodes.left - share)
        self._known: dict[tuple[int, int], Cell | None] = {}

    def winning_cell(self, stones: Stones, depth: int) -> Cell | None:
        """Return the first stone of an attack with at most `depth` forced answers, or None if none was found."""
        place = stones.key, depth
        if place not in self._known:
            self._known[place] = self._searched(stones, depth)
        return self._known[place]

    def _searched(self, stones: Stones, depth: int) -> Cell | None:
        mine, theirs = self._threats(stones)
        best = max(mine, key=mine.__getitem__, default=None)
        if best is None or mine[best] >= WIN:
            return best
        blocks = cells_from(theirs, WIN)
        if not blocks and mine[best] >= TWO_FOURS:
            return best
        if depth == 0 or len(blocks) > 1:
            return None
        for cell in self._attacks(mine, blocks):
            if self._nodes.left <= self._last:
                return None
            if not self._holds(self._nodes.with_stone(stones, cell, self._attacker), depth - 1):
                return cell
        return None

    def _threats(self, stones: Stones) -> tuple[Threats, Threats]:
        return stones.threats[self._attacker], stones.threats[1 - self._attacker]

    def _attacks(self, mine: Threats, blocks: Iterable[Cell]) -> list[Cell]:
        cells = [cell for cell in blocks or mine if mine.get(cell, 0) >= self._least]
        return sorted(cells, key=lambda cell: (-mine[cell], cell))

    def _holds(self, stones: Stones, depth: int) -> bool:
        """Return True if the defender, who is to move, has an answer."""
        mine, theirs = self._threats(stones)
        answers = cells_from(mine, WIN)
        if len(answers) > 1:
            return False
        for cell in answers or _answers(mine, theirs):
            if self.winning_cell(self._nodes.with_stone(stones, cell, 1 - self._attacker), depth) is None:
                return True
        return False


def _answers(mine: Threats, theirs: Threats) -> list[Cell]:
    """Return the answers to a three: cells where the attacker would make a four, and where the defender would, the best first."""
    cells = {*cells_from(mine, FOUR), *cells_from(theirs, FOUR)}
    return sorted(cells, key=lambda cell: (-mine.get(cell, 0) - theirs.get(cell, 0), cell))


def cells_from(threats: Threats, least: Promise) -> list[Cell]:
    return [cell for cell, promise in threats.items() if promise >= least]
