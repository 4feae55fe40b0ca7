"""Trial: one match, or a part of it, with one ailment."""

import asyncio
from time import monotonic

from msgspec import Struct

from botdrome.client.program import Program
from botdrome.doctor.ailments import HTTP, Ailment
from botdrome.doctor.delivery import TrialTraffic
from botdrome.doctor.message_kind import miscounted
from botdrome.doctor.server import DoctorServer
from botdrome.doctor.verdict import part_of
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table

LOOK = 0.1
"""Seconds between two looks at the bot's process and at the clock.

Everything else wakes the trial.
"""
ENOUGH = 8
"""Answers after which a trial ends, in games that last longer."""
MANY = 5
"""Connections that a bot may close before it has failed."""
FAREWELL = 2.0
"""Seconds in which a bot may write why it crashed."""


class TrialResult(Struct, frozen=True):
    """The result of a trial."""

    ailment: str
    passed: bool
    answers: int = 0
    reason: str = ""
    diagnosis: str = ""


class AilmentTrial:
    def __init__(
        self, server: DoctorServer, traffic: TrialTraffic, program: Program | None, patience: float
    ) -> None:
        """`program`: the bot, if the doctor has started it.

        `patience`: seconds without an answer before it has failed.
        """
        self._server, self._traffic, self._program, self._patience = (
            server,
            traffic,
            program,
            patience,
        )
        self._ailment: Ailment = traffic.ailment
        self._tables: list[Table] = []
        self._answers = self._before = 0
        """All answers, and those before the connection was lost."""
        self._since = monotonic()
        """When the last answer came."""

    async def run(self) -> TrialResult:
        self._traffic.on_return = self._returned
        stop = self._server.on_change(self._find_tables)
        try:
            while (reason := self._look()) is None:
                await self._until_changed()
        finally:
            stop()
        if not reason:
            return TrialResult(self._ailment.name, True, self._answers)
        return TrialResult(
            self._ailment.name,
            False,
            self._answers,
            await self._explained(reason),
            self._ailment.diagnosis,
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
                table.subscribe(Subscriber(changed=changed, over=lambda _: changed()))
        changed()

    def _look(self) -> str | None:
        """Return why the bot failed; empty: it passed; None: the trial goes on."""
        if self._program is not None:
            self._program.receive()
            self._program.hear_errors()
        fault = self._count()
        if fault:
            return fault
        done = self._answers - self._before
        over = done > 0 and self._tables[-1].match.result is not None
        if (over or done >= (2 if self._ailment.silent else ENOUGH)) and (
            self._traffic.returned or not self._ailment.drop
        ):
            return ""
        return self._gone() or self._too_long()

    def _returned(self) -> None:
        self._count()
        self._before, self._since = self._answers, monotonic()

    def _count(self) -> str:
        """Count the answers, and return the first fault."""
        parts = [part_of(table.match, self._server.player(table) or 0) for table in self._tables]
        answers = sum(part.answers for part in parts)
        if answers > self._answers:
            self._answers, self._since = answers, monotonic()
        return next(
            (
                part.fault
                for part in parts
                if part.fault and not (self._traffic.dropped and part.lost_connection)
            ),
            "",
        )

    def _gone(self) -> str:
        """Say how the bot has left; empty: it has not."""
        traffic, program = self._traffic, self._program
        if self._server.protocol == "duel" and (words := miscounted(traffic.said)):
            return words
        if program is not None and program.status is not None:
            return (
                "it ended before it had played"
                if not self._answers
                else "it ended in the middle of the match"
            )
        if self._server.protocol in HTTP or not traffic.left or traffic.open:
            return ""
        if self._tables and self._tables[-1].match.result is None:
            return "it closed the connection in the middle of the match"
        if self._ailment.silent:
            return "it closed the connection while it waited for an opponent"
        return (
            f"it closed {traffic.left} connections before it had played"
            if traffic.left >= MANY
            else ""
        )

    def _too_long(self) -> str | None:
        traffic, calls = self._traffic, self._server.protocol == "battlecube"
        if self._program is None and not traffic.connections and not calls:
            self._since = monotonic()  # its author has to start it
        if monotonic() - self._since < self._patience:
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
        """Add the reason of a crash, which the bot may still be writing."""
        program = self._program
        if program is None or not await asyncio.to_thread(program.wait_for_end, FAREWELL):
            return reason
        program.hear_errors()
        return f"{program.last_words()} ({reason})"
