"""Battlecube's conversation with an organiser: events of socket.io in, commands for the server and
ERROR events out.
"""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from botdrome.wire.conversation import Command, Outs
from botdrome.wire.cube.requests import (
    CubeSetup,
    Fault,
    NewGame,
    claim_in,
    game_id_in,
    new_game_in,
    update_in,
)
from botdrome.wire.cube.writer import CubeEvent
from botdrome.wire.framing.socketio import SocketIoConversation

GameId = str


class StartGame(Struct, Command, frozen=True):
    wanted: NewGame


class ChangeGame(Struct, Command, frozen=True):
    """Change a game from its next round on; None: all games of the organiser."""

    game_id: GameId | None
    setup: CubeSetup


class ControlGame(Struct, Command, frozen=True):
    """Stop, pause or resume a game; None: all games of the organiser."""

    action: Literal["stop", "pause", "resume"]
    game_id: GameId | None


class ReclaimGame(Struct, Command, frozen=True):
    """Become the organiser of a game by its key."""

    game_id: GameId
    key: str


class WatchGame(Struct, Command, frozen=True):
    """Send the events of a game, or stop sending them."""

    game_id: GameId
    watching: bool


class ListGames(Struct, Command, frozen=True):
    """Send the games that run."""


CubeCommand = StartGame | ChangeGame | ControlGame | ReclaimGame | WatchGame | ListGames

READERS: dict[str, Callable[[list[Any]], CubeCommand]] = {
    "NEW_GAME": lambda args: StartGame(new_game_in(args)),
    "GAME_SETUP_UPDATE": lambda args: ChangeGame(*update_in(args)),
    "STOP_GAME": lambda args: ControlGame("stop", game_id_in(args)),
    "PAUSE_GAME": lambda args: ControlGame("pause", game_id_in(args)),
    "RESUME_GAME": lambda args: ControlGame("resume", game_id_in(args)),
    "RECLAIM_GAME": lambda args: ReclaimGame(*claim_in(args)),
    "WATCH_GAME": lambda args: WatchGame(game_id_in(args) or "", True),
    "UNWATCH_GAME": lambda args: WatchGame(game_id_in(args) or "", False),
    "LIST_GAMES": lambda _: ListGames(),
}


def read_event(name: str, args: list[Any]) -> CubeCommand | None:
    """The command in an event, or Fault. Unknown events are ignored, as in the original."""
    reader = READERS.get(name)
    return None if reader is None else reader(args)


def error(problem: Fault) -> CubeEvent:
    return CubeEvent("ERROR", {"error": problem.kind, "details": problem.details})


class OrganiserConversation(SocketIoConversation):
    def on_event(self, name: str, args: list[Any]) -> Outs:
        try:
            command = read_event(name, args)
        except Fault as problem:
            return (error(problem).packet,)
        return () if command is None else (command,)
