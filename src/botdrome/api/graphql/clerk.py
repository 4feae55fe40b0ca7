"""Clerk: has queries answered by the worker processes, away from the loop on which matches are played."""

from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Any, Protocol

from botdrome.api.graphql.asking import Asking
from botdrome.api.graphql.errands import errands
from botdrome.api.graphql.replies import Head, cut, words_of
from botdrome.server.arena import Arena
from botdrome.server.asker import ASKER
from botdrome.server.jobs import JobFailed
from botdrome.server.places import Places
from botdrome.server.worker_link import Result

WORK = "botdrome.api.graphql.work"
"""Named and not imported: reading GraphQL is for the workers, and the server need not have it in memory."""
MOST_WAITING = 400
"""Of which one address can have half."""
TOO_MANY = "Too many queries are waiting already; try again in a moment."


class Answer(Protocol):
    @property
    def head(self) -> Head: ...

    def pieces(self) -> AsyncGenerator[bytes, None]: ...

    def drop(self) -> None:
        """Nobody wants the rest."""


class Known:
    """An answer that is here already."""

    def __init__(self, body: bytes, status: int, allow: str | None = None) -> None:
        self.head, self._body = Head(len(body), status, allow), body

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        for piece in cut(self._body):
            yield piece

    def drop(self) -> None:
        pass


class Worked:
    """An answer that a worker has."""

    def __init__(self, result: Result) -> None:
        self.head: Head = result.value
        self.pieces, self.drop = result.pieces, result.drop


class Clerk:
    def __init__(self, arena: Arena) -> None:
        self.arena, self._errands, self._waiting = arena, errands(arena), Places(MOST_WAITING)

    async def answer(self, asking: Asking) -> Answer:
        try:
            return Worked(await self.have_done("answer", asking))
        except JobFailed as problem:
            return refused(str(problem), HTTPStatus.SERVICE_UNAVAILABLE)

    async def have_done(self, job: str, *args: Any) -> Result:
        """JobFailed where that is not possible."""
        asker, arena = ASKER.get(), self.arena
        if not self._waiting.take(asker):
            raise JobFailed(TOO_MANY)
        try:
            await arena.store.settled()
            return await arena.workers.run(
                asker, f"{WORK}:{job}", arena.store.source, *args, errands=self._errands, long=True
            )  # fmt: skip
        finally:
            self._waiting.leave(asker)


def refused(words: str, status: int, allow: str | None = None) -> Answer:
    return Known(words_of(words), status, allow)
