"""House bots for noughts and crosses."""

from functools import cache

from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.noughts_and_crosses import FULL, WON


def random(view: View, chance: Chance) -> Raw:
    """Any free space."""
    spaces = [(r, c) for r, row in enumerate(view["board"]) for c, mark in enumerate(row) if not mark]
    return _turn(view, chance.choice(spaces))


def perfect(view: View, chance: Chance) -> Raw:
    """Never loses; among equally good spaces, any."""
    own = view["marks"][view["you"]]
    marks = [mark for row in view["board"] for mark in row]
    mine = sum(1 << space for space, mark in enumerate(marks) if mark == own)
    theirs = sum(1 << space for space, mark in enumerate(marks) if mark and mark != own)
    free = [space for space, mark in enumerate(marks) if not mark]
    worth = {space: -_outlook(theirs, mine | 1 << space) for space in free}
    best = max(worth.values())
    return _turn(view, divmod(chance.choice([space for space in free if worth[space] == best]), 3))


def _turn(view: View, space: tuple[int, int]) -> Raw:
    return {"mark": view["marks"][view["you"]], "space": list(space)}


@cache
def _outlook(mine: int, theirs: int) -> int:
    """What the side to move can reach: 1 a win, 0 a draw, -1 a loss; a quicker win is not worth more."""
    if theirs in WON:
        return -1
    if mine | theirs == FULL:
        return 0
    return max(-_outlook(theirs, mine | 1 << space) for space in range(9) if not (mine | theirs) >> space & 1)
