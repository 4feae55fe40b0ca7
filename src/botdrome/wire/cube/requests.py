"""The requests of Battlecube's organisers, checked in the order and with the messages of the
original.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.battlecube import A_NUMBER, NO_STARTS, TOO_MANY, Battlecube, Cell
from botdrome.games.reading import bounded, shown
from botdrome.match.terms import Milliseconds, Pace, Terms
from botdrome.wire.conversation import LONGEST_VERSION

# Checks for the messages of Battlecube's organisers, with the error messages of the original. The
# first fault is reported.

Path = tuple[str | int, ...]
"""The keys that lead to a value."""
Check = Callable[[Any, Path], Any]
"""From a value and its path to the value in its type, or Fault."""
Details = str | list[dict[str, Any]]

INVALID = "INVALID_GAME_CONFIGURATION"
MISSING = object()
LONGEST_ECHO = 400
"""Bytes of a faulty value that are sent back."""
URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
)
OURS = re.compile(r"(house|bot|connect):.+", re.DOTALL)
"""Players that are not called by a URL: a name follows."""


class Fault(Exception):
    """The error in an ERROR event."""

    def __init__(self, details: Details, kind: str = INVALID) -> None:
        super().__init__(details)
        self.details, self.kind = details, kind


def fault(path: Path, words: str, kind: str, **context: Any) -> Fault:
    """One element of the original's list of errors."""
    label = path[-1] if path else "value"
    where = {"key": label, "label": label} if path else {"label": label}
    return Fault(
        [
            {
                "message": f'"{label}" {words}',
                "path": list(path),
                "type": kind,
                "context": context | where,
            }
        ]
    )


def echoed(value: Any) -> Any:
    """A value to send back: itself if it is short and can be encoded, else its beginning."""
    try:
        return value if len(msgspec.json.encode(value)) <= LONGEST_ECHO else shown(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return "a value that cannot be shown"


# Single values.


def whole(least: int, most: int) -> Check:
    """An integer, also as text.

    The original reports every number that is too small as not positive.
    """

    def check(value: Any, path: Path) -> int:
        number = _number(value)
        if number is None:
            raise fault(path, "must be a number", "number.base")
        if number != math.floor(number):
            raise fault(path, "must be an integer", "number.integer", value=number)
        if number < least:
            raise fault(path, "must be a positive number", "number.positive", value=number)
        if number > most:
            raise fault(
                path,
                f"must be less than or equal to {most}",
                "number.max",
                limit=most,
                value=number,
            )
        return int(number)

    return check


def _number(value: Any) -> float | None:
    if isinstance(value, str) and A_NUMBER.fullmatch(value):
        value = float(value)
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None


def text(most: int) -> Check:
    def check(value: Any, path: Path) -> str:
        if not isinstance(value, str) or not _is_unicode(value):
            raise fault(path, "must be a string", "string.base", value=echoed(value))
        if not value:
            raise fault(path, "is not allowed to be empty", "any.empty")
        if len(value) > most:
            words = f"length must be less than or equal to {most} characters long"
            raise fault(path, words, "string.max", limit=most, value=echoed(value))
        return value

    return check


def _is_unicode(value: str) -> bool:
    """A lone surrogate can be neither stored nor sent."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def uri(most: int) -> Check:
    """Any absolute one, of any scheme."""
    plain = text(most)

    def check(value: Any, path: Path) -> str:
        url: str = plain(value, path)
        if not URI.fullmatch(url) and not OURS.fullmatch(url):
            raise fault(path, "must be a valid uri", "string.uri", value=echoed(url))
        return url

    return check


# Values made of others.


def unpacked(value: Any) -> Any:
    """JSON inside a text counts as what it holds."""
    if isinstance(value, str):
        try:
            return msgspec.json.decode(bounded(value.encode()))
        except (ValueError, RecursionError):
            return value
    return value


def listing(item: Check, most: int) -> Check:
    def check(value: Any, path: Path) -> list[Any]:
        items = unpacked(value)
        if not isinstance(items, list):
            raise fault(path, "must be an array", "array.base")
        if len(items) > most:
            raise fault(
                path, f"must contain less than or equal to {most} items", "array.max", limit=most
            )
        return [item(element, (*path, at)) for at, element in enumerate(items)]

    return check


def mapping(needed: Mapping[str, Check], allowed: Mapping[str, Check]) -> Check:
    """An object with all keys of the one kind and perhaps those of the other, in the order of the
    checks, and no more.
    """

    def check(value: Any, path: Path) -> dict[str, Any]:
        given = unpacked(value)
        if value is MISSING:
            raise fault(path, "is required", "any.required")
        if not isinstance(given, dict):
            raise fault(path, "must be an object", "object.base")
        read: dict[str, Any] = {}
        for key, inner in needed.items():
            if key not in given:
                raise fault((*path, key), "is required", "any.required")
            read[key] = inner(given[key], (*path, key))
        read |= {
            key: inner(given[key], (*path, key)) for key, inner in allowed.items() if key in given
        }
        for key in given:
            if key not in read:
                raise fault(
                    (*path, echoed(key)), "is not allowed", "object.allowUnknown", child=echoed(key)
                )
        return read

    return check


NOT_UNIQUE = "All player names must be unique"
SAME_START = "Two players have the same start position"
MOST_EDGE, MOST_TICKS, MOST_TASKS = 1000, 1_000_000, 1000
MOST_PLAYERS = Battlecube.players[-1]
SLOWEST = 60_000
"""Milliseconds between two ticks."""
LONGEST_NAME, LONGEST_URL, LONGEST_ID = 64, 2048, 64


def _version(value: Any, path: Path) -> str:
    version: str = text(LONGEST_VERSION)(value, path)
    if not version.isprintable():
        raise fault(
            path, "must have printable characters only", "string.base", value=echoed(version)
        )
    return version


_CELL = {axis: whole(0, MOST_EDGE) for axis in "xyz"}
_NEEDED = {
    "maxNumOfTicks": whole(1, MOST_TICKS),
    "edgeLength": whole(1, MOST_EDGE),
}
_SPEED = {"speed": whole(0, SLOWEST)}
_TASKS = {"numOfTasksPerTick": whole(1, MOST_TASKS)}
_STARTS = {
    "playerStartPositions": listing(mapping({"name": text(LONGEST_NAME)} | _CELL, {}), MOST_PLAYERS)
}
_PLAYER = mapping(
    {"name": text(LONGEST_NAME), "url": uri(LONGEST_URL)},
    {"token": text(LONGEST_URL), "version": _version},
)
_ID = {"id": text(LONGEST_ID)}
_SETUP = mapping(_NEEDED | _TASKS, _SPEED | _STARTS)
_UPDATE = mapping(_NEEDED | _TASKS, _SPEED | _STARTS | _ID)
_NEW_GAME = mapping({"setup": _SETUP, "players": listing(_PLAYER, MOST_PLAYERS)}, {})
_ONE_GAME = mapping({}, _ID)
_CLAIM = mapping(_ID | {"key": text(LONGEST_ID)}, {})


class CubePlayer(Struct, frozen=True):
    name: str
    url: str
    token: str | None = None
    """The bot's token, if the name is that of a registered bot."""
    version: str = ""


class CubeSetup(Struct, frozen=True):
    ticks: int
    edge: int
    tasks: int
    speed: int = 0
    """Milliseconds of pause after each tick."""
    starts: tuple[tuple[str, Cell], ...] | None = None
    """None: random."""

    @property
    def options(self) -> dict[str, int]:
        """The options that may change while the game runs."""
        return {"edge": self.edge, "ticks": self.ticks, "tasks": self.tasks}

    @property
    def game(self) -> Battlecube:
        return Battlecube(
            self.edge, self.ticks, self.tasks, tuple(cell for _, cell in self.starts or ())
        )

    @property
    def pause(self) -> Milliseconds:
        """At least 1 ms where several ticks need one answer, so that other games get their turn
        between them.
        """
        return self.speed or int(self.tasks > 1)

    def terms(self, limit: Milliseconds) -> Terms:
        """`limit` is the time limit of a call."""
        return Terms(Pace(limit, pause=self.pause), strikes=1)


class NewGame(Struct, frozen=True):
    setup: CubeSetup
    players: tuple[CubePlayer, ...]
    """In the order of their seats: that of the start positions, if these are given."""


def new_game_in(args: list[Any]) -> NewGame:
    """Read NEW_GAME, or raise Fault."""
    read = _NEW_GAME(_first(args), ())
    setup = _setup(read["setup"])
    players = {player["name"]: CubePlayer(**player) for player in read["players"]}
    if len(players) != len(read["players"]):
        raise Fault(NOT_UNIQUE)
    if setup.starts is not None:
        names = [name for name, _ in setup.starts]
        if len(names) != len(players) or set(names) != set(players):
            raise Fault(NO_STARTS)
        players = {name: players[name] for name in names}
    if len(players) > setup.edge**3:
        raise Fault(TOO_MANY)
    _check_cells(setup)
    return NewGame(setup, tuple(players.values()))


def _first(args: list[Any]) -> Any:
    return args[0] if args else MISSING


def _setup(read: dict[str, Any]) -> CubeSetup:
    starts = read.get("playerStartPositions")
    return CubeSetup(
        read["maxNumOfTicks"],
        read["edgeLength"],
        read["numOfTasksPerTick"],
        read.get("speed", 0),
        None
        if starts is None
        else tuple((start["name"], (start["x"], start["y"], start["z"])) for start in starts),
    )


def _check_cells(setup: CubeSetup) -> None:
    seen: set[Cell] = set()
    for at, (_, cell) in enumerate(setup.starts or ()):
        for axis, value in zip("xyz", cell, strict=True):
            if value >= setup.edge:
                path = ("setup", "playerStartPositions", at, axis)
                raise fault(
                    path,
                    f"must be less than {setup.edge}",
                    "number.less",
                    limit=setup.edge,
                    value=value,
                )
        if cell in seen:
            raise Fault(SAME_START)
        seen.add(cell)


def update_in(args: list[Any]) -> tuple[str | None, CubeSetup]:
    """Read GAME_SETUP_UPDATE: the id of the game (None: all games of the sender) and
    its new setup.
    """
    read = _UPDATE(_first(args), ())
    return read.get("id"), _setup(read)


def game_id_in(args: list[Any]) -> str | None:
    """The game id in an event: in an object, or alone; None: no id."""
    given = args[0] if args and args[0] is not None else {}
    found: str | None = _ONE_GAME({"id": given} if isinstance(given, str) else given, ()).get("id")
    return found


def claim_in(args: list[Any]) -> tuple[str, str]:
    """Read RECLAIM_GAME: the id of the game and its key."""
    read = _CLAIM(_first(args), ())
    return read["id"], read["key"]
