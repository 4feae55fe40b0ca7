"""Calls from worker processes to the server, for what a job cannot read from the store: both ends of them."""

from botdrome.api.live_tables import glance, live_tables
from botdrome.games.game import View
from botdrome.server.arena import Arena, LiveTable
from botdrome.server.workers.jobs import ServerCaller
from botdrome.server.workers.link import ServerCalls
from botdrome.store.store import MatchEntry, Store


def server_calls(arena: Arena) -> ServerCalls:
    """The functions of the server, by name."""

    async def live(game: str | None) -> tuple[list[LiveTable], int]:
        return live_tables(arena.tables, game)

    async def view(match_id: str) -> View | None:
        return glance(arena.tables, match_id)

    async def protocols(match_id: str) -> dict[str, str]:
        return arena.protocols(match_id)

    async def contest_games() -> int:
        return arena.queue.contest_games

    async def awaited(contest: str) -> list[str]:
        return [] if arena.contests is None else arena.contests.awaited(contest)

    return {
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
        "withdraw": arena.withdraw,
    }


class ReadContext:
    """The context of a read-only request in a worker process: its own store, and calls to the server."""

    def __init__(self, server: ServerCaller, store: Store) -> None:
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

    async def contest_games(self) -> int:
        """Games each way for every pair in a contest."""
        return int(await self.server.call("contest_games"))
