"""The encoding of gomoku: an action is a point, row by row."""

import numpy as np

from botdrome.encodings.encoding import Array, Arrays, BadAction, Encoding, Memory, square_in
from botdrome.games.game import Raw, View
from botdrome.games.gomoku import MARKS, Gomoku, points

OWN, OTHER, FREE = range(3)


class GomokuEncoding(Encoding):
    planes = ("own stones", "stones of the opponent", "free points")

    def __init__(self, game: Gomoku, players: int) -> None:
        self._size, self.actions, self.shape = game.size, game.size**2, (3, game.size, game.size)
        self._moves = [{"x": x, "y": y} for x, y in points(game.size)]
        self._nothing = np.zeros(self.actions, np.int8)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        seat, moves, board = view["you"], view["moves"], view["board"]
        if not memory:
            memory.update({0: self._empty(), 1: self._empty(), "moves": 0})
        for x, y in moves[memory["moves"] :]:
            player = MARKS.index(board[y][x])
            for planes, plane in ((memory[player], OWN), (memory[1 - player], OTHER)):
                planes[plane, y, x], planes[FREE, y, x] = 1, 0
        memory["moves"] = len(moves)
        planes = memory[seat].copy()
        return planes, planes[FREE].flatten() if seat in view["toMove"] else self._nothing.copy()

    def _empty(self) -> Array:
        planes = np.zeros(self.shape, np.int8)
        planes[FREE] = 1
        return planes

    def move(self, view: View, action: int) -> Raw:
        return self._moves[action]

    def action(self, view: View, move: Raw) -> int:
        x, y = square_in(move, "x", "y")
        if not (0 <= x < self._size and 0 <= y < self._size):
            raise BadAction(f"{move!r} is not on the board")
        return y * self._size + x
