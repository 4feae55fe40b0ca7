"""The encoding of bumblebots: an action is an order to every drone at once.

The drones are counted in the order of the view. Each has a digit in base 7, the first drone the
highest one: 0 to stay, or the number of a direction. A drone that is missing stays.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from botdrome.encodings.encoding import Array, Arrays, BadAction, Encoding, Memory
from botdrome.games.bumblebots import (
    DOCUMENTED,
    FLOWER,
    OPEN,
    STEPS,
    TERRITORY,
    WALL,
    Bumblebots,
    Hex,
)
from botdrome.games.game import BadOption, Raw, View

MOST_DRONES = 4
WAYS = tuple(STEPS)
DIGITS = {way: digit for digit, way in enumerate(WAYS, 1)}
BASE = 1 + len(WAYS)
OTHERS, FIRST_OWN = 4, 5
"""The planes of the opponent's drones, and of the first own one."""
KINDS = tuple(
    np.array([[WALL], [FLOWER], [TERRITORY[seat]], [TERRITORY[1 - seat]]], np.int8)
    for seat in range(len(TERRITORY))
)
Board = Sequence[Sequence[int | None]]


class BumblebotsEncoding(Encoding):
    high = 10
    open_views = True

    def __init__(self, game: Bumblebots, players: int) -> None:
        if game.drones > MOST_DRONES:
            raise BadOption(
                f"drones: an action orders all drones at once, so at most {MOST_DRONES}, not "
                f"{game.drones}"
            )
        self._width = len(DOCUMENTED.board) if game.arena == "documented" else 2 * game.side - 1
        self._drones, self.actions = game.drones, BASE**game.drones
        self._hexes = self._width**2
        self._near = [
            [hex_ + down * self._width + right for down, right in STEPS.values()]
            for hex_ in range(self._hexes)
        ]
        """The neighbours of each hex, in the order of WAYS. Drones are never on the border."""
        self._nothing = np.zeros(self.actions, np.int8)
        drones = (f"own drone {number}" for number in range(1, game.drones + 1))
        self.planes = (
            "walls",
            "flowers",
            "own territory",
            "territory of the opponent",
            "drones of the opponent",
            *drones,
            "tenths of the ticks played, on every hex",
        )
        self.shape = (len(self.planes), self._width, self._width)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        seat, board, tenths = view["you"], view["board"], 10 * view["turnNumber"] // view["ticks"]
        if memory.get("board") is not board:
            self._remember_board(board, memory)
        if memory["tenths"] != tenths:
            memory["tenths"] = memory[0][-1] = memory[1][-1] = tenths
        planes, spots = (
            memory[seat].copy(),
            [drone["position"] for drone in view["drones"][seat].values()],
        )
        for drone in view["drones"][1 - seat].values():
            row, column = drone["position"]
            planes[OTHERS, row, column] = 1
        for number, (row, column) in enumerate(spots, FIRST_OWN):
            planes[number, row, column] = 1
        return planes, self._mask(spots, memory["open"][seat]) if seat in view[
            "toMove"
        ] else self._nothing.copy()

    def _remember_board(self, board: Board, memory: Memory) -> None:
        """Keep the planes without drones, and the open hexes, of both seats.

        Rows that have not changed stay as they are.
        """
        if not memory:
            memory |= {seat: np.zeros(self.shape, np.int8) for seat in (0, 1)}
            memory |= {
                "board": [None] * len(board),
                "open": (bytearray(self._hexes), bytearray(self._hexes)),
                "tenths": 0,
            }
        before, memory["board"] = memory["board"], board
        for row, kinds in enumerate(board):
            if kinds is not before[row]:
                first, count = row * self._width, len(kinds)
                for seat in (0, 1):
                    cells, open_ = _encoded_row(tuple(kinds), seat)
                    memory[seat][:OTHERS, row, :count] = cells
                    memory["open"][seat][first : first + count] = open_

    def _mask(self, spots: list[Hex], open_: bytearray) -> Array:
        ways = [0] * self._drones
        for number, (row, column) in enumerate(spots):
            a, b, c, d, e, f = self._near[row * self._width + column]
            ways[number] = (
                open_[a]
                | open_[b] << 1
                | open_[c] << 2
                | open_[d] << 3
                | open_[e] << 4
                | open_[f] << 5
            )
        return _joint(tuple(ways)).copy()

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
        if (
            not isinstance(orders, dict)
            or not set(orders) <= set(own)
            or not set(orders.values()) <= set(WAYS)
        ):
            raise BadAction(f"{move!r} is not a set of orders to the drones {', '.join(own)}")
        number: int = 0
        for drone in own:
            number = number * BASE + (DIGITS[orders[drone]] if drone in orders else 0)
        return int(number * BASE ** (self._drones - len(own)))


@lru_cache(4096)
def _encoded_row(kinds: tuple[int | None, ...], seat: int) -> tuple[Array, bytes]:
    """Return the planes of a row without drones, and which of its hexes are open."""
    cells = np.array([-1 if kind is None else kind for kind in kinds], np.int8)
    return (cells == KINDS[seat]).view(np.int8), bytes([kind in OPEN[seat] for kind in kinds])


@lru_cache(16384)
def _joint(ways: tuple[int, ...]) -> Array:
    """Return the mask of all combinations.

    `ways` has the possible directions of each drone as bits; each may also stay.
    """
    mask = np.ones(1, np.int8)
    for bits in ways:
        mask = np.outer(
            mask, np.array([1, *(bits >> way & 1 for way in range(len(WAYS)))], np.int8)
        ).reshape(-1)
    return mask
