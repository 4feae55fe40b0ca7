"""The context of one query in a worker process: a cache of its reads, and the truncated lists."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from graphql import GraphQLResolveInfo

from botdrome.api.arguments import storable
from botdrome.api.graphql.query import SubscriptionPlan
from botdrome.api.problems import Problem
from botdrome.api.server_calls import ReadContext
from botdrome.server.arena import LiveTable
from botdrome.server.workers.jobs import ServerCaller, WorkersBusy
from botdrome.store.store import BotEntry, Store

T = TypeVar("T")
Info = GraphQLResolveInfo[Any]

MOST_GAMES = 10_000
"""Games that one query is given, in all its lists together."""


class QueryContext(ReadContext):
    def __init__(
        self, server: ServerCaller, store: Store, token: str | None, planned: bool = False
    ) -> None:
        """`planned`: the query is a subscription that was planned before."""
        super().__init__(server, store)
        self.token, self.planned = token, planned
        self.plan: SubscriptionPlan | None = None
        self._games_left = MOST_GAMES
        self._bots: dict[str, asyncio.Future[BotEntry | None]] = {}
        self._live: dict[str | None, asyncio.Future[tuple[list[LiveTable], int]]] = {}
        self._truncated: list[dict[str, Any]] = []

    async def call_bot(self, name: str, *args: Any) -> Any:
        """A call to the server that calls a bot: while the bot takes long to answer, the worker
        runs other jobs.
        """
        try:
            return await self.server.call(name, *args, waits=True)
        except WorkersBusy:
            raise Problem(
                "Too many bots are being called just now: try again in a moment, or over REST.", 503
            ) from None

    async def bot(self, name: str) -> BotEntry | None:
        if name not in self._bots:
            self._bots[name] = asyncio.ensure_future(self.store.bot(name))
        return await self._bots[name]

    async def holder(self, name: str) -> BotEntry:
        """The bot of that name, if its token came with the request."""
        bot: BotEntry | None = await self.server.call("holder", storable(name), self.token)
        if bot is None:
            raise Problem(
                "The password of the bot is needed, in the header Authorization: Bearer PASSWORD",
                403,
            )
        return bot

    async def live(self, game: str | None) -> tuple[list[LiveTable], int]:
        """The running tables, and how many there are."""
        if game not in self._live:
            self._live[game] = asyncio.ensure_future(self.server.call("live", game))
        return await self._live[game]

    # Lists that are cut short.

    def games_allowed(self, wanted: int | None) -> int:
        return self._games_left if wanted is None else min(wanted, self._games_left)

    def take_games(self, number: int) -> None:
        self._games_left -= number

    def truncate(self, info: Info, given: Sequence[T], total: int) -> None:
        """Note that the list should have `total` entries."""
        if total > len(given):
            self._truncated.append(
                {"path": info.path.as_list(), "returned": len(given), "total": total}
            )

    @property
    def extensions(self) -> dict[str, Any] | None:
        return {"truncated": self._truncated} if self._truncated else None
