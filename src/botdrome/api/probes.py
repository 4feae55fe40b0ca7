"""Health, readiness and metrics, for monitoring."""

import asyncio
from collections.abc import Callable

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from botdrome.server.lobby.desk import Desk
from botdrome.store.entries import StoreUnavailable
from botdrome.store.store import Store

HEALTH, READINESS, METRICS = "/healthz", "/readyz", "/metrics"
PATHS = frozenset({HEALTH, READINESS, METRICS})
ANSWERING = 2.0
"""Seconds for the store to answer."""
KEPT_FOR = 1.0
"""Seconds for which the answer is reused."""


class StoreProbe:
    """Whether the store can be written and read, tried once for all concurrent requests."""

    def __init__(self, store: Store, clock: Callable[[], float] | None = None) -> None:
        self._store, self._clock = store, clock or asyncio.get_running_loop().time
        self._question: asyncio.Future[bool] | None = None
        self._asked = 0.0

    async def answers(self) -> bool:
        """A probe without an answer is not cancelled, since the database could not be told."""
        question, now = self._question, self._clock()
        if question is None or (question.done() and now - self._asked >= KEPT_FOR):
            question = self._question = asyncio.ensure_future(self._ask())
            self._asked = now
        await asyncio.wait([question], timeout=ANSWERING)
        return question.done() and question.result()

    async def _ask(self) -> bool:
        try:
            await self._store.probe()
        except StoreUnavailable:
            return False
        return True


def probe_routes(desk: Desk, store: Store) -> list[Route]:
    probe = StoreProbe(store)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        if desk.closing:
            return PlainTextResponse("stopping\n", 503)
        if desk.others.draining:
            return PlainTextResponse("drained\n", 503)
        if not desk.others.connected:
            return PlainTextResponse("NATS cannot be reached\n", 503)
        if not desk.workers.warm:
            return PlainTextResponse("starting\n", 503)
        if not await probe.answers():
            return PlainTextResponse("the store cannot be written\n", 503)
        return (
            PlainTextResponse(f"{desk.refusal}\n", 503)
            if desk.refusal
            else PlainTextResponse("ready\n")
        )

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return [Route(HEALTH, healthz), Route(READINESS, readyz), Route(METRICS, metrics)]
