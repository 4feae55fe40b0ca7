"""Reading: what one request asks of the arena, each thing once."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, TypeVar

from graphql import GraphQLResolveInfo

from botdrome.api.graphql.workers import NoPhone
from botdrome.api.problems import Problem, Stopping
from botdrome.api.watching import glance
from botdrome.games.game import View
from botdrome.server.arena import Arena
from botdrome.store.store import BotEntry, Store

T = TypeVar("T")
Info = GraphQLResolveInfo[Any]
Phone = Callable[[], AbstractContextManager[None]]

AT_ONCE = 16
"""Questions of one request that the server's loop has to deal with at the same time."""


class Reading:
    """The arena belongs to the loop of the server; queries are worked on elsewhere. Whatever is asked is asked over there."""

    def __init__(self, arena: Arena, token: str | None, home: asyncio.AbstractEventLoop, phone: Phone, ended: Event) -> None:
        """`ended` is set when nothing can be asked any more."""
        self.arena, self.token = arena, token
        self._home, self._phone, self._ended = home, phone, ended
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._bots: dict[str, asyncio.Future[BotEntry | None]] = {}

    @property
    def store(self) -> Store:
        return self.arena.store

    async def ask(self, question: Coroutine[Any, Any, T]) -> T:
        async with self._turn:
            if self._ended.is_set():  # a loop that has ended does not answer, and whoever waits for it keeps the process
                question.close()
                raise Stopping
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(question, self._home))

    async def call(self, question: Coroutine[Any, Any, T]) -> T:
        """The same where a bot is called: its answer may take long, and nobody else has to wait for it."""
        try:
            with self._phone():
                return await self.ask(question)
        except NoPhone:
            question.close()
            raise Problem("Too many bots are being called just now: try again in a moment, or over REST.", 503) from None

    async def bot(self, name: str) -> BotEntry | None:
        if name not in self._bots:
            self._bots[name] = asyncio.ensure_future(self.ask(self.store.bot(name)))
        return await self._bots[name]

    async def holder(self, name: str) -> BotEntry:
        """The bot of that name, if its token came with the request."""
        bot = await self.ask(self.arena.holder(storable(name), self.token))
        if bot is None:
            raise Problem("The password of the bot is needed, in the header Authorization: Bearer PASSWORD", 403)
        return bot

    async def present_view(self, match_id: str) -> View | None:
        async def look() -> View | None:
            return glance(self.arena.tables, match_id)

        return await self.ask(look())


def storable(text: str) -> str:
    """A text that a database can look for."""
    if "\0" in text:
        raise Problem("a text must not contain the character NUL")
    return text
