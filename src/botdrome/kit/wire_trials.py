"""WireTrials: all trials of one bot, one after another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from msgspec import Struct

from botdrome.app import RunningServer, open_server
from botdrome.bots.house import house_bots
from botdrome.catalogue import CATALOGUE
from botdrome.client.join import Join, JoinWish
from botdrome.client.program import Program
from botdrome.kit.proxy import Proxy, TrialTraffic
from botdrome.kit.traffic import (
    BOT_NAME,
    HTTP,
    ProtocolName,
    WireCondition,
    miscounted,
    opponent_of,
)
from botdrome.match.events import Out, Played, Player, Refused
from botdrome.match.match import Match, apply
from botdrome.match.record import new_match, setup_of
from botdrome.offline.remote_player import PlayedMatches, remote_player
from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.operator.cube_runs import CubeRun
from botdrome.server.rooms.cube import Organisers
from botdrome.server.tables.table import Subscriber, Table

# The server of the trials, with an opponent for the bot, and the tables at which the bot sits.

BOMBER_ROOM = "default:players=2,least=2,registration=3600,round=5000,rest=0,early=1"


class TrialServer:
    def __init__(self, server: RunningServer, protocol: ProtocolName, game: str) -> None:
        self._server, self.protocol, self.game = server, protocol, game
        self.name = BOT_NAME
        """The name of the bot in this trial."""
        self._tokens: dict[str, str] = {}

    async def token(self, name: str) -> str:
        """Return the password of a bot, which is registered at the first call.

        That call must not be cancelled: a name cannot be registered twice.
        """
        if name not in self._tokens:
            _, self._tokens[name] = await self._server.arena.register(self.game, name, "wire check")
        return self._tokens[name]

    async def password(self) -> str:
        """Return the bot's password.

        Only Battlebot needs a registration; elsewhere any word protects the name.
        """
        return await self.token(self.name) if self.protocol == "battlebot" else "secret-of-the-bot"

    @property
    def port(self) -> int:
        return self._server.ports[{"duel": "duel", "boats": "xbs"}.get(self.protocol, "http")]

    @property
    def tables(self) -> list[Table]:
        """The tables at which the bot plays."""
        running = self._server.desk.tables
        found = [running[one.id] for one in running.live()]
        return [table for table in found if table is not None and self.player(table) is not None]

    def player(self, table: Table) -> Player | None:
        """The bot's number at a table. Without its password it is a guest."""
        names = {self.name, f"{self.name} (guest)"}
        return next(
            (player for player, name in enumerate(table.entry.players) if name in names), None
        )

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call a function when a match has begun or is over, until the function that is returned is
        called.
        """
        return self._server.desk.tables.on_change(tell)

    async def stop_tables(self) -> None:
        """End all matches of the bot, and wait until they are over."""
        over = asyncio.Event()
        stop = self.on_change(lambda: None if self.tables else over.set())
        try:
            for table in self.tables:
                table.abort("the check has seen enough")
            if self.tables:
                await over.wait()
        finally:
            stop()

    async def oppose(self, name: str) -> None:
        """Play against the bot, as often as it comes."""
        players = 2 if self.protocol == "bomber" else None
        wish = JoinWish(self.game, name, await self.token(name), players=players)
        bot = f"house:{next(iter(house_bots(self.game)))}"
        await Join(
            self._server.url,
            wish,
            lambda: remote_player(bot, CATALOGUE[self.game], name, {}),
            PlayedMatches(),
        ).run()

    async def call(self, url: str, opponent: str, rest: float) -> CubeRun:
        """Start a game of Battlecube with the bot at the URL.

        It rests for some seconds after each tick.
        """
        setup = {
            "maxNumOfTicks": 1000,
            "edgeLength": 8,
            "speed": round(rest * 1000),
            "numOfTasksPerTick": 1,
        }
        players = [{"name": self.name, "url": url}, {"name": opponent, "url": "house:random"}]
        run = CubeRun(self._server.server_of(Organisers), setup, players, 1)
        await run.begin()
        return run


@asynccontextmanager
async def trial_server(
    protocol: ProtocolName, game: str, patience: float
) -> AsyncIterator[TrialServer]:
    """`patience`: seconds without an answer before a bot has failed. No limit of the game decides
    that: the traffic of a trial takes time, more so on a busy machine.
    """
    with TemporaryDirectory(prefix="botdrome-") as folder:
        flags: dict[str, Any] = {f"{name}.port": 0 for name in protocol_sections()}
        flags |= {"db": f"sqlite:///{folder}/trials.db", "port": 0}
        flags |= {f"{protocol}.port": -1} if protocol in ("duel", "boats") else {}
        longest = 2 * patience
        flags |= {
            "drain": 0.0,
            "log.level": "error",
            "bomber.rooms": BOMBER_ROOM,
            "match.start_delay": 0.0,
            "cube.limit": longest,
        }
        boats = {"turn_limit": longest, "absence": patience}
        flags |= {"boats.rooms": (boats,)} if protocol == "boats" else {}
        server = await open_server(load_settings(flags))
        server.desk.tables.unannounced = round(longest * 1000)
        try:
            yield TrialServer(server, protocol, game)
        finally:
            await server.close()


# The part of a bot in a match so far: its answers, and its first fault.

MILD = ("complete", "aborted", "resigned")


class Part(NamedTuple):
    answers: int
    """The moves that counted."""
    fault: str
    """Empty: there is none."""
    lost_connection: bool = False


def part_of(match: Match, player: Player) -> Part:
    """Replay the match. A refused move is a fault where it has a penalty."""
    again = new_match(setup_of(match, [""] * match.players), match.game)
    again.start()
    answers, steps = 0, 0
    for told in match.inputs:
        refused = False
        for event, _ in apply(again, told):
            steps += isinstance(event, Played)
            if isinstance(event, Refused) and event.player == player:
                refused = True
                if event.strikes:
                    return Part(answers, f"illegal move at step {steps}: {event.why}")
            if isinstance(event, Out) and event.player == player and event.cause not in MILD:
                words = f"{event.cause}: {event.detail}" if event.detail else event.cause
                return Part(answers, f"{words}, at step {steps}", event.cause == "disconnect")
        answers += told[1] == "move" and told[2] == player and not refused
    return Part(answers, "")


# Trial: one match, or a part of it, with one condition.

LOOK = 0.1
"""Seconds between two looks at the bot's process and at the clock.

Everything else wakes the trial.
"""
ENOUGH = 8
"""Answers after which a trial ends, in games that last longer."""
MANY = 5
"""Connections that a bot may close before it has failed."""
FAREWELL = 2.0
"""Seconds in which a bot that has not closed its connection may write why it crashed."""


class TrialResult(Struct, frozen=True):
    """The result of a trial."""

    trial: str
    passed: bool
    answers: int = 0
    reason: str = ""
    diagnosis: str = ""


class WireTrial:
    def __init__(
        self, server: TrialServer, traffic: TrialTraffic, program: Program | None, patience: float
    ) -> None:
        """`program`: the bot, if the check has started it.

        `patience`: seconds without an answer before it has failed.
        """
        self._server = server
        self._traffic = traffic
        self._program = program
        self._patience = patience
        self._condition: WireCondition = traffic.condition
        self._tables: list[Table] = []
        self._answers = self._before = 0
        """All answers, and those before the connection was lost."""
        self._loop = asyncio.get_running_loop()
        self.decided = False
        """Whether the bot has passed or failed; its last words may still be waited for."""
        self._connected = False
        self._since = self._loop.time()
        """When the bot answered last, or was last given time to begin."""

    async def run(self) -> TrialResult:
        self._traffic.on_return = self._returned
        stop = self._server.on_change(self._find_tables)
        try:
            while (reason := self._look()) is None:
                await self._until_changed()
        finally:
            stop()
        self.decided = True
        if not reason:
            return TrialResult(self._condition.name, True, self._answers)
        return TrialResult(
            self._condition.name,
            False,
            self._answers,
            await self._explained(reason),
            self._condition.diagnosis,
        )

    async def _until_changed(self) -> None:
        try:
            async with asyncio.timeout(LOOK):
                await self._traffic.changed.wait()
        except TimeoutError:
            pass
        self._traffic.changed.clear()

    def _find_tables(self) -> None:
        changed = self._traffic.changed.set
        for table in self._server.tables:
            if table not in self._tables:
                self._tables.append(table)
                self._since = self._loop.time()
                table.subscribe(Subscriber(changed=changed, over=lambda _: changed()))
        changed()

    def _look(self) -> str | None:
        """Return why the bot failed; empty: it passed; None: the trial goes on."""
        if self._program is not None:
            self._program.receive()
            self._program.hear_errors()
        if self._traffic.error is not None:
            raise self._traffic.error
        fault = self._count()
        if fault:
            return fault
        done = self._answers - self._before
        over = done > 0 and self._tables[-1].match.result is not None
        if (over or done >= (2 if self._condition.silent else ENOUGH)) and (
            self._traffic.returned or not self._condition.drop
        ):
            return ""
        return self._gone() or self._too_long()

    def _returned(self) -> None:
        self._count()
        self._before, self._since = self._answers, self._loop.time()

    def _count(self) -> str:
        """Count the answers, and return the first fault."""
        parts = [part_of(table.match, self._server.player(table) or 0) for table in self._tables]
        answers = sum(part.answers for part in parts)
        if answers > self._answers:
            self._answers, self._since = answers, self._loop.time()
        return next(
            (
                part.fault
                for part in parts
                if part.fault and not (self._traffic.breaking and part.lost_connection)
            ),
            "",
        )

    def _gone(self) -> str:
        """Say how the bot has left; empty: it has not."""
        traffic, program = self._traffic, self._program
        if self._server.protocol == "duel" and (words := miscounted(traffic.said)):
            return words
        if program is not None and program.status is not None and not traffic.carried:
            return (
                "it ended before it had played"
                if not self._answers
                else "it ended in the middle of the match"
            )
        if self._server.protocol in HTTP or not traffic.left:
            return ""
        if traffic.left >= MANY and not traffic.open:
            return f"it closed {traffic.left} connections before it had played"
        if traffic.carried:
            return ""
        if self._tables and self._tables[-1].match.result is None:
            return "it closed the connection in the middle of the match"
        if self._condition.silent:
            return "it closed the connection while it waited for an opponent"
        return ""

    def _too_long(self) -> str | None:
        traffic, calls = self._traffic, self._server.protocol == "battlecube"
        now = self._loop.time()
        if not self._connected:
            self._connected = traffic.connections > 0
            if self._connected or (self._program is None and not calls):
                self._since = now  # until then it starts, or its author has to start it
        if now - self._since < self._patience:
            return None
        words = f"within {self._patience:g} s"
        if traffic.dropped and not traffic.returned:
            return f"it did not connect again {words}"
        if not traffic.connections:
            return (
                f"it did not accept a connection {words}"
                if calls
                else f"it did not connect {words}"
            )
        if not self._tables:
            return f"it did not begin to play {words}" + (
                f"; its first bytes: {traffic.said!r}" if traffic.said else ""
            )
        return f"it did not answer {words}, after {self._answers} answers"

    async def _explained(self, reason: str) -> str:
        """Add the reason of a crash, which the bot may still be writing. A bot that connects again
        has not crashed.
        """
        program, traffic, began = self._program, self._traffic, self._loop.time()
        if program is None:
            return reason
        while program.status is None:
            crashed = 0 < traffic.left < MANY and not traffic.open
            if self._loop.time() - began >= (self._patience if crashed else FAREWELL):
                return reason
            await self._until_changed()
        program.hear_errors()
        return f"{program.last_words()} ({reason})"


PROMPT = 2.0
"""Seconds without a connection after which the author of a bot is asked to start it."""


class BotAddress:
    """Where a bot finds the server, or the server finds the bot."""

    def __init__(self, protocol: ProtocolName, port: int, url: str = "") -> None:
        """`port`: where the bot connects; with Battlecube, where it listens.

        `url`: where the server calls it.
        """
        self._protocol, self._port, self.url = protocol, port, url

    def words(self, name: str, password: str) -> dict[str, str]:
        """The words that a command may contain in braces."""
        at = f"127.0.0.1:{self._port}"
        url = {
            "battlebot": f"ws://{at}",
            "bomber": f"http://{at}/bomber/rest",
            "battlecube": f"http://{at}/",
        }
        return {
            "url": url.get(self._protocol, at), "host": "127.0.0.1", "port": str(self._port),
            "name": name, "password": password,
        }  # fmt: skip

    def filled(self, command: Sequence[str], name: str, password: str) -> list[str]:
        """The command with these words in place of the braces."""
        filled = list(command)
        for key, value in self.words(name, password).items():
            filled = [word.replace(f"{{{key}}}", value) for word in filled]
        return filled


class WireTrials:
    def __init__(
        self,
        server: TrialServer,
        proxy: Proxy,
        address: BotAddress,
        command: Sequence[str],
        patience: float,
        silence: float,
        prompt: Callable[[str], None],
    ) -> None:
        """`command`: empty if the bot is started by its author, who is asked by `prompt` with the
        name of the trial.
        """
        self._server, self._proxy, self._address, self._command = server, proxy, address, command
        self._patience, self._silence, self._prompt = patience, silence, prompt
        self._calls = server.protocol == "battlecube"

    async def run(self, conditions: Sequence[WireCondition]) -> AsyncIterator[TrialResult]:
        failed = set[str]()
        for number, condition in enumerate(conditions):
            if condition.after in failed or not (
                self._command or self._calls or condition.bot == BOT_NAME
            ):
                continue
            result = await self._trial(
                condition, opponent_of(condition, self._server.protocol, number)
            )
            yield result
            if not result.passed:
                failed.add(condition.name)
            if failed == {"plain"}:
                return  # the others would say the same

    async def _trial(self, condition: WireCondition, opponent: str) -> TrialResult:
        self._server.name = condition.bot
        traffic, silence = TrialTraffic(condition), self._silence * condition.silent
        if not self._calls:
            await self._server.token(opponent)
        command = self._address.filled(self._command, condition.bot, await self._server.password())
        program, tasks = None, list[asyncio.Task[Any]]()
        try:
            self._proxy.begin(traffic)
            program = Program(command) if command else None
            if program is not None:
                traffic.asleep = program.asleep
            trial = WireTrial(self._server, traffic, program, self._patience + 2 * silence)
            running = asyncio.create_task(trial.run())
            opposing = asyncio.create_task(self._oppose(traffic, opponent, silence))
            tasks = [running, opposing, asyncio.create_task(self._remind(traffic))]
            await asyncio.wait((running, opposing), return_when=asyncio.FIRST_COMPLETED)
            if not (running.done() or trial.decided):
                opposing.result()  # without an opponent, the bot is not to blame
            return await running
        finally:
            await self._end(program, tasks)

    async def _end(self, program: Program | None, tasks: Sequence[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        await self._proxy.rest()
        await self._server.stop_tables()
        await asyncio.gather(*tasks, return_exceptions=True)
        if program is not None:
            await asyncio.to_thread(program.close, 0.0)
            await self._proxy.refuse_waiting()

    async def _oppose(self, traffic: TrialTraffic, opponent: str, silence: float) -> None:
        if self._calls:
            await self._proxy.until_reached()
            await self._server.call(self._address.url, opponent, silence)
            return
        if silence:
            await self._be_silent(traffic, silence)
        await self._server.oppose(opponent)

    async def _be_silent(self, traffic: TrialTraffic, silence: float) -> None:
        """The silence begins when the bot has logged in and read the answer. A bot that sends
        something again and again is let wait for at most twice as long.
        """
        await traffic.connected.wait()
        loop = asyncio.get_running_loop()
        longest = loop.time() + 2 * silence
        while (left := min(traffic.moved + silence, longest) - loop.time()) > 0:
            await asyncio.sleep(left)

    async def _remind(self, traffic: TrialTraffic) -> None:
        """Ask the author of the bot to start it."""
        if not self._command and not self._calls:
            try:
                async with asyncio.timeout(PROMPT):
                    await traffic.connected.wait()
            except TimeoutError:
                self._prompt(traffic.condition.name)
