"""Clerk: has queries answered by the worker processes, away from the loop on which matches are played."""

from collections.abc import AsyncGenerator
from typing import Any

from starlette.responses import Response

from botdrome.api.away import Away
from botdrome.api.graphql.asking import Asking
from botdrome.api.graphql.replies import head_of, words_of
from botdrome.api.pieces import InPieces
from botdrome.api.problems import Problem
from botdrome.server.workers.worker_link import Result

WORK = "botdrome.api.graphql.work"
"""Named and not imported: reading GraphQL is for the workers, and the server need not have it in memory."""


class Known:
    """An answer that is here already."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        yield self._body

    def drop(self) -> None:
        pass


class Clerk:
    def __init__(self, away: Away) -> None:
        self.away = away

    async def answer(self, asking: Asking) -> Response:
        try:
            result = await self.have_done("answer", asking)
            return InPieces(result.value, result)
        except Problem as problem:
            return refused(problem.words, problem.status)

    async def have_done(self, job: str, *args: Any) -> Result:
        """Problem where that is not possible."""
        return await self.away.have_done(f"{WORK}:{job}", *args)


def refused(words: str, status: int, allow: str = "") -> Response:
    body = words_of(words)
    return InPieces(head_of(body, status, allow), Known(body))
