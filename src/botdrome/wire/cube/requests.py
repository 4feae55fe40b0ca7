"""Battlecube's organisers: what they ask for, read and checked as the original does, and what can be said to them in return."""

from typing import Any

from msgspec import Struct

from botdrome.games.battlecube import NO_STARTS, TOO_MANY, Battlecube
from botdrome.games.battlecube_answer import Cell
from botdrome.match.terms import Milliseconds, Pace, Terms
from botdrome.wire.cube.checks import MISSING, Fault, fault, listing, mapping, text, uri, whole
from botdrome.wire.cube.events import Told, ended, final
from botdrome.wire.cube.scene import CubeScene

NOT_UNIQUE = "All player names must be unique"
SAME_START = "Two players have the same start position"
MOST_EDGE, MOST_TICKS, MOST_TASKS = 1000, 1_000_000, 1000
MOST_PLAYERS = Battlecube.players[-1]
SLOWEST = 60_000
"""Milliseconds between two ticks."""
LONGEST_NAME, LONGEST_URL, LONGEST_ID = 64, 2048, 64

_CELL = {axis: whole(0, MOST_EDGE) for axis in "xyz"}
_NEEDED = {
    "maxNumOfTicks": whole(1, MOST_TICKS),
    "edgeLength": whole(1, MOST_EDGE),
}
_SPEED = {"speed": whole(0, SLOWEST)}
_TASKS = {"numOfTasksPerTick": whole(1, MOST_TASKS)}
_STARTS = {"playerStartPositions": listing(mapping({"name": text(LONGEST_NAME)} | _CELL, {}), MOST_PLAYERS)}
_PLAYER = mapping({"name": text(LONGEST_NAME), "url": uri(LONGEST_URL)}, {"token": text(LONGEST_URL)})
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
    """Where the name is that of a registered bot."""


class CubeSetup(Struct, frozen=True):
    ticks: int
    edge: int
    tasks: int
    speed: int = 0
    """Milliseconds of rest after each tick."""
    starts: tuple[tuple[str, Cell], ...] | None = None
    """None: drawn by lot."""

    @property
    def options(self) -> dict[str, int]:
        """Those of the game that may change while it runs."""
        return {"edge": self.edge, "ticks": self.ticks, "tasks": self.tasks}

    @property
    def game(self) -> Battlecube:
        return Battlecube(self.edge, self.ticks, self.tasks, tuple(cell for _, cell in self.starts or ()))

    @property
    def pause(self) -> Milliseconds:
        """Ticks that are planned ahead wait for nobody: others at the server get their turn between them."""
        return self.speed or int(self.tasks > 1)

    def terms(self, limit: Milliseconds) -> Terms:
        """`limit` is what a bot has for its whole answer."""
        return Terms(Pace(limit, pause=self.pause), strikes=1)


class NewGame(Struct, frozen=True):
    setup: CubeSetup
    players: tuple[CubePlayer, ...]
    """By their seats: in the order of the start positions where these are given."""


def new_game_in(args: list[Any]) -> NewGame:
    """The game that NEW_GAME asks for, or Fault."""
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
    """The game that GAME_SETUP_UPDATE is about (None: all of the sender's) and what it is to be like, or Fault."""
    read = _UPDATE(_first(args), ())
    return read.get("id"), _setup(read)


def game_id_in(args: list[Any]) -> str | None:
    """The game that one of our own events is about; None: none is named. Or Fault. An id alone will do."""
    given = args[0] if args and args[0] is not None else {}
    found: str | None = _ONE_GAME({"id": given} if isinstance(given, str) else given, ()).get("id")
    return found


def claim_in(args: list[Any]) -> tuple[str, str]:
    """The game that RECLAIM_GAME is about, and the key to it; or Fault."""
    read = _CLAIM(_first(args), ())
    return read["id"], read["key"]


def nobody(game_id: str, setup: CubeSetup) -> list[Told]:
    """The whole game of no players: one tick, and a tie."""
    game, scene = setup.game, CubeScene(game_id, ())
    return [
        ("GAME_STARTED", {"id": game_id}),
        ("NEXT_TICK", scene.state(game)),
        ("GAME_ENDED", ended(final(scene.view(game), stopped=False), scene, ())),
    ]


def error(problem: Fault) -> dict[str, Any]:
    """The payload of ERROR."""
    return {"error": problem.kind, "details": problem.details}
