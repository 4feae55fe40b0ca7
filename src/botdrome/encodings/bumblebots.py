"""The encoding of bumblebots: an action is an order to every drone at once.

The drones are counted in the order of the view. Each has a digit in base 7, the first drone the highest one: 0 to stay, or the
number of a direction. A drone that is missing stays.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from botdrome.encodings.encoding import Array, Arrays, BadAction, Encoding, Memory
from botdrome.games.bumblebots import OPEN, Bumblebots
from botdrome.games.bumblebots_arena import DOCUMENTED, FLOWER, TERRITORY, WALL
from botdrome.games.game import BadOption, Raw, View
from botdrome.games.hexagon import STEPS

MOST_DRONES = 4
WAYS = tuple(STEPS)
DIGITS = {way: digit for digit, way in enumerate(WAYS, 1)}
BASE = 1 + len(WAYS)
STAY = (0,)
KINDS = tuple(np.array([[WALL], [FLOWER], [TERRITORY[seat]], [TERRITORY[1 - seat]]], np.int8) for seat in range(len(TERRITORY)))
Board = Sequence[Sequence[int | None]]


class BumblebotsEncoding(Encoding):
    high = 100

    def __init__(self, game: Bumblebots, players: int) -> None:
        if game.drones > MOST_DRONES:
            raise BadOption(f"drones: an action orders all drones at once, so at most {MOST_DRONES}, not {game.drones}")
        self._width = len(DOCUMENTED.board) if game.arena == "documented" else 2 * game.side - 1
        self._drones, self.actions = game.drones, BASE**game.drones
        self._nothing = np.zeros(self.actions, np.int8)
        drones = (f"own drone {number}" for number in range(1, game.drones + 1))
        self.planes = ("walls", "flowers", "own territory", "territory of the opponent", "drones of the opponent", *drones,
                       "ticks played in percent, on every hex")  # fmt: skip
        self.shape = (len(self.planes), self._width, self._width)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        seat, board = view["you"], view["board"]
        if memory.get("board") is not board:
            self._remember_board(board, memory)
        planes = memory[seat].copy()
        for drone in view["drones"][1 - seat].values():
            row, column = drone["position"]
            planes[4, row, column] = 1
        for number, drone in enumerate(view["drones"][seat].values(), 5):
            row, column = drone["position"]
            planes[number, row, column] = 1
        planes[-1] = 100 * view["turnNumber"] // view["ticks"]
        return planes, self._mask(view, memory) if seat in view["toMove"] else self._nothing.copy()

    def _remember_board(self, board: Board, memory: Memory) -> None:
        """Keep the planes without drones of both seats. Rows that have not changed are left as they are."""
        before = memory.get("board", [None] * len(board))
        kept: list[Array] = [memory.get(seat, np.zeros(self.shape, np.int8)) for seat in (0, 1)]
        memory.clear()
        memory |= {"board": board, 0: kept[0], 1: kept[1]}
        for row, kinds in enumerate(board):
            if kinds is not before[row]:
                cells = np.array([-1 if kind is None else kind for kind in kinds], np.int8)
                for seat, planes in enumerate(kept):
                    planes[:4, row, : len(kinds)] = cells == KINDS[seat]

    def _mask(self, view: View, memory: Memory) -> Array:
        choices, seat = [], view["you"]
        for drone in view["drones"][seat].values():
            row, column = drone["position"]
            if (seat, row, column) not in memory:
                memory[seat, row, column] = _choices(view["board"], row, column, seat)
            choices.append(memory[seat, row, column])
        return _joint((*choices, *[STAY] * (self._drones - len(choices)))).copy()

    def move(self, view: View, action: int) -> Raw:
        orders: dict[str, str] = {}
        unit = self.actions
        for drone in view["drones"][view["you"]]:
            unit //= BASE
            if digit := action // unit % BASE:
                orders[drone] = WAYS[digit - 1]
        return {"orders": orders}

    def action(self, view: View, move: Raw) -> int:
        orders = move.get("orders", move) if isinstance(move, dict) else None
        own = view["drones"][view["you"]]
        if not isinstance(orders, dict) or not set(orders) <= set(own) or not set(orders.values()) <= set(WAYS):
            raise BadAction(f"{move!r} is not a set of orders to the drones {', '.join(own)}")
        number: int = 0
        for drone in own:
            number = number * BASE + (DIGITS[orders[drone]] if drone in orders else 0)
        return int(number * BASE ** (self._drones - len(own)))


def _choices(board: Board, row: int, column: int, seat: int) -> tuple[int, ...]:
    """Return the digits that a drone on this hex may have."""
    open_ = OPEN[seat]
    ways = [digit for digit, (down, right) in enumerate(STEPS.values(), 1) if board[row + down][column + right] in open_]
    return (*STAY, *ways)


@lru_cache(4096)
def _joint(choices: tuple[tuple[int, ...], ...]) -> Array:
    """Return the mask of all combinations of these digits."""
    mask = np.zeros((BASE,) * len(choices), np.int8)
    mask[np.ix_(*choices)] = 1
    return mask.reshape(-1)
