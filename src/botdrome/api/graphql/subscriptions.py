"""Subscriptions: what comes of a question, once or again and again."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec

from botdrome.api.graphql.bulletins import Bulletins
from botdrome.api.graphql.clerk import Clerk
from botdrome.api.graphql.replies import Plan
from botdrome.api.pieces import Head
from botdrome.api.problems import Problem
from botdrome.api.watching import Viewing
from botdrome.server.workers.worker_link import Result

LARGEST_MESSAGE = 1 << 20
"""Bytes of an answer that is sent as one message."""


class Unanswerable(Exception):
    """A question that cannot be answered, with errors as they are shown."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors)
        self.errors = errors


class Subscriptions:
    def __init__(self, clerk: Clerk) -> None:
        self._clerk, self._bulletins = clerk, Bulletins(clerk.away.arena.tables)

    async def results(self, payload: bytes, token: str | None) -> AsyncGenerator[msgspec.Raw, None]:
        """As they are sent. Unanswerable where it cannot be asked."""
        result = await self._clerk.have_done("begin", payload, token)
        if isinstance(result.value, list):
            raise Unanswerable(result.value)
        if isinstance(result.value, Head):
            yield msgspec.Raw(await _whole(result))
            return
        plan: Plan = result.value.plan
        make = partial(self._tables, payload)
        results = self._bulletins.follow(result.value.words, make) if plan.match is None else self._match(plan)
        async with aclosing(results):
            async for message in results:
                yield msgspec.Raw(message)

    async def _tables(self, payload: bytes) -> bytes:
        issue: bytes = (await self._clerk.have_done("tables", payload)).value
        return issue

    async def _match(self, plan: Plan) -> AsyncGenerator[bytes, None]:
        assert plan.match is not None
        begin = b'{"data":{' + msgspec.json.encode(plan.key) + b":"
        viewing = Viewing(self._clerk.away, plan.match)
        try:
            await viewing.enter()
            async with aclosing(viewing.messages()) as messages:
                async for message in messages:
                    yield begin + message + b"}}"
        finally:
            viewing.leave()


async def _whole(result: Result) -> bytes:
    length = result.value.length
    if length > LARGEST_MESSAGE:
        result.drop()
        raise Problem(
            f"The answer has {length} bytes, and a message at most {LARGEST_MESSAGE}: set a smaller limit, or use POST."
        )
    async with aclosing(result.pieces()) as pieces:
        return b"".join([piece async for piece in pieces])
