"""The encoding of gomoku: an action is a point, row by row."""

import numpy as np

from botdrome.encodings.encoding import Arrays, BadAction, Encoding, Memory, square_in
from botdrome.games.game import Raw, View
from botdrome.games.gomoku import MARKS, Gomoku, points

OWN, OTHER, FREE = range(3)


class GomokuEncoding(Encoding):
    planes = ("own stones", "stones of the opponent", "free points")

    def __init__(self, game: Gomoku, players: int) -> None:
        self._size, self.actions, self.shape = game.size, game.size**2, (3, game.size, game.size)
        self._moves = [{"x": x, "y": y} for x, y in points(game.size)]
        self._nothing, self._free = np.zeros(self.actions, np.int8), np.ones(self.actions, np.int8)
        self._empty = np.zeros(self.shape, np.int8)
        self._empty[FREE] = 1

    def arrays(self, view: View, memory: Memory) -> Arrays:
        seat, moves, board = view["you"], view["moves"], view["board"]
        if not memory:
            memory.update(
                {
                    0: self._empty.copy(),
                    1: self._empty.copy(),
                    "free": self._free.copy(),
                    "moves": 0,
                }
            )
        for x, y in moves[memory["moves"] :]:
            player = MARKS.index(board[y][x])
            own, other = memory[player], memory[1 - player]
            own[OWN, y, x] = other[OTHER, y, x] = 1
            own[FREE, y, x] = other[FREE, y, x] = memory["free"][y * self._size + x] = 0
        memory["moves"] = len(moves)
        return memory[seat].copy(), memory["free"].copy() if seat in view[
            "toMove"
        ] else self._nothing.copy()

    def move(self, view: View, action: int) -> Raw:
        return self._moves[action]

    def action(self, view: View, move: Raw) -> int:
        x, y = square_in(move, "x", "y")
        if not (0 <= x < self._size and 0 <= y < self._size):
            raise BadAction(f"{move!r} is not on the board")
        return y * self._size + x
