"""States of a Bomberman room.

The part that all clients share is encoded once; the rest goes in front of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Raw, Struct

from botdrome.games.bomberman import CRATE, FREE, WALL, Bomberman, Death, Place, Rows, User
from botdrome.match.events import Result
from botdrome.match.terms import Milliseconds
from botdrome.wire.bomber.request import ENCODER, Shape

# The map of a Bomberman state, tile by tile, in every shape.
#
# From one state to the next most rows of the map stay what they were: rows of bare terrain are
# spelled once, and so are the tiles of the others, but for those where something is.

FIELD_TYPES = {FREE: "FREE", CRATE: "DESTRUCTIBLE", WALL: "INDESTRUCTIBLE"}
BRACKETS = {"dict": (b"{", b"}"), "list": (b"[", b"]"), "grid": (b"[", b"]")}

Tile = dict[str, Any]
Contents = tuple[Any, ...]
"""The field type of a tile, then its other keys, each with its value."""


def spelled_rows(position: Bomberman, names: tuple[str, ...], shape: Shape) -> list[bytes]:
    """The rows of `actual_state`; `names` are those of the seats."""
    tiles = position.tiles
    rows, changed = list(_bare_rows(tiles, shape)), dict[int, list[bytes]]()
    for place, contents in occupied(position, names).items():
        row, column = place
        pieces = changed.get(row)
        if pieces is None:
            pieces = changed[row] = _row(row, tiles[row], shape).copy()
        pieces[column] = _known_piece(place, contents, shape)
    for row, pieces in changed.items():
        rows[row] = _joined(pieces, shape)
    return rows


@lru_cache(maxsize=256)
def _bare_rows(tiles: Rows, shape: Shape) -> tuple[bytes, ...]:
    return tuple([_bare_row(row, kinds, shape) for row, kinds in enumerate(tiles)])


def _joined(pieces: list[bytes], shape: Shape) -> bytes:
    joined = b", ".join(filter(None, pieces) if shape.sparse else pieces)
    return b"[" + joined + b"]" if shape.state == "grid" else joined


def occupied(position: Bomberman, names: tuple[str, ...]) -> dict[Place, Contents]:
    """The tiles that are more than terrain.

    Danger goes first. The tile of a bomb also names the user on it.
    """
    now = position.round
    tiles: dict[Place, Contents] = {}
    for upgrade in position.found:
        tiles[upgrade.at] = "OCCUPIED_UPGRADE", "upgrade_type", upgrade.type
    for bomb in position.lying:
        left = bomb.due - now + 1
        tiles[bomb.at] = "OCCUPIED_BOMB", "bomb_turns_left", left, "bomb_range", bomb.range
    for place, name, user in zip(position.at, names, position.users, strict=True):
        if place is not None:
            below = tiles.get(place, ("OCCUPIED_USER",))
            tiles[place] = *below, "user_name", name, "bombs_left", user.bombs_left
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
def _known_piece(place: Place, contents: Contents, shape: Shape) -> bytes:
    """A cache, since users stand still or come back."""
    more = dict(zip(contents[1::2], contents[2::2], strict=True))
    return _piece(place, {"field_type": contents[0]} | more, shape)


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
    position: Bomberman | None = None
    """Once there is a map."""
    result: Result | None = None

    def place(self, seat: int) -> Place | None:
        """Where a seat's user stands; None: it is dead."""
        assert self.position is not None
        return self.position.at[seat]

    def spelled(self, shape: Shape) -> bytes:
        """All but the beginning, which is different for everyone who asks (see `beginning`)."""
        position, (opening, closing) = self.position, BRACKETS[shape.state]
        rows = [] if position is None else spelled_rows(position, self.names, shape)
        rows = list(filter(None, rows)) or [b""]
        rows[0] = shape.spelled("actual_state") + b": " + opening + rows[0]
        rows[-1] += closing + b", " + shape.spelled(self._facts(shape.python))[1:]
        return b", ".join(rows)

    def _facts(self, python: bool) -> dict[str, Any]:
        position = self.position
        facts = {
            "state_number": self.number,
            "map_size": self.size,
            "phase": self.phase,
            "game_id": self.game_id,
            "users": self._users(python),
            "explosions": () if position is None else position.burned,
        }
        if position is not None:
            facts["closing"] = _closing(*position.next_closing)
        if self.phase == FINISHED:
            facts |= self._outcome()
        return facts

    def _users(self, python: bool) -> list[Any]:
        names, position = self.names, self.position
        if position is None:
            return [{"user_name": name} for name in names]
        return [
            _known_user(seat, place, user, names, position.fuse, python)
            for seat, (place, user) in enumerate(zip(position.at, position.users, strict=True))
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


@lru_cache(maxsize=4096)
def _known_user(
    seat: int, place: Place | None, user: User, names: tuple[str, ...], fuse: int, python: bool
) -> dict[str, Any] | Raw:
    """What everybody is told of a user, as JSON unless it is for Python. A cache, as above."""
    told = {
        "user_name": names[seat],
        "alive": place is not None,
        "position": place,
        "bombs_left": user.bombs_left,
        "bomb_range": user.range,
        "kills": user.kills,
        "tiles": user.crates,
        "upgrades": user.upgrades,
    }
    if user.death is not None:
        told["death"] = told_death(user.death, names, fuse)
    return told if python else Raw(ENCODER.encode(told))


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


def _closing(end: int | None, places: tuple[Place, ...]) -> dict[str, Any] | None:
    """The tiles that turn into walls next, and the state after whose actions they do; None: none
    will.
    """
    return None if end is None else {"state_number": end + 1, "positions": places}


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
        self,
        shape: Shape,
        time_left: Milliseconds,
        seat: int | None,
        fields: dict[str, Any] | None = None,
    ) -> tuple[bytes, bytes]:
        """Return the state for the user of a seat, or for anybody, in two parts;
        `fields` go first.
        """
        state, shared = self.state, self._shared.get(shape)
        if shared is None:
            shared = self._shared[shape] = state.spelled(shape)
        if seat is None or state.position is None:
            return beginning(shape, time_left, fields or {}), shared
        place = state.position.at[seat]  # place(), without the call
        if not (fields or shape.python):
            return beginning_for(place, time_left), shared
        return beginning(shape, time_left, (fields or {}) | whereabouts(place)), shared
