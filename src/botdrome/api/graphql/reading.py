"""Reading: what one query asks of the store and of the server, each thing once."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from graphql import GraphQLResolveInfo

from botdrome.api.graphql.replies import Plan
from botdrome.api.problems import Problem
from botdrome.games.game import View
from botdrome.server.arena import LiveTable
from botdrome.server.workers.jobs import Home, WorkersBusy
from botdrome.store.store import BotEntry, Store

T = TypeVar("T")
Info = GraphQLResolveInfo[Any]

MOST_GAMES = 10_000
"""Games that one query is given, in all its lists together."""


class Reading:
    """Queries are worked on in another process than the server's, with a connection to the store of its own. What belongs to
    the server, such as its running tables and every change, is asked for at home."""

    def __init__(self, home: Home, store: Store, token: str | None, begun: bool = False) -> None:
        """`begun`: a subscription that was planned before."""
        self.home, self.store, self.token, self.begun = home, store, token, begun
        self.plan: Plan | None = None
        self._games_left = MOST_GAMES
        self._bots: dict[str, asyncio.Future[BotEntry | None]] = {}
        self._live: dict[str | None, asyncio.Future[tuple[list[LiveTable], int]]] = {}
        self._truncated: list[dict[str, Any]] = []

    async def call(self, errand: str, *args: Any) -> Any:
        """An errand for which a bot is called: its answer may take long, and nobody else has to wait for it."""
        try:
            return await self.home.ask(errand, *args, waits=True)
        except WorkersBusy:
            raise Problem("Too many bots are being called just now: try again in a moment, or over REST.", 503) from None

    async def bot(self, name: str) -> BotEntry | None:
        if name not in self._bots:
            self._bots[name] = asyncio.ensure_future(self.store.bot(name))
        return await self._bots[name]

    async def holder(self, name: str) -> BotEntry:
        """The bot of that name, if its token came with the request."""
        bot: BotEntry | None = await self.home.ask("holder", storable(name), self.token)
        if bot is None:
            raise Problem("The password of the bot is needed, in the header Authorization: Bearer PASSWORD", 403)
        return bot

    async def present_view(self, match_id: str) -> View | None:
        view: View | None = await self.home.ask("view", match_id)
        return view

    async def live(self, game: str | None) -> tuple[list[LiveTable], int]:
        """The running tables, and how many there are."""
        if game not in self._live:
            self._live[game] = asyncio.ensure_future(self.home.ask("live", game))
        return await self._live[game]

    # What is left out.

    def games_allowed(self, wanted: int | None) -> int:
        return self._games_left if wanted is None else min(wanted, self._games_left)

    def take_games(self, number: int) -> None:
        self._games_left -= number

    def truncate(self, info: Info, given: Sequence[T], total: int) -> None:
        """Note that a list should be longer: `total` entries from where it begins."""
        if total > len(given):
            self._truncated.append({"path": info.path.as_list(), "returned": len(given), "total": total})

    @property
    def extensions(self) -> dict[str, Any] | None:
        return {"truncated": self._truncated} if self._truncated else None


def storable(text: str) -> str:
    """A text that a database can look for."""
    if "\0" in text:
        raise Problem("a text must not contain the character NUL")
    return text
