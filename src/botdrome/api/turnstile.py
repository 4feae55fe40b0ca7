"""Turnstile: requests to the HTTP stack come in one by one, and from one address only so fast.

Between two requests everything else gets its turn: bots that move, beats that are due. Where many requests wait, each address
is let in as often as any other.
"""

import asyncio
from collections.abc import Callable
from math import ceil

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Receive, Scope, Send

from botdrome.api.probes import PATHS
from botdrome.api.refusals import refused
from botdrome.server import metrics
from botdrome.server.network.peer import PEER
from botdrome.server.network.rate_limit import Buckets
from botdrome.server.settings import Settings
from botdrome.server.workers.asker import ASKER, source_of
from botdrome.server.workers.turns import Turns

TOO_FAST = "Too many requests from your address: try again in a moment."


class Turn:
    """A request that waits until its address has its turn (see `server/network/shares.py`)."""

    later = 0.0005
    """Seconds of work on the loop for one request."""

    def __init__(self) -> None:
        self.come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def serve_held(self) -> bool:
        if not self.come.done():
            self.come.set_result(None)
        return False


class Turnstile:
    def __init__(self, app: ASGIApp, settings: Settings, has_session: Callable[[str], bool] = lambda _: False) -> None:
        """`has_session`: whether somebody is known to socket.io by this id."""
        self._app, self._loopback, self._has_session = app, settings.http_rate_loopback, has_session
        self._buckets = Buckets(settings.http_rate, settings.http_burst) if settings.http_rate else None
        self._turns: Turns[asyncio.Future[None]] = Turns(1.0)
        self._loop = asyncio.get_running_loop()
        self._turning = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client, peer = scope.get("client"), PEER.get()
        address = client[0] if client else ""
        if peer is not None:
            address = peer.client_of(",".join(Headers(scope=scope).getlist("x-forwarded-for")))
            scope["client"] = (address, 0 if client is None else client[1])
        source, local = source_of(address)
        ASKER.set(source)
        if self._buckets is not None and (self._loopback or not local) and not self._is_exempt(scope):
            seconds = self._buckets.too_fast(source)
            if seconds:
                metrics.REFUSED.labels("requests").inc()
                headers = {"retry-after": str(ceil(seconds)), "connection": "close"}  # what else it has sent is not answered
                return await refused(scope["path"], 429, TOO_FAST, headers)(scope, receive, send)
        turn = Turn()
        if peer is not None and peer.let_wait(turn):
            await turn.come
        if self._turning:
            await self._turn_of(source)
        else:
            self._turning = True
            self._loop.call_soon(self._turn)
        return await self._app(scope, receive, send)

    async def _turn_of(self, source: str) -> None:
        turn: asyncio.Future[None] = self._loop.create_future()
        self._turns.wait(source, turn)
        await turn

    def _turn(self) -> None:
        """Once each time round the loop, as long as somebody waits."""
        self._turning = bool(self._turns)
        if self._turning:
            _, _, turn = self._turns.next()
            if not turn.done():
                turn.set_result(None)
            self._loop.call_soon(self._turn)

    def _is_exempt(self, scope: Scope) -> bool:
        """Whoever looks after the server is to see it during a flood as well. Players of games by HTTP: many may sit behind one
        address, and each of them is limited by itself."""
        path = scope["path"]
        if path.startswith("/socket.io/"):
            return self._has_session(QueryParams(scope["query_string"]).get("sid", ""))
        return path in PATHS or path.startswith("/bomber/")
