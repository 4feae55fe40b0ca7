"""House bots for noughts and crosses."""

from functools import cache

from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.noughts_and_crosses import FULL, WON


def random(view: View, chance: Chance) -> Raw:
    """Choose any free space. One draw gives many tries: each takes one digit in base nine."""
    board, digits = view["board"], 0
    while True:
        digits, space = divmod(digits or chance.bits(), 9)
        row, column = divmod(space, 3)
        if not board[row][column]:
            return {"mark": view["marks"][view["you"]], "space": [row, column]}


def blocker(view: View, chance: Chance) -> Raw:
    """Complete a row if possible, else block one, else choose any free space."""
    own, mine, theirs, free = _read(view)
    wins = [space for space in free if mine | 1 << space in WON]
    blocks = [space for space in free if theirs | 1 << space in WON]
    return _move(own, chance.choice(wins or blocks or free))


def perfect(view: View, chance: Chance) -> Raw:
    """Never lose; choose at random among equally good spaces."""
    own, mine, theirs, free = _read(view)
    worth = {space: -_outlook(theirs, mine | 1 << space) for space in free}
    best = max(worth.values())
    return _move(own, chance.choice([space for space in free if worth[space] == best]))


def _read(view: View) -> tuple[str, int, int, list[int]]:
    """Return the own mark, the spaces of both players as bit sets, and the free spaces."""
    own: str = view["marks"][view["you"]]
    marks = [mark for row in view["board"] for mark in row]
    mine = sum(1 << space for space, mark in enumerate(marks) if mark == own)
    theirs = sum(1 << space for space, mark in enumerate(marks) if mark and mark != own)
    return own, mine, theirs, [space for space, mark in enumerate(marks) if not mark]


def _move(mark: str, space: int) -> Raw:
    return {"mark": mark, "space": [*divmod(space, 3)]}


@cache
def _outlook(mine: int, theirs: int) -> int:
    """Return the best result for the side to move: 1 a win, 0 a draw, -1 a loss.

    A quicker win is not worth more.
    """
    if theirs in WON:
        return -1
    if mine | theirs == FULL:
        return 0
    return max(
        -_outlook(theirs, mine | 1 << space)
        for space in range(9)
        if not (mine | theirs) >> space & 1
    )
