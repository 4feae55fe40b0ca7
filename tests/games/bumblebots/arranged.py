"""Arranged positions of bumblebots, and scripted chance."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from botdrome.games.bumblebots import Bumblebots, Hex, Rows, Swarm
from botdrome.games.chance import Chance

START = Bumblebots().start(2, Chance(1))
LEFT, MIDDLE, RIGHT = (7, 6), (7, 7), (7, 8)


class Scripted(Chance):
    """The draws, each in [0, 1), in the order in which they are made."""

    __slots__ = ("left",)

    def __init__(self, *draws: float) -> None:
        super().__init__(0)
        self.left = list(draws)

    def bits(self) -> int:
        return int(self.left.pop(0) * 2**53) << 11


def drawing(item: object, items: Iterable[object]) -> float:
    """The draw that picks this item."""
    pool = list(items)
    return (pool.index(item) + 0.5) / len(pool)


def with_cells(board: Rows, cells: Mapping[Hex, int]) -> Rows:
    return tuple(
        tuple(cells.get((r, c), cell) for c, cell in enumerate(row)) for r, row in enumerate(board)
    )


def position(
    one: Swarm, two: Swarm | None = None, cells: Mapping[Hex, int] | None = None, turn: int = 0
) -> Bumblebots:
    """The documented arena with these drones, and with some hexes changed."""
    return replace(
        START, swarms=(one, two or {}), board=with_cells(START.board, cells or {}), turn=turn
    )


def tick(before: Bumblebots, orders: Mapping[str, str], chance: Chance | None = None) -> Bumblebots:
    """A tick with the orders of both seats in one."""
    moves = {
        seat: before.parse(
            seat,
            {
                "orders": {
                    drone: way for drone, way in orders.items() if drone in before.swarms[seat]
                }
            },
        )
        for seat in (0, 1)
    }
    return before.play(moves, chance or Chance(0))


def at(position: Bumblebots, spot: Hex) -> int | None:
    return position.board[spot[0]][spot[1]]
