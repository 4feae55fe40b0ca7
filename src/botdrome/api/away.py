"""Away: requests that are answered by the worker processes, away from the loop on which matches are played."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from botdrome.api.live import glance, live_tables
from botdrome.api.problems import Problem
from botdrome.games.game import View
from botdrome.server.arena import Arena, LiveTable
from botdrome.server.workers.asker import ASKER
from botdrome.server.workers.jobs import JobFailed
from botdrome.server.workers.places import Places
from botdrome.server.workers.pool import Workers
from botdrome.server.workers.worker_link import Errands, Result
from botdrome.store.store import BotEntry

MOST_WAITING = 400
"""Requests that wait for a worker. One address can have half of these places."""
MOST_FILES = 8
"""Files that wait for a worker or are with one. One address can have half of these places, too."""
TOO_MANY_FILES = "Too many files are being read already; try again in a moment."
PREPARED = "botdrome.api.rest.work:prepared"
MOST_WORKERS = 4
"""So many jobs at once reach all idle workers of the usual number."""
TOO_MANY = "Too many queries are waiting already; try again in a moment."


class Away:
    def __init__(self, arena: Arena) -> None:
        self.arena, self._errands = arena, errands(arena)
        self._waiting, self._files = Places(MOST_WAITING), Places(MOST_FILES)

    @contextmanager
    def file_place(self) -> Iterator[None]:
        """Room for a file that somebody sent; Problem where there is none."""
        asker = ASKER.get()
        if not self._files.take(asker):
            raise Problem(TOO_MANY_FILES, 503)
        try:
            yield
        finally:
            self._files.leave(asker)

    async def have_done(self, target: str, *args: Any) -> Result:
        """Have `target`, a `module:function`, called with the source of the store and these arguments, after all that was
        stored before. Problem where that is not possible."""
        asker, arena = ASKER.get(), self.arena
        if not self._waiting.take(asker):
            raise Problem(TOO_MANY, 503)
        try:
            await arena.store.settled()
            return await arena.workers.run(asker, target, arena.store.source, *args, errands=self._errands, long=True)
        except JobFailed as problem:
            raise Problem(str(problem), 503) from None
        finally:
            self._waiting.leave(asker)


async def prepare(workers: Workers) -> None:
    """Have the worker processes read the modules for requests now, which takes seconds: not when the first visitor comes."""
    with suppress(JobFailed):
        await asyncio.gather(*[workers.value("", PREPARED) for _ in range(MOST_WORKERS)])


def errands(arena: Arena) -> Errands:
    """What a request has the server do, where a worker process cannot do it by itself."""

    async def live(game: str | None) -> tuple[list[LiveTable], int]:
        return live_tables(arena.tables, game)

    async def view(match_id: str) -> View | None:
        return glance(arena.tables, match_id)

    async def protocols(match_id: str) -> dict[str, str]:
        return arena.protocols(match_id)

    async def contest_games() -> int:
        return arena.queue.contest_games

    async def enter(bot: BotEntry, contest: str) -> None:
        await arena.outreach.enter(bot, contest)

    async def withdraw(bot: BotEntry, contest: str) -> None:
        await arena.outreach.withdraw(bot, contest)

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
        "enter": enter,
        "withdraw": withdraw,
    }
