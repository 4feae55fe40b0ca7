"""The runner: checks uploaded bots, and plays them on a server, each in the sandbox.

A hosted bot is a client of `botdrome join` in this process, and the bot's own process in the
sandbox, which starts with its first match and ends when the bot has been idle for a while. The
client has the credential of the lease; the bot sees neither it nor the network.
"""

import asyncio
import hashlib
import json
import os
import shutil
from base64 import b64decode
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any, TypeVar

import msgspec
import structlog

from botdrome.catalogue import CATALOGUE
from botdrome.client.guard import delegated
from botdrome.client.join import Join, JoinWish, KeepsFailing, RemotePlayer, Unwelcome
from botdrome.client.program import CannotStart
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.kit.check import Checker, CheckPlan, Kind
from botdrome.offline.build import UNFINISHED, BuildFailed, build
from botdrome.offline.isolation import Isolation, close_idle
from botdrome.offline.project import project_options
from botdrome.offline.remote_player import remote_player
from botdrome.offline.seats import check_bot, prefix_of
from botdrome.offline.speed import class_of, measured_speed
from botdrome.wire.upload import Lease, RunnerMachine, RunnerNews

log = structlog.get_logger()
T = TypeVar("T")

POSITIONS, MATCHES = 40, 2
"""Of a check, before a match of the bot against itself."""
CHECKING = 300.0
"""Seconds for a check without its build; the current match may end later."""
HARMLESS: tuple[Kind, ...] = ("nondeterminism", "memory growth")
"""Findings of a check that do not reject a version."""
PAUSES = (0.5, 1.0, 2.0, 5.0)
"""Seconds before each attempt to reconnect."""
RETRY = 1.0
"""Seconds before the next beat if the server cannot be reached."""
BEAT = 5.0
"""Seconds until a beat without an answer is repeated: leases end after 10 s."""
LATER = 10.0
"""Seconds before the next try of what failed here or on the server, not in the bot."""
IDLE = 30.0
"""Seconds until the process of an idle bot ends."""
KEPT_TEXT = 32 << 10
"""Bytes of a log, a report or a reason as JSON."""
KEPT_BUILDS = 200
TOOLS = {
    "python": "python3", "javascript": "node", "java": "javac", "go": "go", "rust": "cargo",
    "c++": "g++",
}  # fmt: skip
"""The program that shows that this machine can build and run a language."""
UNAUTHORISED, NOT_FOUND = 401, 404


class Work:
    """A lease and the task that works on it."""

    join: Join | None = None
    bot: "HostedBot | None" = None

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.task: asyncio.Task[None]

    def end_after_match(self) -> None:
        """Give the lease back when the current match is over; at once if there is none."""
        if self.join is None or not self.join.playing:
            self.end()
        else:
            self.join.stop_after_match()

    def end(self) -> None:
        """Cancel it once: its last steps are not interrupted."""
        if not self.task.cancelling():
            self.task.cancel()


class Runner:
    def __init__(
        self, rest: RestServer, token: str, folder: Path, isolation: Isolation, most: int,
        machine: RunnerMachine,
    ) -> None:  # fmt: skip
        """`folder` keeps builds; `most` is the number of bots that may wait or play."""
        self._rest, self._token, self._folder = rest, token, folder
        self._beats = RestServer(rest.url, BEAT)
        self._isolation, self._most = isolation, most
        cores = len(os.sched_getaffinity(0))
        self._thinking = ThreadPoolExecutor(max(1, cores - 1), "bot")
        """No more bots think at once. One core is left for builds and checks."""
        self._checking = ThreadPoolExecutor(1, "check")
        self._building = ThreadPoolExecutor(1, "build")
        """Accepted bots do not wait for checks."""
        self._work: dict[str, Work] = {}
        """By the hash of the lease's credential."""
        self._running = set[Work]()
        """With that of leases that have ended."""
        self._asked: asyncio.Future[Any] | None = None
        """The answer to the last beat."""
        self.machine = machine

    async def run(self) -> None:
        """Work until it is cancelled. Raise ServerProblem if the server refuses the token."""
        self._forget_unfinished_builds()
        try:
            while True:
                try:
                    self._follow(await self._beat(self._free))
                except ServerProblem as problem:
                    if problem.status == UNAUTHORISED:
                        raise
                    log.warning("the server cannot be reached", problem=str(problem))
                    await asyncio.sleep(RETRY)
        finally:
            await self._close()

    async def _close(self) -> None:
        for work in self._running:
            work.end()
        await asyncio.gather(*(work.task for work in self._running), return_exceptions=True)
        self._work.clear()
        asked = self._asked
        with suppress(ServerProblem):  # gives all leases back, also those of a beat under way
            await self._beat((0, 0))
            if asked is not None and (await asked)["given"]:
                await self._beat((0, 0))
        await asyncio.to_thread(close_idle)

    @property
    def _free(self) -> tuple[int, int]:
        """The versions to check, and the bots to play, that it can take."""
        checks = sum(work.lease.to_check for work in self._work.values())
        return (0 if checks else 1), max(0, self._most - len(self._work) + checks)

    async def _beat(self, free: tuple[int, int]) -> RunnerNews:
        checks, bots = free
        machine = msgspec.to_builtins(self.machine)
        body = {"machine": machine, "held": list(self._work), "checks": checks, "bots": bots}
        asking = asyncio.to_thread(self._beats.get, "runner/beats", self._token, body)
        self._asked = asyncio.ensure_future(asking)
        answer = await asyncio.shield(self._asked)
        return msgspec.convert(answer, RunnerNews)

    async def _ask(self, path: str, token: str, body: Any = None) -> Any:
        return await asyncio.to_thread(self._rest.get, path, token, body)

    def _follow(self, news: RunnerNews) -> None:
        for lease in news.lost:
            if work := self._work.pop(lease, None):
                log.info("lease ended", bot=work.lease.bot)
                work.end()
        for lease in news.ending:
            if lease in self._work:
                self._work[lease].end_after_match()
        for given in news.given:
            self._start(given)

    def _start(self, lease: Lease) -> None:
        key, work = hashlib.sha256(lease.credential.encode()).hexdigest(), Work(lease)
        log.info("check" if lease.to_check else "play", bot=lease.bot, version=lease.version)
        job = self._check(lease) if lease.to_check else self._play(work)
        work.task = asyncio.ensure_future(job)
        self._work[key] = work
        self._running.add(work)
        work.task.add_done_callback(partial(self._done, key, work))

    def _done(self, key: str, work: Work, task: "asyncio.Task[None]") -> None:
        self._running.discard(work)
        if self._work.get(key) is work:
            del self._work[key]
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("work failed", bot=work.lease.bot, exc_info=problem)

    # Checks.

    async def _check(self, lease: Lease) -> None:
        try:
            report = await self._retried(lease, self._check_report)
            accepted = True
        except (BuildFailed, CannotStart) as problem:
            report, accepted = self._without_folder(str(problem), lease), False
        body = {"accepted": accepted, "report": end_of(report)}
        with suppress(ServerProblem):  # then the lease has ended, and another runner checks it
            await self._ask("runner/reports", lease.credential, body)
        log.info("accepted" if accepted else "rejected", bot=lease.bot, version=lease.version)

    async def _retried(self, lease: Lease, work: Callable[[Lease], Awaitable[T]]) -> T:
        """Try again, under the same lease, as long as this machine or the server is to blame."""
        while True:
            try:
                return await work(lease)
            except (OSError, ServerProblem) as problem:
                log.warning("to be tried again", bot=lease.bot, problem=str(problem))
                await asyncio.sleep(LATER)
                if isinstance(problem, ServerProblem) and problem.status == NOT_FOUND:
                    raise

    async def _check_report(self, lease: Lease) -> str:
        check = partial(self._checked, await self._built(lease), lease.game)
        return str(await self._in(self._checking, check))

    async def _built(self, lease: Lease) -> str:
        """Return the folder with the build of a version. Raise BuildFailed or CannotStart."""
        folder = self._folder / lease.hash
        if not folder.exists():
            answer = await self._ask("runner/archive", lease.credential)
            archive = b64decode(answer["data"])
            if hashlib.sha256(archive).hexdigest() != lease.hash:
                raise BuildFailed("the archive was damaged on its way")
            threads = self._checking if lease.to_check else self._building
            await self._in(threads, partial(build, archive, lease.limits, folder))
            await asyncio.to_thread(self._forget_old_builds)
        os.utime(folder)
        return str(folder)

    def _checked(self, entrant: str, game: str, stopped: Callable[[], bool]) -> str:
        """Return the report of a version that is accepted. Raise BuildFailed with the first
        failure, or when it is stopped.
        """
        until = perf_counter() + CHECKING
        if prefix_of(entrant) == "cmd":
            raise BuildFailed("a hosted bot reads views: its command begins with view:, not cmd:")
        check_bot(entrant, game, self._isolation)
        options = _ladder_options(entrant, game)
        plan = CheckPlan(entrant, game, options, POSITIONS, MATCHES, 1, self._isolation)
        checker = Checker(plan)
        report = checker.report
        steps: list[Callable[[], Any]] = [
            *(partial(next, parts, None) for parts in [checker.positions()] * POSITIONS),
            *(partial(next, parts, None) for parts in [checker.matches()] * MATCHES),
            checker.against_itself,
        ]
        try:
            for step in steps:
                if stopped() or perf_counter() > until:
                    raise BuildFailed(f"the check takes more than {CHECKING:g} s")
                step()
                for finding in report.findings:
                    if finding.kind not in HARMLESS:
                        raise BuildFailed(f"{finding.kind}: {finding.text}")
        finally:
            close_idle(entrant)
        told = [f"{finding.kind}: {finding.text}" for finding in report.findings]
        slowest = f", slowest answer {report.times.slowest * 1000:.0f} ms" if report.times else ""
        counts = f"{plural(report.positions, 'position')}, {plural(MATCHES + 1, 'match', 'es')}"
        where = f", on a runner of class {self.machine.runner_class}"
        ladder = f", plays with {json.dumps(options)}" if options else ""
        return "\n".join([f"{counts}{slowest}{where}{ladder}", *told])

    def _without_folder(self, text: str, lease: Lease) -> str:
        """Leave the folder of this machine out of a text for an author."""
        return text.replace(f"{self._folder / lease.hash}/", "").replace(
            f"{self._folder / lease.hash}", "the bot"
        )

    async def _in(
        self, threads: ThreadPoolExecutor, call: Callable[[Callable[[], bool]], Any]
    ) -> Any:
        """Call in a thread what ends soon after the function that it gets says so."""
        over = Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, call, over.is_set)
        finally:
            over.set()

    # Matches.

    async def _play(self, work: Work) -> None:
        lease = work.lease
        try:
            entrant = await self._retried(lease, self._built)
            wish = JoinWish(
                lease.game, lease.bot, lease.credential, lease.contest or None,
                options={} if lease.contest else project_options(entrant),
                version=lease.version, ladder=not lease.contest,
            )  # fmt: skip
            bot = work.bot = HostedBot(self, lease, entrant)
            again = True
            while again:
                work.join = Join(self._rest.url, wish, bot.player, bot, pauses=PAUSES)
                again = await self._fails_in_contest(work.join, lease)
        except (KeepsFailing, BuildFailed, CannotStart) as problem:
            fault = f"; last: {work.bot.fault}" if work.bot and work.bot.fault else ""
            why = self._without_folder(f"{problem}{fault}", lease)
            log.warning("paused", bot=lease.bot, why=why)
            if lease.contest:
                return await asyncio.sleep(LATER)  # then any runner tries again
            with suppress(ServerProblem):  # then the lease has ended
                await self._ask("runner/pauses", lease.credential, {"why": end_of(why)})
        except Unwelcome as problem:
            log.warning("refused", bot=lease.bot, why=str(problem))
            await asyncio.sleep(LATER)
        finally:
            if work.bot:
                asyncio.get_running_loop().run_in_executor(None, close_idle, work.bot.entrant)

    async def _fails_in_contest(self, join: Join, lease: Lease) -> bool:
        """Let a bot play. Return True if it keeps failing in a contest, which goes on: each failure
        is a loss.
        """
        try:
            await join.run()
        except KeepsFailing:
            if not lease.contest:
                raise
            return True
        return False

    def player(self, entrant: str, lease: Lease) -> RemotePlayer:
        row = CATALOGUE[lease.game]
        options = {} if lease.contest else project_options(entrant)
        return remote_player(entrant, row, lease.bot, options, self._isolation, self._thinking)

    async def send_log(self, lease: Lease, player: RemotePlayer) -> None:
        fault, written = (self._without_folder(text, lease) for text in (player.fault, player.log))
        body = {"match": player.match, "fault": end_of(fault), "log": end_of(written)}
        with suppress(ServerProblem):  # a log is not worth a match
            await self._ask("runner/logs", lease.credential, body)

    def _forget_old_builds(self) -> None:
        held = {work.lease.hash for work in list(self._work.values())}
        builds = [path for path in self._folder.iterdir() if not path.name.startswith(UNFINISHED)]
        builds.sort(key=lambda path: -path.stat().st_mtime)
        for path in builds[KEPT_BUILDS:]:
            if path.name not in held:
                shutil.rmtree(path, ignore_errors=True)

    def _forget_unfinished_builds(self) -> None:
        """Other runners that still live may use the same folder."""
        for path in self._folder.glob(f"{UNFINISHED}*"):
            process = path.name.split("-")[1]
            if process == str(os.getpid()) or not Path("/proc", process).exists():
                shutil.rmtree(path, ignore_errors=True)


class HostedBot:
    """Shows nothing, and sends the logs of its matches to the server."""

    def __init__(self, runner: Runner, lease: Lease, entrant: str) -> None:
        self._runner, self._lease, self.entrant = runner, lease, entrant
        self.fault = ""
        """Why the bot failed in its last match; empty: it did not."""
        self._idle: asyncio.TimerHandle | None = None
        """Ends the process of the bot, unless another match ends before."""

    def player(self) -> RemotePlayer:
        return self._runner.player(self.entrant, self._lease)

    def say(self, words: str) -> None:
        log.debug(words, bot=self._lease.bot)

    async def show_match(self, player: RemotePlayer) -> None:
        loop, self.fault = asyncio.get_running_loop(), player.fault
        if self._idle is not None:
            self._idle.cancel()
        # A process that plays a long match then is not idle, and stays.
        self._idle = loop.call_later(IDLE, loop.run_in_executor, None, close_idle, self.entrant)
        await self._runner.send_log(self._lease, player)


def _ladder_options(entrant: str, game: str) -> dict[str, Any]:
    """Return the options of a project. Raise BuildFailed if a ladder cannot have them."""
    options = project_options(entrant)
    try:
        with_options(CATALOGUE[game].game, options).start(2, Chance(1))
    except BadOption as problem:
        raise BuildFailed(f"the options of bot.toml: {problem}") from None
    return options


def end_of(text: str) -> str:
    """Return the last part of a text, as much as fits into a request."""
    while len(json.dumps(text)) > KEPT_TEXT:
        text = text[len(text) // 8 + 1 :]
    return text


def this_machine(isolation: Isolation, class_name: str) -> RunnerMachine:
    """Measure this machine. Without a name for its class, that follows from its speed."""
    cores = plural(len(os.sched_getaffinity(0)), "core")
    about = f"{cores}; {_limits()}; languages: {', '.join(_languages())}"
    speed = measured_speed(isolation.limits)
    return RunnerMachine(about, class_name or class_of(speed), speed)


def _limits() -> str:
    return (
        "limits kept by control groups"
        if delegated()
        else "limits of memory and processes polled ten times a second: no control group is "
        "delegated"
    )


def _languages() -> list[str]:
    return [language for language, tool in TOOLS.items() if shutil.which(tool)]
