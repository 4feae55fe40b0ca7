"""States of a Bomberman room.

The part that all clients share is encoded once; the rest goes in front of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from botdrome.games.bomberman import CRATE, FREE, WALL, Death, Place, Rows
from botdrome.games.game import View
from botdrome.match.events import Result
from botdrome.match.terms import Milliseconds
from botdrome.wire.bomber.request import Shape

# The map of a Bomberman state, tile by tile, in every shape.
#
# From one state to the next most rows of the map stay what they were: rows of bare terrain are
# spelled once, and so are the tiles of the others, but for those where something is.

FIELD_TYPES = {FREE: "FREE", CRATE: "DESTRUCTIBLE", WALL: "INDESTRUCTIBLE"}
BRACKETS = {"dict": (b"{", b"}"), "list": (b"[", b"]"), "grid": (b"[", b"]")}

Tile = dict[str, Any]


def spelled_map(view: View, names: tuple[str, ...], shape: Shape) -> bytes:
    """`actual_state`; `names` are those of the seats."""
    things: dict[int, dict[int, bytes]] = {}
    for place, tile in occupied(view, names).items():
        things.setdefault(place[0], {})[place[1]] = _known_piece(place, tuple(tile.items()), shape)
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
    """The tiles that are more than terrain.

    Danger goes first. The tile of a bomb also names the user on it.
    """
    tiles: dict[Place, Tile] = {
        upgrade["at"]: {"field_type": "OCCUPIED_UPGRADE", "upgrade_type": upgrade["type"]}
        for upgrade in view["upgrades"]
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
        b""
        if without_free and tile == FREE
        else _piece((row, column), {"field_type": FIELD_TYPES[tile]}, shape)
        for column, tile in enumerate(tiles)
    ]


@lru_cache(maxsize=4096)
def _bare_row(row: int, tiles: str, shape: Shape) -> bytes:
    return _joined(_row(row, tiles, shape), shape)


@lru_cache(maxsize=8192)
def _known_piece(place: Place, tile: tuple[tuple[str, Any], ...], shape: Shape) -> bytes:
    """A cache, since users stand still or come back."""
    return _piece(place, dict(tile), shape)


def _piece(place: Place, tile: Tile, shape: Shape) -> bytes:
    spelled = shape.spelled(tile | {"position": place})
    if shape.state != "dict":
        return spelled
    key: object = (
        "{},{}".format(*place) if shape.keys == "comma" else place if shape.python else str(place)
    )
    return shape.spelled(key) + b": " + spelled


REGISTRATION, PLAYING, FINISHED = "REGISTRATION", "PLAYING", "FINISHED"


class State(Struct, frozen=True):
    """A room as everybody may see it.

    There are no user_ids in here, and so there are none in anything that is made of it.
    """

    phase: str
    number: int
    """`state_number`: 0 before the first round."""
    size: tuple[int, int]
    names: tuple[str, ...]
    """In the order of the seats, once there are seats."""
    game_id: str | None = None
    view: View | None = None
    """The public view, once there is a map."""
    result: Result | None = None
    deaths: tuple[Death | None, ...] = ()
    """By the seats; none are given before there are any."""
    fuse: int = 0

    def place(self, seat: int) -> Place | None:
        """Where a seat's user stands; None: it is dead."""
        assert self.view is not None
        place: Place | None = self.view["users"][seat]["at"]
        return place

    def spelled(self, shape: Shape) -> bytes:
        """All but the beginning, which is different for everyone who asks (see `beginning`)."""
        tiles = (
            b"".join(BRACKETS[shape.state])
            if self.view is None
            else spelled_map(self.view, self.names, shape)
        )
        return (
            shape.spelled("actual_state") + b": " + tiles + b", " + shape.spelled(self._facts())[1:]
        )

    def _facts(self) -> dict[str, Any]:
        facts = {
            "state_number": self.number,
            "map_size": self.size,
            "phase": self.phase,
            "game_id": self.game_id,
            "users": self._users(),
            "explosions": () if self.view is None else self.view["explosions"],
        }
        if self.view is not None:
            facts["closing"] = _closing(self.view["closing"])
        if self.phase == FINISHED:
            facts |= self._outcome()
        return facts

    def _users(self) -> list[dict[str, Any]]:
        if self.view is None:
            return [{"user_name": name} for name in self.names]
        fates = self.deaths or (None,) * len(self.names)
        return [
            {
                "user_name": name,
                "alive": user["alive"],
                "position": user["at"],
                "bombs_left": user["bombsLeft"],
                "bomb_range": user["range"],
                "kills": user["kills"],
                "tiles": user["crates"],
                "upgrades": user["upgrades"],
            }
            | ({} if death is None else {"death": told_death(death, self.names, self.fuse)})
            for name, user, death in zip(self.names, self.view["users"], fates, strict=True)
        ]

    def _outcome(self) -> dict[str, Any]:
        """Return the winner and the scores.

        There is no winner after a tie for first place or an aborted game.
        """
        result = self.result
        if result is None or result.aborted:
            return {"winner": None, "scores": {}, "aborted": True}
        winner = None if result.winner is None else self.names[result.winner]
        return {
            "winner": winner,
            "scores": {
                name: int(score) for name, score in zip(self.names, result.scores, strict=True)
            },
        }


def told_death(death: Death, names: Sequence[str], fuse: int) -> dict[str, Any]:
    """Return the killers of a user, the number of the state, and the bombs."""
    bombs = [
        {"user_name": names[bomb.seat], "position": bomb.at, "placed_in": bomb.due - fuse + 1}
        for bomb in death.bombs
    ]
    killers = list(dict.fromkeys(bomb["user_name"] for bomb in bombs))
    return {
        "state_number": death.round + 1,
        "cause": death.fate.upper(),
        "killed_by": killers,
        "bombs": bombs,
    }


def _closing(plan: View) -> dict[str, Any] | None:
    """The tiles that turn into walls next, and the state after whose actions they do; None: none
    will.
    """
    return (
        None if plan["at"] is None else {"state_number": plan["at"] + 1, "positions": plan["next"]}
    )


def beginning(shape: Shape, time_left: Milliseconds, own: dict[str, Any]) -> bytes:
    """The part in front of an encoded state: the time left, and the values of the asking user."""
    return shape.spelled(own | {"time_left": time_left})[:-1] + b", "


def whereabouts(place: Place | None) -> dict[str, Any]:
    """The values for one user: whether it lives, and its place."""
    return {"alive": False} if place is None else {"user_position": place, "alive": True}


def beginning_for(place: Place | None, time_left: Milliseconds) -> bytes:
    """`beginning` in JSON for a user that stands there: this one is asked for so often that it is
    written out.
    """
    if place is None:
        return b'{"alive":false,"time_left":%d, ' % time_left
    return b'{"user_position":[%d,%d],"alive":true,"time_left":%d, ' % (*place, time_left)


class StateWriter:
    """Writes one state for all clients. The shared part is encoded once for each shape."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._shared: dict[Shape, bytes] = {}

    def told(
        self, shape: Shape, time_left: Milliseconds, seat: int | None, fields: dict[str, Any] | None
    ) -> tuple[bytes, bytes]:
        """Return the state for the user of a seat, or for anybody, in two parts;
        `fields` go first.
        """
        state, shared = self.state, self._shared.get(shape)
        if shared is None:
            shared = self._shared[shape] = state.spelled(shape)
        if seat is None or state.view is None:
            return beginning(shape, time_left, fields or {}), shared
        place = state.view["users"][seat]["at"]  # place(), without the call
        if not (fields or shape.python):
            return beginning_for(place, time_left), shared
        return beginning(shape, time_left, (fields or {}) | whereabouts(place)), shared
