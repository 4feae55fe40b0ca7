"""Trials: one match, or a part of it, for each ailment."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from time import monotonic

from msgspec import Struct

from botdrome.client.program import Program
from botdrome.doctor.ailments import Ailment, ProtocolName
from botdrome.doctor.proxy import Proxy
from botdrome.doctor.server import DoctorServer
from botdrome.doctor.verdict import part_of
from botdrome.server.tables.table import Table

LOOK = 0.02
"""Seconds between two looks at the tables."""
ENOUGH = 8
"""Answers after which a trial ends, in games that last longer."""
FAREWELL = 2.0
"""Seconds in which a bot may write why it crashed."""


class TrialResult(Struct, frozen=True):
    """The result of a trial."""

    ailment: str
    passed: bool
    answers: int = 0
    reason: str = ""
    diagnosis: str = ""


class Examination:
    """All that the trials of one bot share. `patience`: seconds without an answer before the bot has failed."""

    def __init__(
        self, server: DoctorServer, proxy: Proxy, command: Sequence[str], url: str, patience: float, silence: float
    ) -> None:
        """`url`: the address of the proxy, where the server calls the bot."""
        self._server, self._proxy, self._command, self._url = server, proxy, command, url
        self._patience, self._silence = patience, silence

    async def run(self, ailments: Sequence[Ailment]) -> AsyncIterator[TrialResult]:
        for number, ailment in enumerate(ailments):
            result = await self._trial(ailment)
            yield result
            if number == 0 and not result.passed:
                return  # the others would say the same

    async def _trial(self, ailment: Ailment) -> TrialResult:
        self._proxy.begin(ailment)
        program = Program(self._command) if self._command else None
        opponent: asyncio.Task[object] | None = None
        try:
            opponent = asyncio.create_task(self._opponent(ailment))
            trial = AilmentTrial(self._server, self._proxy, ailment, program, self._patience + self._silence * ailment.silent)
            return await trial.run()
        finally:
            self._proxy.cut()
            self._server.stop_tables()
            if opponent is not None:
                opponent.cancel()
                with suppress(asyncio.CancelledError):
                    await opponent
            if program is not None:
                await asyncio.to_thread(program.close)

    async def _opponent(self, ailment: Ailment) -> None:
        if self._server.protocol != "battlecube":
            return await self._server.oppose(ailment, self._silence)
        await self._proxy.until_reached()
        await self._server.call(self._url, ailment, self._silence)
        return None


class AilmentTrial:
    def __init__(self, server: DoctorServer, proxy: Proxy, ailment: Ailment, program: Program | None, patience: float) -> None:
        self._server, self._proxy, self._ailment, self._program = server, proxy, ailment, program
        self._patience = patience
        self._tables: list[Table] = []
        self._answers = self._before = 0
        """All answers, and those before the bot returned from a lost connection."""
        proxy.on_return = self._returned
        self._since = monotonic()
        """When the last answer came."""

    async def run(self) -> TrialResult:
        while True:
            await asyncio.sleep(LOOK)
            if self._program is not None:
                self._program.receive()
                self._program.hear_errors()
            reason = self._look()
            if reason is not None:
                break
        if not reason:
            return TrialResult(self._ailment.name, True, self._answers)
        return TrialResult(self._ailment.name, False, self._answers, await self._explained(reason), self._ailment.diagnosis)

    def _look(self) -> str | None:
        """Return why the bot failed; empty: it passed; None: the trial goes on."""
        self._tables += [table for table in self._server.tables if table not in self._tables]
        fault = self._count()
        if fault:
            return fault
        done = self._answers - self._before
        over = done > 0 and self._tables[-1].match.result is not None
        if (over or done >= (2 if self._ailment.silent else ENOUGH)) and (self._proxy.returned or not self._ailment.drop):
            return ""
        return self._too_long()

    def _returned(self) -> None:
        self._count()
        self._before, self._since = self._answers, monotonic()

    def _count(self) -> str:
        """Count the answers, and return the first fault."""
        parts = [part_of(table.match, self._server.player(table) or 0) for table in self._tables]
        answers = sum(part.answers for part in parts)
        if answers > self._answers:
            self._answers, self._since = answers, monotonic()
        return next((part.fault for part in parts if part.fault and not (self._proxy.dropped and part.lost_connection)), "")

    def _too_long(self) -> str | None:
        if self._program is not None and self._program.status is not None:
            return "it ended before it had played" if not self._answers else "it ended in the middle of the match"
        if monotonic() - self._since < self._patience:
            return None
        words = f"within {self._patience:g} s"
        if self._proxy.dropped and not self._proxy.returned:
            return f"it did not connect again {words}"
        if not self._tables:
            heard = f"; its first bytes: {self._proxy.said!r}" if self._proxy.said else ""
            return f"it did not begin to play {words}{heard}" if self._proxy.connections else f"it did not connect {words}"
        return f"it did not answer {words}, after {self._answers} answers"

    async def _explained(self, reason: str) -> str:
        """Add the reason of a crash, which the bot may still be writing."""
        program, until = self._program, monotonic() + FAREWELL
        if program is None:
            return reason
        while program.status is None and monotonic() < until:
            await asyncio.sleep(LOOK)
        program.hear_errors()
        return f"{program.last_words()} ({reason})" if program.status is not None else reason


def addresses(protocol: ProtocolName, port: int, name: str, password: str) -> dict[str, str]:
    """The words that a command may contain in braces. Of Battlecube, the port is the bot's own."""
    url = {"battlebot": f"ws://127.0.0.1:{port}", "bomber": f"http://127.0.0.1:{port}/bomber/rest"}
    default = f"http://127.0.0.1:{port}/" if protocol == "battlecube" else f"127.0.0.1:{port}"
    return {"url": url.get(protocol, default), "host": "127.0.0.1", "port": str(port), "name": name, "password": password}
