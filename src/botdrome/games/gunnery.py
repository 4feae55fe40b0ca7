"""Gunnery: what a shot does to a fleet, and what is seen of that."""

from botdrome.games.fleet import WATER

HIT, MISS = "X", "0"
Squares = str
"""A board, row by row in one text."""
Sea = tuple[Squares, ...]
"""Seat by seat."""


def struck(fleets: Sea, boards: Sea, target: int, at: int) -> tuple[Sea, Sea, bool]:
    """The fleets and the boards after a shot at a square that has not been shot at, and whether it hit."""
    fleet, board = fleets[target], boards[target]
    square = fleet[at]
    hit = square != WATER
    after = f"{fleet[:at]}{square.lower() if hit else MISS}{fleet[at + 1 :]}"
    seen = f"{board[:at]}{HIT if hit else MISS}{board[at + 1 :]}"
    return _changed(fleets, target, after), _changed(boards, target, seen), hit


def _changed(sea: Sea, target: int, squares: Squares) -> Sea:
    if len(sea) == 2:
        return (sea[0], squares) if target else (squares, sea[1])
    return (*sea[:target], squares, *sea[target + 1 :])
