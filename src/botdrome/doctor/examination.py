"""Examination: all trials of one bot, one after another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from botdrome.client.program import Program
from botdrome.doctor.ailments import PATIENT, Ailment, ProtocolName, opponent_of
from botdrome.doctor.delivery import TrialTraffic
from botdrome.doctor.proxy import Proxy
from botdrome.doctor.server import DoctorServer
from botdrome.doctor.trial import AilmentTrial, TrialResult

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


class Examination:
    def __init__(
        self,
        server: DoctorServer,
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

    async def run(self, ailments: Sequence[Ailment]) -> AsyncIterator[TrialResult]:
        failed = set[str]()
        for number, ailment in enumerate(ailments):
            if ailment.after in failed or not (
                self._command or self._calls or ailment.patient == PATIENT
            ):
                continue
            result = await self._trial(ailment, opponent_of(ailment, self._server.protocol, number))
            yield result
            if not result.passed:
                failed.add(ailment.name)
            if failed == {"plain"}:
                return  # the others would say the same

    async def _trial(self, ailment: Ailment, opponent: str) -> TrialResult:
        self._server.name = ailment.patient
        traffic = TrialTraffic(ailment, ailment.patient)
        command = self._address.filled(
            self._command, ailment.patient, await self._server.password()
        )
        program, tasks = None, list[asyncio.Task[None]]()
        try:
            self._proxy.begin(traffic)
            program = Program(command) if command else None
            trial = AilmentTrial(
                self._server, traffic, program, self._patience + self._silence * ailment.silent
            )
            running = asyncio.create_task(trial.run())
            tasks = [
                asyncio.create_task(work)
                for work in (self._oppose(traffic, opponent), self._remind(traffic))
            ]
            return await running
        finally:
            await self._end(program, tasks)

    async def _end(self, program: Program | None, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await self._proxy.rest()
        await self._server.stop_tables()
        await asyncio.gather(*tasks, return_exceptions=True)
        if program is not None:
            await asyncio.to_thread(program.close, 0.0)

    async def _oppose(self, traffic: TrialTraffic, opponent: str) -> None:
        if self._calls:
            await self._proxy.until_reached()
            await self._server.call(
                self._address.url, opponent, self._silence * traffic.ailment.silent
            )
            return
        if traffic.ailment.silent:
            await traffic.connected.wait()
            await asyncio.sleep(self._silence)
        await self._server.oppose(opponent)

    async def _remind(self, traffic: TrialTraffic) -> None:
        """Ask the author of the bot to start it."""
        if not self._command and not self._calls:
            with suppress(TimeoutError):
                return await asyncio.wait_for(_connected(traffic), PROMPT)
            self._prompt(traffic.ailment.name)
        return None


async def _connected(traffic: TrialTraffic) -> None:
    await traffic.connected.wait()
