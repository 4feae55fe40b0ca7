"""Many slow matches on one node: bots that make some moves and then think, until they are told to
play on.
"""

import asyncio
from time import monotonic
from typing import Any

from tests.chaos.arena import ClusterProcesses
from tests.chaos.load import NOUGHTS, Load
from tests.chaos.native_bots import NativeBot, NodeSocket
from tests.faults.diary import Diary

MOVES = 2
"""Moves of each bot before it thinks for long."""
AT_ONCE = 40
"""Bots that connect at the same time."""


class SlowBot(NativeBot):
    def __init__(
        self,
        node: str,
        arena: ClusterProcesses,
        diary: Diary,
        login: dict[str, Any],
        go: asyncio.Event,
    ) -> None:
        super().__init__(arena, diary, "slow", login, 0.0)
        self._node, self._go = node, go
        self._moves = 0
        self.greeted = 0.0
        """When it was last told where the match stands."""

    def _url(self) -> str:
        """Begin at one node, and come back to any."""
        return super()._url() if self.known else self._node

    async def wait_to_return(self) -> None:
        """Return almost at once, and then less and less often."""
        await asyncio.sleep(0.01 * min(len(self.lost), 50))

    def _greet(self, match: str, back: bool) -> None:
        super()._greet(match, back)
        self.greeted = monotonic()

    async def _act(self, one: NodeSocket, message: dict[str, Any]) -> bool:
        self.over = await super()._act(one, message)
        return self.over

    async def choose(self, one: NodeSocket, legal: list[Any]) -> None:
        if self._moves >= MOVES and not self._go.is_set():
            waiting = asyncio.ensure_future(self._go.wait())
            closed = asyncio.ensure_future(one.socket.wait_closed())
            await asyncio.wait({waiting, closed}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            closed.cancel()
        self._moves += 1
        await one.send({"move": legal[0]})


class SlowMatches:
    """Pairs of connections of two bots. They begin at `node`, a URL."""

    def __init__(
        self,
        load: Load,
        arena: ClusterProcesses,
        node: str,
        logins: list[dict[str, Any]],
        count: int,
    ) -> None:
        self._go, self._stop, self._diary = asyncio.Event(), asyncio.Event(), load.diary
        wishes = [
            {"pace": "slow", "invite": f"{node} {monotonic()} {number}"} for number in range(count)
        ]
        url = node.replace("http", "ws", 1)
        self.bots = [
            SlowBot(url, arena, load.diary, login | wish, self._go)
            for wish in wishes
            for login in logins
        ]
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def matches(self) -> set[str]:
        return {match for bot in self.bots for match in bot.known}

    async def open(self) -> None:
        """Wait until all bots have made their moves."""
        for first in range(0, len(self.bots), AT_ONCE):
            some = self.bots[first : first + AT_ONCE]
            self._tasks += [asyncio.create_task(bot.play(self._stop)) for bot in some]
            async with asyncio.timeout(60):
                while sum(bot._moves >= MOVES for bot in some) < len(some):
                    await asyncio.sleep(0.02)

    async def returned(self, since: float, patience: float) -> list[float]:
        """Wait until all bots have been told again where their matches stand.

        Return how long each of them waited, sorted.
        """
        until = monotonic() + patience
        while any(bot.greeted < since for bot in self.bots) and monotonic() < until:
            await asyncio.sleep(0.05)
        return sorted(
            bot.greeted - since if bot.greeted >= since else float("inf") for bot in self.bots
        )

    async def finish(self) -> None:
        """Play all matches to their end."""
        self._go.set()
        until = monotonic() + 60
        while not all(bot.over for bot in self.bots) and monotonic() < until:
            await asyncio.sleep(0.05)
        self._stop.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


async def slow_logins(load: Load) -> list[dict[str, Any]]:
    """Register the two bots, each of which plays many matches at once."""
    return [await load.register(name, NOUGHTS) for name in ("slow-x", "slow-o")]
