"""Calls from worker processes to the server, for what a job cannot read from the store: both ends
of them.
"""

from functools import partial

from msgspec import Struct

from botdrome.api.live_tables import live_tables
from botdrome.games.game import View
from botdrome.server.arena import Arena
from botdrome.server.lobby.tokens import NotOperator
from botdrome.server.tables.audience import LiveTable
from botdrome.server.workers.jobs import ServerCaller
from botdrome.server.workers.pool import ServerCalls
from botdrome.store.entries import MatchEntry
from botdrome.store.reader import StoreReader

OPERATOR_NEEDED = "The operator's token is needed, in the header Authorization: Bearer TOKEN"

ORDERS = {"order_contest", "register", "move", "rotate", "revoke", "enter", "withdraw"}
"""The calls that change something."""


def server_calls(arena: Arena) -> ServerCalls:
    """The functions of the server, by name."""

    async def live(game: str | None) -> tuple[list[LiveTable], int]:
        return live_tables(arena.tables, game)

    async def view(match_id: str) -> View | None:
        return (await arena.look(match_id)).view

    async def protocols(match_id: str) -> dict[str, str]:
        return (await arena.look(match_id)).protocols

    async def contest_games() -> int:
        return arena.queue.contest_games

    async def awaited(contest: str) -> list[str]:
        return [] if arena.contests is None else await arena.contests.awaited(contest)

    return {
        "order_contest": partial(_order_contest, arena),
        "live": live,
        "view": view,
        "protocols": protocols,
        "holder": arena.holder,
        "owns": arena.owns,
        "register": arena.register,
        "move": arena.move,
        "rotate": arena.rotate,
        "revoke": arena.revoke,
        "contest_games": contest_games,
        "awaited": awaited,
        "enter": arena.enter,
        "count_duels": arena.duel.folded,
        "withdraw": arena.withdraw,
    }


async def _order_contest(
    arena: Arena, token: object, name: str, verb: Struct, game: str = ""
) -> None:
    """For the operator alone."""
    if arena.contests is None or arena.keys is None or not isinstance(token, str):
        raise PermissionError(OPERATOR_NEEDED)
    try:
        await arena.keys.check(token)
    except NotOperator:
        raise PermissionError(OPERATOR_NEEDED) from None
    await arena.contests.order(name, verb, game)


class ReadContext:
    """The context of a read-only request in a worker process: its own store, and calls to the
    server.
    """

    def __init__(self, server: ServerCaller, store: StoreReader) -> None:
        self.server, self.store = server, store

    async def owns(self, entry: MatchEntry, seat: int, token: str) -> bool:
        return bool(await self.server.call("owns", entry, seat, token))

    async def present_view(self, match_id: str) -> View | None:
        view: View | None = await self.server.call("view", match_id)
        return view

    async def protocols(self, match_id: str) -> dict[str, str]:
        """Of the connected players of a running match."""
        found: dict[str, str] = await self.server.call("protocols", match_id)
        return found

    async def awaited(self, contest: str) -> list[str]:
        """The bots of a contest that have matches to play and are not connected."""
        found: list[str] = await self.server.call("awaited", contest)
        return found

    async def count_duels(self) -> None:
        """Wait until all stored boards of duel arena are counted."""
        await self.server.call("count_duels")

    async def contest_games(self) -> int:
        """Games each way for every pair in a contest."""
        return int(await self.server.call("contest_games"))
