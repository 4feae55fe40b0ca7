"""SyntheticBot: plays on a server until it is cancelled, and comes back after every fault."""

import asyncio
import contextlib
from typing import Protocol

from msgspec import Struct

from botdrome.rehearsal.bot_faults import BotDropped, BotFaults

PAUSE = 0.3
"""Seconds before a bot that lost its connection comes back."""


class Registered(Struct, frozen=True):
    """A bot of the rehearsal, and the server on which it plays."""

    url: str
    ports: dict[str, int]
    game: str
    contest: str
    name: str
    token: str


class SyntheticBot(Protocol):
    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Connect and play until the connection ends."""


async def keep_playing(visitor: SyntheticBot, bot: Registered, faults: BotFaults) -> None:
    while True:
        with contextlib.suppress(OSError, EOFError, BotDropped, asyncio.IncompleteReadError):
            await visitor.visit(bot, faults)
        await asyncio.sleep(PAUSE)
