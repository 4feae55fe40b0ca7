"""The requests of Battlecube's organisers, checked in the order and with the messages of the original."""

from typing import Any

from msgspec import Struct

from botdrome.games.battlecube import NO_STARTS, TOO_MANY, Battlecube, Cell
from botdrome.match.terms import Milliseconds, Pace, Terms
from botdrome.wire.cube.checks import MISSING, Fault, Path, echoed, fault, listing, mapping, text, uri, whole
from botdrome.wire.versions import LONGEST_VERSION

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
        raise fault(path, "must have printable characters only", "string.base", value=echoed(version))
    return version


_CELL = {axis: whole(0, MOST_EDGE) for axis in "xyz"}
_NEEDED = {
    "maxNumOfTicks": whole(1, MOST_TICKS),
    "edgeLength": whole(1, MOST_EDGE),
}
_SPEED = {"speed": whole(0, SLOWEST)}
_TASKS = {"numOfTasksPerTick": whole(1, MOST_TASKS)}
_STARTS = {"playerStartPositions": listing(mapping({"name": text(LONGEST_NAME)} | _CELL, {}), MOST_PLAYERS)}
_PLAYER = mapping({"name": text(LONGEST_NAME), "url": uri(LONGEST_URL)}, {"token": text(LONGEST_URL), "version": _version})
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
        return Battlecube(self.edge, self.ticks, self.tasks, tuple(cell for _, cell in self.starts or ()))

    @property
    def pause(self) -> Milliseconds:
        """At least 1 ms where several ticks need one answer, so that other games get their turn between them."""
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
        None if starts is None else tuple((start["name"], (start["x"], start["y"], start["z"])) for start in starts),
    )


def _check_cells(setup: CubeSetup) -> None:
    seen: set[Cell] = set()
    for at, (_, cell) in enumerate(setup.starts or ()):
        for axis, value in zip("xyz", cell, strict=True):
            if value >= setup.edge:
                path = ("setup", "playerStartPositions", at, axis)
                raise fault(path, f"must be less than {setup.edge}", "number.less", limit=setup.edge, value=value)
        if cell in seen:
            raise Fault(SAME_START)
        seen.add(cell)


def update_in(args: list[Any]) -> tuple[str | None, CubeSetup]:
    """Read GAME_SETUP_UPDATE: the id of the game (None: all games of the sender) and its new setup."""
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
