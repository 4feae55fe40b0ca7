"""Encoding: how the views and moves of a game become arrays and action numbers.

An encoding belongs to one set-up of a game and one number of players, so all its arrays have a
fixed size. It reads only what a bot sees, so the same code serves the environments and the policies
that play on a server.

Arrays are built from what changed since the last position, since numpy is slow with small arrays.
So `arrays` gets a memory: a dict that belongs to one board and starts empty. The arrays are the
same with an empty one.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import STEPS as CUBE_STEPS
from botdrome.games.battlecube import Battlecube, plan_in
from botdrome.games.battleship import HIT, LETTERS, MISS, WATER, Battleship, boats_in, random_fleet
from botdrome.games.bomberman import (
    ADDITIONAL_BOMB,
    CRATE,
    PLACE_BOMB,
    WAIT,
    WORDS,
    Bomberman,
    action_in,
    neighbours,
)
from botdrome.games.bomberman import FREE as FREE_TILE
from botdrome.games.bomberman import WALL as WALL_TILE
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
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, View
from botdrome.games.gomoku import MARKS as STONES
from botdrome.games.gomoku import Gomoku, points
from botdrome.games.noughts_and_crosses import MARKS, NoughtsAndCrosses, Rows
from botdrome.games.options import with_options

Array = NDArray[np.int8]
Arrays = tuple[Array, Array]
"""An observation, and the mask of its legal actions: 1 for a legal one, all zeros if the player is
not to move.
"""
Memory = dict[Any, Any]
"""What an encoding remembers of earlier positions of a board."""
HIGHEST = 127
"""The largest number in an observation. Larger ones are cut."""


class BadAction(ValueError):
    """A number that is no action, or a move that has no number."""


class Encoding:
    actions: int
    """The number of actions; they are numbered from 0."""
    shape: tuple[int, ...]
    """The shape of an observation; the first index is the plane."""
    planes: tuple[str, ...]
    """What each plane shows."""
    boards: int = 1
    """The number of boards, whose planes follow each other."""
    high: int = 1
    """The largest number in an observation."""
    open_views: bool = False
    """Whether the views of one position differ only in `you`, and several seats move at once, so
    that they can share them.
    """
    mortal: bool = False
    """Whether a seat may be dead while the others play on; see `playing`."""

    def arrays(self, view: View, memory: Memory) -> Arrays:
        raise NotImplementedError

    def move(self, view: View, action: int) -> Raw:
        """Return the move of an action, as a bot would send it."""
        raise NotImplementedError

    def action(self, view: View, move: Raw) -> int:
        """Return the number of a move. Raise BadAction if it has none."""
        raise NotImplementedError

    def playing(self, view: View) -> bool:
        """Return False if the seat is dead and only waits for the end.

        It is asked only where seats are mortal.
        """
        raise NotImplementedError


def square_in(move: Raw, first: str, second: str) -> tuple[int, int]:
    """Return two whole numbers of a move that is an object. Raise BadAction if there are none."""
    try:
        one, two = move[first], move[second]
    except (TypeError, LookupError):
        raise BadAction(f'a move has "{first}" and "{second}", not {move!r}') from None
    if type(one) is not int or type(two) is not int:
        raise BadAction(f'"{first}" and "{second}" are whole numbers, not {one!r} and {two!r}')
    return one, two


# The encoding of noughts and crosses: an action is a space, row by row.

NOUGHTS_MOVES = tuple(
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
        return _noughts_arrays(
            board if type(board) is tuple else tuple(map(tuple, board)),
            seat,
            seat in view["toMove"],
        )

    def move(self, view: View, action: int) -> Raw:
        return NOUGHTS_MOVES[view["you"]][action]

    def action(self, view: View, move: Raw) -> int:
        try:
            return NOUGHTS_MOVES[view["you"]].index(move)
        except ValueError:
            raise BadAction(f"{move!r} is not a move of this seat") from None


@cache
def _noughts_arrays(board: Rows, seat: int, to_move: bool) -> Arrays:
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


# The encoding of gomoku: an action is a point, row by row.

OWN_STONES, OTHER_STONES, FREE_POINTS = range(3)


class GomokuEncoding(Encoding):
    planes = ("own stones", "stones of the opponent", "free points")

    def __init__(self, game: Gomoku, players: int) -> None:
        self._size, self.actions, self.shape = game.size, game.size**2, (3, game.size, game.size)
        self._moves = [{"x": x, "y": y} for x, y in points(game.size)]
        self._nothing, self._free = np.zeros(self.actions, np.int8), np.ones(self.actions, np.int8)
        self._empty = np.zeros(self.shape, np.int8)
        self._empty[FREE_POINTS] = 1

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
            player = STONES.index(board[y][x])
            own, other = memory[player], memory[1 - player]
            own[OWN_STONES, y, x] = other[OTHER_STONES, y, x] = 1
            own[FREE_POINTS, y, x] = other[FREE_POINTS, y, x] = memory["free"][
                y * self._size + x
            ] = 0
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


# The encoding of battleship.
#
# The last action is the skip; the others are squares: those of the next seat row by row, then
# those of the seat after it, and so on. While the fleets are placed, an action is the number of a
# fleet in a fixed list of random fleets.

NOTHING = " "
"""Water of one's own board. On the other boards, water is a square that may be shot at."""
KIND_OF = bytes.maketrans(
    (LETTERS + WATER + LETTERS.lower() + HIT + MISS).encode(),
    b"\1" * len(LETTERS + WATER) + b"\2" * len(LETTERS + HIT) + b"\3",
)
"""A table for `translate`: 1 for a boat or an open square, 2 for a hit, 3 for a miss."""
SHIP_PLANES = np.array([[1], [2], [3]], np.uint8)


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
        planes = (kinds.reshape(self._players, 1, self._squares) == SHIP_PLANES).view(np.int8)
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


# The encoding of bumblebots: an action is an order to every drone at once.
#
# The drones are counted in the order of the view. Each has a digit in base 7, the first drone the
# highest one: 0 to stay, or the number of a direction. A drone that is missing stays.

MOST_DRONES = 4
DRONE_WAYS = tuple(STEPS)
DIGITS = {way: digit for digit, way in enumerate(DRONE_WAYS, 1)}
BASE = 1 + len(DRONE_WAYS)
OTHER_DRONES, FIRST_OWN_DRONE = 4, 5
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
        """The neighbours of each hex, as in DRONE_WAYS. Drones are never on the border."""
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
            planes[OTHER_DRONES, row, column] = 1
        for number, (row, column) in enumerate(spots, FIRST_OWN_DRONE):
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
                    memory[seat][:OTHER_DRONES, row, :count] = cells
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
                orders[drone] = DRONE_WAYS[digit - 1]
        return {"orders": orders}

    def action(self, view: View, move: Raw) -> int:
        orders = move.get("orders", move) if isinstance(move, dict) else None
        own = view["drones"][view["you"]]
        if (
            not isinstance(orders, dict)
            or not set(orders) <= set(own)
            or not set(orders.values()) <= set(DRONE_WAYS)
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
            mask, np.array([1, *(bits >> way & 1 for way in range(len(DRONE_WAYS)))], np.int8)
        ).reshape(-1)
    return mask


# The encoding of Bomberman: an action is one of the six words, in the order of the rules.

BOMBER_MOVES = tuple({"action": word} for word in WORDS)
BOMBER_MASKS = [
    np.array([legal >> action & 1 for action in range(len(WORDS))], np.int8)
    for legal in range(1 << len(WORDS))
]
"""The masks by the bits of the legal actions."""
(
    CRATES,
    WALLS,
    OWN_USER,
    OTHER_USERS,
    BOMBS_LEFT,
    RANGE,
    TURNS,
    BLAST,
    FLAMES,
    MORE_BOMBS,
    MORE_RANGE,
    CLOSING,
    PLAYED,
) = range(13)


class BombermanEncoding(Encoding):
    actions = len(WORDS)
    high = HIGHEST
    open_views = mortal = True
    planes = (
        "crates", "walls", "own user", "other users", "bombs left of each user",
        "range of each user", "bombs: rounds until they explode", "bombs: range",
        "places that burned in the last round", "upgrades: one more bomb", "upgrades: range",
        "walls that close in next: rounds until then",
        "tenths of the rounds played, on every place",
    )  # fmt: skip

    def __init__(self, game: Bomberman, players: int) -> None:
        self._beside = neighbours(game.height, game.width)
        self.shape = (len(self.planes), game.height, game.width)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        if memory.get("round") != view["round"]:
            memory["round"], memory["planes"] = view["round"], self._shared_planes(view, memory)
        planes, seat, legal = memory["planes"].copy(), view["you"], 0
        user = view["users"][seat]
        if user["alive"]:
            row, column = user["at"]
            planes[OWN_USER, row, column], planes[OTHER_USERS, row, column] = 1, 0
            if seat in view["toMove"]:
                legal = self._legal(view, row, column, user["bombsLeft"])
        return planes, BOMBER_MASKS[legal].copy()

    def _shared_planes(self, view: View, memory: Memory) -> Array:
        """Return the planes that all seats share, with all users among the others."""
        tiles, tenths = view["tiles"], 10 * view["round"] // view["rounds"]
        if memory.get("tiles") is not tiles or memory["tenths"] != tenths:
            memory |= {"tiles": tiles, "tenths": tenths, "ground": self._ground(tiles, tenths)}
        planes: Array = memory["ground"].copy()
        self._add_users(planes, view)
        self._add_things(planes, view)
        return planes

    def _ground(self, tiles: Sequence[str], tenths: int) -> Array:
        planes = np.zeros(self.shape, np.int8)
        cells = np.frombuffer("".join(tiles).encode(), np.uint8).reshape(self.shape[1:])
        planes[CRATES], planes[WALLS] = cells == ord(CRATE), cells == ord(WALL_TILE)
        planes[PLAYED] = tenths
        return planes

    def _add_users(self, planes: Array, view: View) -> None:
        for user in view["users"]:
            if user["alive"]:
                row, column = user["at"]
                left, reach = user["bombsLeft"], user["range"]
                planes[OTHER_USERS, row, column] = 1
                planes[BOMBS_LEFT, row, column] = left if left < HIGHEST else HIGHEST
                planes[RANGE, row, column] = reach if reach < HIGHEST else HIGHEST

    def _add_things(self, planes: Array, view: View) -> None:
        for bomb in view["bombs"]:
            (row, column), reach = bomb["at"], bomb["range"]
            planes[TURNS, row, column], planes[BLAST, row, column] = (
                bomb["turnsLeft"],
                reach if reach < HIGHEST else HIGHEST,
            )
        for upgrade in view["upgrades"]:
            row, column = upgrade["at"]
            planes[
                MORE_BOMBS if upgrade["type"] == ADDITIONAL_BOMB else MORE_RANGE, row, column
            ] = 1
        for row, column in view["explosions"]:
            planes[FLAMES, row, column] = 1
        closing = view["closing"]
        if closing["next"]:
            left = min(closing["at"] - view["round"] + 1, HIGHEST)
            for row, column in closing["next"]:
                planes[CLOSING, row, column] = left

    def _legal(self, view: View, row: int, column: int, bombs_left: int) -> int:
        """Return the legal actions as bits."""
        tiles, bombs = view["tiles"], [tuple(bomb["at"]) for bomb in view["bombs"]]
        legal = 1 << WAIT
        if bombs_left and (row, column) not in bombs:
            legal |= 1 << PLACE_BOMB
        for way, place in enumerate(self._beside[row, column]):
            if place is not None and tiles[place[0]][place[1]] == FREE_TILE and place not in bombs:
                legal |= 1 << way
        return legal

    def move(self, view: View, action: int) -> Raw:
        return BOMBER_MOVES[action]

    def action(self, view: View, move: Raw) -> int:
        try:
            return action_in(move)
        except IllegalMove as problem:
            raise BadAction(str(problem)) from None

    def playing(self, view: View) -> bool:
        return bool(view["users"][view["you"]]["alive"])


# The encoding of battlecube: six steps, no action, then a bomb on each cell, with z counting
# fastest.

LARGEST_EDGE = 16
OWN_CELL, OTHER_CELLS, BOMB_CELLS = range(3)
CUBE_WAYS = tuple(CUBE_STEPS)


class BattlecubeEncoding(Encoding):
    open_views = mortal = True
    planes = ("own cell", "cells of the others", "bombs")

    def __init__(self, game: Battlecube, players: int) -> None:
        if game.tasks > 1:
            raise BadOption(f"tasks: an action is one task, so it must be 1, not {game.tasks}")
        if game.edge > LARGEST_EDGE:
            raise BadOption(
                f"edge: every cell is an action, so it is at most {LARGEST_EDGE}, not {game.edge}"
            )
        edge = self._edge = game.edge
        self.shape = (3, edge, edge, edge)
        steps: list[Raw] = [{"task": "MOVE", "direction": way} for way in CUBE_WAYS]
        bombs = [
            {"task": "BOMB", "x": x, "y": y, "z": z} for x, y, z in product(range(edge), repeat=3)
        ]
        self._moves = [[task] for task in (*steps, {"task": "NOOP"}, *bombs)]
        self.actions = len(self._moves)
        self._all, self._nothing = np.ones(self.actions, np.int8), np.zeros(self.actions, np.int8)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        if memory.get("tick") != view["tick"]:
            memory["tick"] = view["tick"]
            self._remember_bombs(view["bombs"], memory)
        planes, seat = memory["planes"].copy(), view["you"]
        for other in view["players"]:
            planes[
                OWN_CELL if other["seat"] == seat else OTHER_CELLS,
                other["x"],
                other["y"],
                other["z"],
            ] = 1
        return planes, self._all.copy() if seat in view["toMove"] else self._nothing.copy()

    def _remember_bombs(self, bombs: Sequence[Sequence[int]], memory: Memory) -> None:
        known = memory.get("bombs", ())
        if "planes" not in memory or bombs[: len(known)] != known:
            known, memory["planes"] = (), np.zeros(self.shape, np.int8)
        planes, edge = memory["planes"], self._edge
        for x, y, z in bombs[len(known) :]:
            if x < edge and y < edge and z < edge:
                planes[BOMB_CELLS, x, y, z] = 1
        memory["bombs"] = bombs

    def _cell(self, x: int, y: int, z: int) -> int:
        return (x * self._edge + y) * self._edge + z

    def move(self, view: View, action: int) -> Raw:
        return self._moves[action]

    def action(self, view: View, move: Raw) -> int:
        try:
            (task,) = plan_in(move, 1)
        except IllegalMove as problem:
            raise BadAction(str(problem)) from None
        if task is None:
            return len(CUBE_WAYS)
        if isinstance(task, str):
            return CUBE_WAYS.index(task)
        if max(task) >= self._edge:
            raise BadAction(f"{move!r} is outside the cube")
        return len(CUBE_WAYS) + 1 + self._cell(*task)

    def playing(self, view: View) -> bool:
        return any(other["seat"] == view["you"] for other in view["players"])


# The encoding of each game.

ENCODINGS: dict[str, Callable[[Any, int], Encoding]] = {
    "noughts-and-crosses": NoughtsEncoding,
    "bumblebots": BumblebotsEncoding,
    "gomoku": GomokuEncoding,
    "battleship": BattleshipEncoding,
    "battlecube": BattlecubeEncoding,
    "bomberman": BombermanEncoding,
}


def encoding_of(game: Game[Any], players: int) -> Encoding:
    """Return the encoding of a set-up. Raise BadOption if its actions cannot be numbered."""
    if game.name not in ENCODINGS:
        raise BadOption(f"{game.name} has no encoding; there are {', '.join(ENCODINGS)}")
    game.check(players)
    return ENCODINGS[game.name](game, players)


# A policy as a bot: a function from an observation and the mask of legal actions to an action.

Policy = Callable[[Array, Array], Any]


class PolicyBot:
    """One match of a policy. It sees what any other bot sees."""

    _encoding: Encoding

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin(self, match: dict[str, Any]) -> None:
        game = with_options(CATALOGUE[match["game"]].game, match["options"])
        self._encoding = encoding_of(game, len(match["players"]))

    def move(self, view: View) -> Raw:
        observation, mask = self._encoding.arrays(view, {})
        action = int(self._policy(observation, mask))
        if 0 <= action < self._encoding.actions:
            return self._encoding.move(view, action)
        raise BadAction(
            f"the policy returned {action}; an action is from 0 to {self._encoding.actions - 1}"
        )


def policy_bot(policy: Any) -> type[PolicyBot]:
    """Return the class of a bot that plays a policy.

    A policy that is a class is created anew for each match.
    """

    class LoadedPolicy(PolicyBot):
        def __init__(self) -> None:
            super().__init__(policy() if isinstance(policy, type) else policy)

    return LoadedPolicy
