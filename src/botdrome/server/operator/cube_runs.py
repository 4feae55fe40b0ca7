"""Cube runs: Battlecube games that the operator starts, one or many in a row, on the same path as any organiser's."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, Literal

from msgspec import Struct

from botdrome.server.cube.organiser import CubeOrganiser
from botdrome.server.network.traffic import Traffic
from botdrome.wire.cube.checks import Details

MOST_GAMES = 1000
KEPT = 20
"""Runs that are over and still listed."""
RunState = Literal["running", "paused", "done", "stopped", "failed"]


class BadRun(Exception):
    """A run that cannot be, or cannot be changed so; with the reason."""


class CubeScores(Struct, frozen=True):
    """How one game of a run ended."""

    match: str
    result: str
    winner: str | None
    scores: dict[str, int]


class CubeRun:
    """An organiser (see `server/cube/connection.py`) that starts the next game when the last one has ended."""

    unread = 0
    """It reads at once."""

    def __init__(self, organiser: CubeOrganiser, setup: dict[str, Any], players: list[dict[str, Any]], games: int) -> None:
        self.sid = secrets.token_hex(8)
        self.setup, self.players, self.games = setup, players, games
        self.traffic = Traffic()
        self.state: RunState = "running"
        self.match: str | None = None
        """The game that runs."""
        self.results: list[CubeScores] = []
        self.error = ""
        self.troubles: dict[str, str] = {}
        """Why players were put out: the last reason of each."""
        self._organiser = organiser
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        """All games are charged to the address of the operator."""
        self._gone = False
        self._begun: asyncio.Future[None] = self._loop.create_future()

    @property
    def over(self) -> bool:
        return self.state not in ("running", "paused")

    async def begin(self) -> None:
        """BadRun if the first game cannot be set up."""
        self._organiser.connected(self)
        self._start()
        await self._begun
        if self.error:
            raise BadRun(self.error)

    def _start(self) -> None:
        if not self.over:
            self._organiser.event(self, "NEW_GAME", [{"setup": self.setup, "players": self.players}])

    # What the operator does.

    def change(self, setup: dict[str, Any]) -> None:
        """For the game that runs, from its next round on, and for those that follow."""
        self._do("GAME_SETUP_UPDATE", {key: value for key, value in setup.items() if key != "playerStartPositions"})
        self.setup = self.setup | setup

    def pause(self) -> None:
        self._do("PAUSE_GAME", {})

    def resume(self) -> None:
        self._do("RESUME_GAME", {})

    def stop(self) -> None:
        if not self.over:
            self.state = "stopped"
            self._organiser.event(self, "STOP_GAME", [{}])
            self._settle()
            if self.match is None:
                self._leave()

    def _do(self, event: str, payload: dict[str, Any]) -> None:
        if self.over:
            raise BadRun(f"the run is {self.state}")
        if self.match is None:
            raise BadRun("the next game is about to start; try again")
        self.error = ""
        self._organiser.event(self, event, [payload | {"id": self.match}])
        words, self.error = self.error, ""
        if words:
            raise BadRun(words)

    # What the organiser's side tells.

    def when_read(self, tell: Callable[[], None]) -> None:
        tell()

    def emit(self, event: str, payload: Any) -> None:
        match event:
            case "GAME_STARTED":
                self.match = payload["id"]
                self._settle()
            case "PLAYER_LOST":
                if "details" in payload:
                    self.troubles[payload["name"]] = payload["details"]
            case "GAME_PAUSED":
                self.state = "paused"
            case "GAME_RESUMED":
                self.state = "running"
            case "GAME_ENDED":
                self._ended(payload)
            case "ERROR":
                self._failed(payload)

    def emit_all(self, events: Sequence[tuple[str, Any]]) -> None:
        for event, payload in events:
            self.emit(event, payload)

    def disconnect(self) -> None:
        self.stop()

    def _ended(self, end: dict[str, Any]) -> None:
        scores = {one["name"]: one["score"] for one in end["scores"]}
        winner = end["winner"]["name"] if "winner" in end else None
        self.results.append(CubeScores(end["id"], end["result"], winner, scores))
        self.match = None
        if self.over:
            self._loop.call_soon(self._leave)
        elif end["result"] == "STOPPED" or len(self.results) >= self.games:
            self._finish("stopped" if end["result"] == "STOPPED" else "done")
        else:
            self.state = "running"
            self._loop.call_soon(self._start, context=self._context)

    def _failed(self, problem: dict[str, Any]) -> None:
        """Where a game runs, it is the answer to what the operator just asked, unless the game itself is lost."""
        self.error = in_words(problem["details"])
        if self.match is None or problem["error"] == "GAME_LOST":
            self.match = None
            self._finish("failed")

    def _finish(self, state: RunState) -> None:
        self.state = state
        self._settle()
        self._loop.call_soon(self._leave)

    def _settle(self) -> None:
        if not self._begun.done():
            self._begun.set_result(None)

    def _leave(self) -> None:
        if not self._gone:
            self._gone = True
            self._organiser.gone(self)


class CubeRuns:
    """The newest last."""

    def __init__(self, organiser: CubeOrganiser) -> None:
        self._organiser = organiser
        self._runs: dict[str, CubeRun] = {}

    def __getitem__(self, run_id: str) -> CubeRun | None:
        return self._runs.get(run_id)

    @property
    def all(self) -> list[CubeRun]:
        return list(self._runs.values())

    async def start(self, setup: dict[str, Any], players: list[dict[str, Any]], games: int) -> CubeRun:
        if not players:
            raise BadRun("a game needs players")
        if not 1 <= games <= MOST_GAMES:
            raise BadRun(f"games is a number from 1 to {MOST_GAMES}, not {games}")
        run = CubeRun(self._organiser, setup, players, games)
        await run.begin()
        self._runs[run.sid] = run
        over = [run for run in self.all if run.over]
        for old in over[: max(0, len(over) - KEPT)]:
            del self._runs[old.sid]
        return run


def in_words(details: Details) -> str:
    """What is wrong, as a sentence."""
    return details if isinstance(details, str) else "; ".join(str(one["message"]) for one in details)
