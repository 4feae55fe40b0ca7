"""Runs of Battlecube games that the operator starts, one after another, in the same way as any
organiser.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, Literal

from msgspec import Struct

from botdrome.server.network.connection import Traffic
from botdrome.server.rooms.cube import Organisers
from botdrome.wire.cube import CubeEvent, Details, Fault, error, read_event

MOST_GAMES = 1000
KEPT = 20
"""Finished runs that are still listed."""
RunState = Literal["running", "paused", "done", "stopped", "failed"]


class BadRun(Exception):
    """A run cannot be started like this; the text says why."""


class CannotChange(Exception):
    """A run or a room cannot be changed like this at present; the text says why."""


class CubeScores(Struct, frozen=True):
    """The result of one game of a run."""

    match: str
    result: str
    winner: str | None
    scores: dict[str, int]


class CubeRun:
    """An organiser that starts the next game when the last one has ended."""

    unread = 0
    """It reads at once."""

    def __init__(
        self, host: Organisers, setup: dict[str, Any], players: list[dict[str, Any]], games: int
    ) -> None:
        self.sid = secrets.token_hex(8)
        self.setup, self.players, self.games = setup, players, games
        self.traffic = Traffic()
        self.state: RunState = "running"
        self.match: str | None = None
        """The id of the game that runs."""
        self.results: list[CubeScores] = []
        self.error = ""
        self.troubles: dict[str, str] = {}
        """Why players were put out: the last reason for each."""
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        """All games count for the address of the operator."""
        self._gone = False
        self._begun: asyncio.Future[None] = self._loop.create_future()

    @property
    def over(self) -> bool:
        return self.state not in ("running", "paused")

    async def begin(self) -> None:
        """BadRun if the first game cannot be set up."""
        self._host.join(self, self.sid)
        self._start()
        await self._begun
        if self.error:
            raise BadRun(self.error)

    def _start(self) -> None:
        if not self.over:
            self._send("NEW_GAME", {"setup": self.setup, "players": self.players})

    def _send(self, event: str, payload: dict[str, Any]) -> None:
        try:
            command = read_event(event, [payload])
        except Fault as problem:
            self.emit([error(problem)])
        else:
            assert command is not None
            self._host.execute(self, command)

    # Actions of the operator.

    def change(self, setup: dict[str, Any]) -> None:
        """For the game that runs, from its next round on, and for those that follow."""
        self._do(
            "GAME_SETUP_UPDATE",
            {key: value for key, value in setup.items() if key != "playerStartPositions"},
        )
        self.setup = self.setup | setup

    def pause(self) -> None:
        self._do("PAUSE_GAME", {})

    def resume(self) -> None:
        self._do("RESUME_GAME", {})

    def stop(self) -> None:
        if not self.over:
            self.state = "stopped"
            self._send("STOP_GAME", {})
            self._settle()
            if self.match is None:
                self._leave()

    def _do(self, event: str, payload: dict[str, Any]) -> None:
        if self.over:
            raise CannotChange(f"the run is {self.state}")
        if self.match is None:
            raise CannotChange("the next game is about to start; try again")
        self.error = ""
        self._send(event, payload | {"id": self.match})
        words, self.error = self.error, ""
        if words:
            raise CannotChange(words)

    # Events of the host.

    def when_read(self, tell: Callable[[], None]) -> None:
        tell()

    def emit(self, events: Sequence[CubeEvent]) -> int:
        for event in events:
            self._receive(event.name, event.payload)
        return self.unread

    def _receive(self, event: str, payload: dict[str, Any]) -> None:
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
        """While a game runs, this is the answer to the operator's last request, unless the game
        itself is lost.
        """
        self.error = as_text(problem["details"])
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
            self._host.leave(self)


class CubeRuns:
    """All runs, the newest last."""

    def __init__(self, host: Organisers) -> None:
        self._host = host
        self._runs: dict[str, CubeRun] = {}

    def __getitem__(self, run_id: str) -> CubeRun | None:
        return self._runs.get(run_id)

    @property
    def all(self) -> list[CubeRun]:
        return list(self._runs.values())

    async def start(
        self, setup: dict[str, Any], players: list[dict[str, Any]], games: int
    ) -> CubeRun:
        if not players:
            raise BadRun("a game needs players")
        if not 1 <= games <= MOST_GAMES:
            raise BadRun(f"games is a number from 1 to {MOST_GAMES}, not {games}")
        run = CubeRun(self._host, setup, players, games)
        await run.begin()
        self._runs[run.sid] = run
        over = [run for run in self.all if run.over]
        for old in over[: max(0, len(over) - KEPT)]:
            del self._runs[old.sid]
        return run


def as_text(details: Details) -> str:
    """The error as text."""
    return (
        details if isinstance(details, str) else "; ".join(str(one["message"]) for one in details)
    )
