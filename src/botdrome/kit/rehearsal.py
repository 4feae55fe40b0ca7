"""A rehearsal: real server, real protocols, synthetic bots, faults, and kills of the server in
between.
"""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from botdrome.client.rest import RestServer, ServerProblem, segment
from botdrome.contest.document import ContestDocument, EntryRules
from botdrome.kit.synthetic_bots import (
    BoatsBot,
    BomberBot,
    BotFaults,
    DuelBot,
    FaultRates,
    FileBot,
    HttpBot,
    NativeBot,
    Registered,
    SyntheticBot,
    keep_playing,
)

# ServerProcess: a real server in a process of its own, which can be killed and started again at
# the same ports.

START = 60.0
"""Seconds in which a server starts."""


class ServerUsage(Struct):
    """What the server's processes have used so far."""

    cpu_seconds: float = 0.0
    peak_megabytes: float = 0.0


class ServerProcess:
    def __init__(self, folder: Path, flags: Sequence[str] = ()) -> None:
        port, duel, boats = free_ports(3)
        self.ports = {"http": port, "duel": duel, "xbs": boats}
        self.token = secrets.token_hex(16)
        self.usage = ServerUsage()
        self.rest = RestServer(f"http://127.0.0.1:{port}")
        self._log = folder / "server.log"
        self._command = [
            sys.executable, "-m", "botdrome", "serve", "--port", str(port), "--duel-port",
            str(duel), "--boats-port", str(boats), "--cube-port", "0", "--db",
            f"sqlite:///{folder / 'rehearsal.db'}", "--operator-token", self.token, "--log-level",
            "warning", *flags,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers. Raise ServerProblem if it does not start."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        deadline = monotonic() + START
        while monotonic() < deadline:
            if self._process.poll() is not None:
                raise ServerProblem(f"the server has ended: {self._log.read_text()[-500:]}")
            try:
                self.rest.get("server")
                return
            except ServerProblem:
                sleep(0.05)
        raise ServerProblem(f"the server does not answer within {START:g} s")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server, and add up what it used."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.usage.cpu_seconds += used.ru_utime + used.ru_stime
        self.usage.peak_megabytes = max(self.usage.peak_megabytes, used.ru_maxrss / 1024)


def free_ports(count: int) -> list[int]:
    """Return ports in TIME_WAIT: the system chooses them for no other process."""
    with ExitStack() as stack:
        doors = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        for door in doors:
            with socket.create_connection(door.getsockname()) as caller:
                door.accept()[0].close()
                caller.recv(1)
        return [int(door.getsockname()[1]) for door in doors]


PROTOCOLS: dict[str, Callable[[int], SyntheticBot]] = {
    "native": NativeBot, "url": HttpBot, "duel arena": DuelBot, "boats": BoatsBot,
    "bomberman": BomberBot,
}  # fmt: skip
OF_GAME = {
    "noughts-and-crosses": ("native", "url"),
    "bumblebots": ("native",),
    "gomoku": ("native", "duel arena", "url"),
    "battleship": ("native", "boats", "url"),
    "battlecube": ("native", "url"),
    "bomberman": ("native", "bomberman"),
}
"""The protocols over which bots play each game; the bots of a rehearsal take them in turn."""
LOOK = 0.25
"""Seconds between two looks at the progress."""


class RehearsalPlan(Struct, frozen=True):
    documents: tuple[ContestDocument, ...]
    bots: int
    """Synthetic bots in each contest."""
    rates: FaultRates = FaultRates()
    kills: int = 0
    """How often the server is killed, spread over the rehearsal."""
    seed: int = 1
    most_seconds: float = 3600.0
    files: tuple[str, ...] = ()
    """Bots as for `botdrome join`, which take part in the first contest."""


class ContestOutcome(Struct):
    name: str
    state: str
    played: int
    expected: int
    matches: int
    """Results with a match of their own."""
    no_shows: int
    crashes: int
    repeated: list[str]
    """Matches that count for two fixtures: there must be none."""


class RehearsalReport(Struct):
    seconds: float
    cpu_seconds: float
    peak_megabytes: float
    kills: int
    faults: dict[str, int]
    """Faults of the synthetic bots, by kind."""
    contests: list[ContestOutcome] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(one.state == "over" and not one.repeated for one in self.contests)


Tell = Callable[[int, int], None]
"""Gets the matches played and expected in all contests."""


async def rehearse(plan: RehearsalPlan, tell: Tell) -> RehearsalReport:
    """Raise ServerProblem if the server does not start or refuses a document."""
    with TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), _flags(plan))
        try:
            return await Rehearsal(plan, server, tell).run()
        finally:
            server.end(signal.SIGKILL)


def _flags(plan: RehearsalPlan) -> list[str]:
    """Return settings that give the players of rooms the rules of their contests."""
    rooms = [
        ",".join(
            [
                f"{one.name}:players={one.seats},least={one.seats},rest=0",
                *(f"{key}={value}" for key, value in one.options.items()),
            ]
        )
        for one in plan.documents
        if one.game == "bomberman"
    ]
    return ["--bomber-rooms", " ".join(rooms)] if rooms else []


class Rehearsal:
    def __init__(self, plan: RehearsalPlan, server: ServerProcess, tell: Tell) -> None:
        self._plan, self._server, self._tell = plan, server, tell
        self._random, self._faults = Random(plan.seed), Counter[str]()
        self._kills = 0
        self.contests: list[dict[str, Any]] = []

    async def run(self) -> RehearsalReport:
        began, server = monotonic(), self._server
        await asyncio.to_thread(server.start)
        bots = [
            bot
            for document in self._plan.documents
            for bot in await asyncio.to_thread(self._prepare, document)
        ]
        playing = [asyncio.create_task(keep_playing(*bot)) for bot in bots]
        try:
            await self._watch(began + self._plan.most_seconds)
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
            await asyncio.to_thread(server.end)
        used = server.usage
        outcomes = [_outcome(one) for one in self.contests]
        return RehearsalReport(
            monotonic() - began,
            used.cpu_seconds,
            used.peak_megabytes,
            self._kills,
            dict(self._faults),
            outcomes,
        )

    def _prepare(
        self, document: ContestDocument
    ) -> list[tuple[SyntheticBot, Registered, BotFaults]]:
        """Create and start a contest with synthetic bots as its entrants."""
        rest, token, name = self._server.rest, self._server.token, segment(document.name)
        open_to_all = replace(
            document, entry=EntryRules(late=document.entry.late), start=None, end=None
        )
        rest.get("operator/contests", token, {"document": msgspec.to_builtins(open_to_all)})
        rest.get(f"operator/contest-actions/{name}", token, {"action": "open"})
        kinds, plan = OF_GAME[document.game], self._plan
        visitors: list[SyntheticBot] = [
            PROTOCOLS[kinds[number % len(kinds)]](number) for number in range(plan.bots)
        ]
        if document is plan.documents[0]:
            visitors += [FileBot(file) for file in plan.files]
        bots = [
            (visitor, *self._register(document, number))
            for number, visitor in enumerate(visitors, 1)
        ]
        rest.get(f"operator/contest-actions/{name}", token, {"action": "start"})
        return bots

    def _register(self, document: ContestDocument, number: int) -> tuple[Registered, BotFaults]:
        rest, game = self._server.rest, document.game
        # boat games allow few characters
        name = f"bot {self._plan.documents.index(document) + 1}.{number}"
        token = rest.register(game, name, "rehearsal")
        rest.get(f"contests/{segment(game)}/{segment(document.name)}", token, {"bot": name})
        bot = Registered(rest.url, self._server.ports, game, document.name, name, token)
        seed = self._random.randrange(1 << 30)
        return bot, BotFaults(self._plan.rates, Random(seed), self._faults)

    async def _watch(self, deadline: float) -> None:
        """Wait until all contests are over, and kill the server on the way; the kills that are left
        follow at the end.
        """
        while monotonic() < deadline:
            with suppress(ServerProblem):
                self.contests = [
                    await asyncio.to_thread(self._read, one.name) for one in self._plan.documents
                ]
                played, expected = (
                    sum(one[key] for one in self.contests) for key in ("played", "expected")
                )
                self._tell(played, expected)
                over = all(one["state"] == "over" for one in self.contests)
                if self._kills < self._plan.kills and (
                    over or played * (self._plan.kills + 1) > expected * (self._kills + 1)
                ):
                    await self._kill()
                elif over:
                    return
            await asyncio.sleep(LOOK)

    async def _kill(self) -> None:
        self._kills += 1
        await asyncio.to_thread(self._server.end, signal.SIGKILL)
        await asyncio.to_thread(self._server.start)

    def _read(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._server.rest.get(f"contest-documents/{segment(name)}")
        return found


def _outcome(contest: dict[str, Any]) -> ContestOutcome:
    results = [
        one["result"] for round_ in contest["rounds"] for one in round_["fixtures"] if one["result"]
    ]
    matches = Counter(result["match"] for result in results if result.get("match"))
    standings = contest["standings"]
    return ContestOutcome(
        contest["name"], contest["state"], contest["played"], contest["expected"], matches.total(),
        sum(one["noShows"] for one in standings), sum(one["crashes"] for one in standings),
        [match for match, times in matches.items() if times > 1],
    )  # fmt: skip
