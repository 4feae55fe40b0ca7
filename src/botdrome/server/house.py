"""House: bots of the house at a server's tables."""

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog

from botdrome.bots.house import HOUSE, HouseBot
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.games.game import Raw, View
from botdrome.match.events import Player
from botdrome.server.table import Table
from botdrome.server.thinkers import Thinkers

log = structlog.get_logger()

THINKERS = ThreadPoolExecutor(2, "house")
"""Of their own: whoever else needs a thread does not wait for them."""
THOUGHTS = Thinkers(THINKERS)
"""Who thinks much waits for those who think little."""


def house_bot(game: str, name: str) -> tuple[str, HouseBot] | None:
    """`house:NAME`, or for plain `house` the best that there is."""
    bots = HOUSE.get(game, {})
    if name == "house":
        best = list(bots)[-1] if bots else ""
        return (f"house:{best}", bots[best]) if bots else None
    found = bots.get(name.removeprefix("house:"))
    return (name, found) if found else None


def house_names(name: str, seats: int) -> list[str]:
    """What one bot is called on several seats of a table."""
    return [f"{name} {number}" if number else name for number in range(seats)]


class HouseSeat:
    """Thinks in a thread, so that nobody else at the server has to wait for it."""

    def __init__(self, table: Table, player: Player, bot: HouseBot) -> None:
        self._table, self._player, self._bot = table, player, bot
        self._chance = Chance(secrets.randbits(SEED_BITS))
        self._answered = -1

    def sit_down(self) -> None:
        self._table.watchers.append(self._look)

    def _look(self) -> None:
        match = self._table.match
        if self._player in match.awaited and self._answered != match.steps:
            self._answered = match.steps
            asyncio.ensure_future(self._answer(match.steps, match.view(self._player)))  # noqa: RUF006

    async def _answer(self, step: int, view: View) -> None:
        try:
            move = await asyncio.wrap_future(THOUGHTS.think(self._table.entry.id, partial(self._thought, step, view)))
        except Exception:
            log.exception("a bot of the house has failed", match=self._table.entry.id)
            return
        if self._wanted(step):
            self._table.submit(self._player, move, b"")

    def _wanted(self, step: int) -> bool:
        match = self._table.match
        return match.steps == step and match.result is None

    def _thought(self, step: int, view: View) -> Raw:
        """Many may wait for their turn to think, and what they wanted to think about may be over by then."""
        return self._bot(view, self._chance) if self._wanted(step) else None
