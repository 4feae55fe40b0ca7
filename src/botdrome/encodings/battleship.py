"""The encoding of battleship.

The last action is the skip; the others are squares: those of the next seat row by row, then those
of the seat after it, and so on. While the fleets are placed, an action is the number of a fleet in
a fixed list of random fleets.
"""

from functools import lru_cache

import numpy as np

from botdrome.encodings.encoding import Array, Arrays, BadAction, Encoding, Memory, square_in
from botdrome.games.battleship import HIT, LETTERS, MISS, WATER, Battleship, boats_in, random_fleet
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

NOTHING = " "
"""Water of one's own board. On the other boards, water is a square that may be shot at."""
KIND_OF = bytes.maketrans(
    (LETTERS + WATER + LETTERS.lower() + HIT + MISS).encode(),
    b"\1" * len(LETTERS + WATER) + b"\2" * len(LETTERS + HIT) + b"\3",
)
"""A table for `translate`: 1 for a boat or an open square, 2 for a hit, 3 for a miss."""
PLANES = np.array([[1], [2], [3]], np.uint8)


class BattleshipEncoding(Encoding):
    def __init__(self, game: Battleship, players: int) -> None:
        self._size, self._players = (game.width, game.height), players
        self._squares, self._boats = game.width * game.height, boats_in(game.boats).names
        self._nothing = NOTHING * self._squares
        self.boards, self.actions = players, self._squares * (players - 1) + 1
        self._no_action = np.zeros(self.actions, np.int8)
        self.shape = (3 * players, game.height, game.width)
        others = [
            f"{what} of opponent {other}"
            for other in range(1, players)
            for what in ("open squares", "hits", "misses")
        ]
        self.planes = ("own boats", "own boats that were hit", "misses on the own board", *others)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        seat = view["you"]
        self._remember_shot(view, memory)
        if seat not in memory:
            planes = self._planes(view)
            memory[seat] = planes, np.append(planes[3::3].ravel(), np.int8(view["own"] is not None))
        planes, mask = memory[seat]
        return planes.copy(), mask.copy() if seat in view["toMove"] else self._no_action.copy()

    def _remember_shot(self, view: View, memory: Memory) -> None:
        """Mark the last shot in the arrays of all seats. If a turn was not seen, forget them."""
        turn, last, before = sum(view["turns"]), view["last"], memory.pop("turn", 0)
        if turn == before + 1 and last is not None:
            if "skip" not in last:
                self._mark(last["target"], last["x"], last["y"], 1 if last["hit"] else 2, memory)
        elif turn != before or not turn:
            memory.clear()
        memory["turn"] = turn

    def _mark(self, target: int, x: int, y: int, result: int, memory: Memory) -> None:
        for seat, (planes, mask) in memory.items():
            board = (target - seat) % self._players
            planes[3 * board, y, x], planes[3 * board + result, y, x] = 0, 1
            if board:
                mask[(board - 1) * self._squares + y * self._size[0] + x] = 0

    def _planes(self, view: View) -> Array:
        seat, boards, own = view["you"], view["boards"], view["own"]
        first = self._nothing if own is None else "".join(own).replace(WATER, NOTHING)
        others = ["".join(board) for board in (*boards[seat + 1 :], *boards[:seat])]
        kinds = np.frombuffer("".join([first, *others]).encode().translate(KIND_OF), np.uint8)
        planes = (kinds.reshape(self._players, 1, self._squares) == PLANES).view(np.int8)
        found: Array = planes.reshape(self.shape)
        return found

    def move(self, view: View, action: int) -> Raw:
        if view["phase"] == "placement" and action < self.actions - 1:
            return {"board": list(_fleet(*self._size, self._boats, action))}
        if action == self.actions - 1:
            return {"skip": True}
        other, square = divmod(action, self._squares)
        y, x = divmod(square, self._size[0])
        return {"target": (view["you"] + 1 + other) % self._players, "x": x, "y": y}

    def action(self, view: View, move: Raw) -> int:
        if view["phase"] == "placement":
            return self._fleet_number(move)
        if move == {"skip": True}:
            return self.actions - 1
        x, y = square_in(move, "x", "y")
        target = move.get("target", 1 - view["you"])
        if not (
            0 <= x < self._size[0]
            and 0 <= y < self._size[1]
            and target in range(self._players)
            and target != view["you"]
        ):
            raise BadAction(f"{move!r} is not a square of an opponent")
        return int(
            (target - view["you"] - 1) % self._players * self._squares + y * self._size[0] + x
        )

    def _fleet_number(self, move: Raw) -> int:
        for number in range(self.actions - 1):
            if move == self.move({"phase": "placement"}, number):
                return number
        raise BadAction("this fleet is not in the list of fleets")


@lru_cache(4096)
def _fleet(width: int, height: int, boats: tuple[str, ...], number: int) -> tuple[str, ...]:
    return random_fleet(width, height, boats, Chance(number))
