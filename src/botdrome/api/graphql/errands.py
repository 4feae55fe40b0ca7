"""Errands: what a query has the server do, where a worker process cannot do it by itself."""

from botdrome.api.live import live_tables
from botdrome.api.watching import glance
from botdrome.games.game import View
from botdrome.server.arena import Arena, LiveTable
from botdrome.server.worker_link import Errands
from botdrome.store.store import BotEntry


def errands(arena: Arena) -> Errands:
    """By the names that `Reading` uses."""

    async def live(game: str | None) -> tuple[list[LiveTable], int]:
        return live_tables(arena.tables, game)

    async def view(match_id: str) -> View | None:
        return glance(arena.tables, match_id)

    async def enter(bot: BotEntry, contest: str) -> None:
        await arena.outreach.enter(bot, contest)

    async def withdraw(bot: BotEntry, contest: str) -> None:
        await arena.outreach.withdraw(bot, contest)

    return {
        "live": live,
        "view": view,
        "holder": arena.holder,
        "register": arena.register,
        "move": arena.move,
        "rotate": arena.rotate,
        "revoke": arena.revoke,
        "enter": enter,
        "withdraw": withdraw,
    }
