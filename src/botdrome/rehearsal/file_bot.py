"""Bots of the organiser's own, which play by the command `botdrome join`."""

import asyncio
import sys

from botdrome.rehearsal.bot_faults import BotFaults
from botdrome.rehearsal.synthetic_bot import Registered


class FileBot:
    def __init__(self, file: str) -> None:
        self._file = file

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play until the command fails, or to the end of the contest.

        It has no faults but its own.
        """
        words = (
            "join",
            self._file,
            "--server",
            bot.url,
            "--game",
            bot.game,
            "--name",
            bot.name,
            "--token",
            bot.token,
        )
        quiet = asyncio.subprocess.DEVNULL
        command = (sys.executable, "-m", "botdrome", *words, "--contest", bot.contest)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=quiet, stdout=quiet, stderr=quiet
        )
        try:
            if await process.wait() == 0:
                await asyncio.Event().wait()  # the contest is over for it
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
