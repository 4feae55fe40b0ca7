"""The encoding of noughts and crosses: an action is a space, row by row."""

from functools import cache

import numpy as np

from botdrome.encodings.encoding import Arrays, BadAction, Encoding, Memory
from botdrome.games.game import Raw, View
from botdrome.games.noughts_and_crosses import MARKS, NoughtsAndCrosses, Rows

MOVES = tuple(
    tuple({"mark": mark, "space": [row, column]} for row in range(3) for column in range(3))
    for mark in MARKS
)


class NoughtsEncoding(Encoding):
    actions = 9
    shape = (3, 3, 3)
    planes = ("own marks", "marks of the opponent", "free spaces")

    def __init__(self, game: NoughtsAndCrosses, players: int) -> None:
        pass

    def arrays(self, view: View, memory: Memory) -> Arrays:
        board, seat = view["board"], view["you"]
        return _arrays(
            board if type(board) is tuple else tuple(map(tuple, board)),
            seat,
            seat in view["toMove"],
        )

    def move(self, view: View, action: int) -> Raw:
        return MOVES[view["you"]][action]

    def action(self, view: View, move: Raw) -> int:
        try:
            return MOVES[view["you"]].index(move)
        except ValueError:
            raise BadAction(f"{move!r} is not a move of this seat") from None


@cache
def _arrays(board: Rows, seat: int, to_move: bool) -> Arrays:
    """The arrays of all positions are made once.

    They cannot be written to, since all matches share them.
    """
    marks = (MARKS[seat], MARKS[1 - seat], "")
    planes = np.array(
        [[[cell == mark for cell in row] for row in board] for mark in marks], np.int8
    )
    mask = planes[2].reshape(9) if to_move else np.zeros(9, np.int8)
    planes.setflags(write=False)
    mask.setflags(write=False)
    return planes, mask
