"""Faults of synthetic bots: slow moves, crashes and lost connections, drawn for each match."""

import asyncio
from collections import Counter
from random import Random

from msgspec import Struct


class FaultRates(Struct, frozen=True):
    """The shares of matches in which a bot is slow, crashes or loses its connection."""

    slow: float = 0.0
    crash: float = 0.0
    drop: float = 0.0
    pause: float = 8.0
    """Seconds of a slow move."""


class BotDropped(Exception):
    """The connection of a bot is to be cut. `crashed`: the bot forgets its match."""

    def __init__(self, crashed: bool) -> None:
        super().__init__("crashed" if crashed else "lost its connection")
        self.crashed = crashed


class BotFaults:
    """The faults of one bot. `counts` is shared by all bots."""

    def __init__(self, rates: FaultRates, random: Random, counts: Counter[str]) -> None:
        self._rates, self._random, self._counts = rates, random, counts
        self._kind, self._moves = "", 0

    def begin_match(self) -> None:
        rates, drawn = self._rates, self._random.random()
        self._moves = self._random.randint(1, 3)
        kinds = (("slow", rates.slow), ("crash", rates.crash), ("drop", rates.drop))
        self._kind = ""
        for kind, share in kinds:
            if 0 <= drawn < share:
                self._kind = kind
            drawn -= share

    async def before_move(self) -> None:
        """Be slow, or raise BotDropped, if it is time for this match's fault."""
        self._moves -= 1
        if self._moves or not self._kind:
            return
        kind, self._kind = self._kind, ""
        self._counts[kind] += 1
        if kind == "slow":
            await asyncio.sleep(self._rates.pause)
        else:
            raise BotDropped(kind == "crash")
