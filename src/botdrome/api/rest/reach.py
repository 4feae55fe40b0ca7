"""Reach: what a request that only reads can get at, from a worker process."""

from botdrome.games.game import View
from botdrome.server.workers.jobs import Home
from botdrome.store.store import MatchEntry, Store


class Reach:
    def __init__(self, home: Home, store: Store) -> None:
        self._home, self.store = home, store

    async def owns(self, entry: MatchEntry, seat: int, token: str) -> bool:
        return bool(await self._home.ask("owns", entry, seat, token))

    async def present_view(self, match_id: str) -> View | None:
        view: View | None = await self._home.ask("view", match_id)
        return view

    async def protocols(self, match_id: str) -> dict[str, str]:
        """Of the connected players of a running match."""
        found: dict[str, str] = await self._home.ask("protocols", match_id)
        return found

    async def contest_games(self) -> int:
        """Games each way for every pair in a contest."""
        return int(await self._home.ask("contest_games"))
