"""The map of a Bomberman state, tile by tile, in every shape.

From one state to the next most rows of the map stay what they were: rows of bare terrain are spelled once, and so are the
tiles of the others, but for those where something is.
"""

from functools import lru_cache
from typing import Any

from botdrome.games.bomberman import CRATE, FREE, WALL, Place, Rows
from botdrome.games.game import View
from botdrome.wire.bomber.shape import Shape

FIELD_TYPES = {FREE: "FREE", CRATE: "DESTRUCTIBLE", WALL: "INDESTRUCTIBLE"}
BRACKETS = {"dict": (b"{", b"}"), "list": (b"[", b"]"), "grid": (b"[", b"]")}

Tile = dict[str, Any]


def spelled_map(view: View, names: tuple[str, ...], shape: Shape) -> bytes:
    """`actual_state`; `names` are those of the seats."""
    things: dict[int, dict[int, bytes]] = {}
    for place, tile in occupied(view, names).items():
        things.setdefault(place[0], {})[place[1]] = _piece(place, tile, shape)
    tiles = view["tiles"]
    rows = list(_bare_rows(tiles, shape))
    for row, pieces in things.items():
        rows[row] = _row_with(pieces, row, tiles[row], shape)
    opening, closing = BRACKETS[shape.state]
    return b"%b%b%b" % (opening, b", ".join(filter(None, rows)), closing)


@lru_cache(maxsize=256)
def _bare_rows(tiles: Rows, shape: Shape) -> tuple[bytes, ...]:
    return tuple([_bare_row(row, kinds, shape) for row, kinds in enumerate(tiles)])


def _row_with(things: dict[int, bytes], row: int, tiles: str, shape: Shape) -> bytes:
    pieces = _row(row, tiles, shape).copy()
    for column, piece in things.items():
        pieces[column] = piece
    return _joined(pieces, shape)


def _joined(pieces: list[bytes], shape: Shape) -> bytes:
    joined = b", ".join(filter(None, pieces))
    return b"[" + joined + b"]" if shape.state == "grid" else joined


def occupied(view: View, names: tuple[str, ...]) -> dict[Place, Tile]:
    """The tiles that are more than terrain. Danger goes first. The tile of a bomb also names the user on it."""
    tiles: dict[Place, Tile] = {
        upgrade["at"]: {"field_type": "OCCUPIED_UPGRADE", "upgrade_type": upgrade["type"]} for upgrade in view["upgrades"]
    }
    for bomb in view["bombs"]:
        tiles[bomb["at"]] = {
            "field_type": "OCCUPIED_BOMB",
            "bomb_turns_left": bomb["turnsLeft"],
            "bomb_range": bomb["range"],
        }
    for user in view["users"]:
        if user["alive"]:
            tile = tiles.setdefault(user["at"], {"field_type": "OCCUPIED_USER"})
            tile.update(user_name=names[user["seat"]], bombs_left=user["bombsLeft"])
    return tiles


@lru_cache(maxsize=4096)
def _row(row: int, tiles: str, shape: Shape) -> list[bytes]:
    """The tiles of a row of bare terrain."""
    without_free = shape.sparse and shape.state == "dict"
    return [
        b"" if without_free and tile == FREE else _piece((row, column), {"field_type": FIELD_TYPES[tile]}, shape)
        for column, tile in enumerate(tiles)
    ]


@lru_cache(maxsize=4096)
def _bare_row(row: int, tiles: str, shape: Shape) -> bytes:
    return _joined(_row(row, tiles, shape), shape)


def _piece(place: Place, tile: Tile, shape: Shape) -> bytes:
    spelled = shape.spelled(tile | {"position": place})
    if shape.state != "dict":
        return spelled
    key: object = "{},{}".format(*place) if shape.keys == "comma" else place if shape.python else str(place)
    return shape.spelled(key) + b": " + spelled
