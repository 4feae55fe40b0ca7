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
from botdrome.server.workers.turns import FairTurns
from botdrome.wire.safe_headers import plain_answer

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


class RequestRate:
    """How many requests a second each address may send."""

    def __init__(self, settings: Settings) -> None:
        self._loopback = settings.http.rate_loopback
        self._buckets = Buckets(settings.http.rate, settings.http.burst) if settings.http.rate else None

    def wait(self, address: str) -> int:
        """Seconds until the next request from this address is allowed; 0: it is allowed now."""
        source, local = source_of(address)
        if self._buckets is None or (local and not self._loopback):
            return 0
        seconds = self._buckets.too_fast(source)
        if seconds:
            metrics.REFUSED.labels("requests").inc()
        return ceil(seconds)

    def refusal(self, path: str, address: str) -> bytes:
        """The answer that refuses a WebSocket; nothing: it is allowed."""
        seconds = self.wait(address)
        if not seconds:
            return b""
        answer = refused(path, 429, TOO_FAST)
        words, media = bytes(answer.body).decode(), answer.headers["content-type"]
        return plain_answer("429 Too Many Requests", words, f"Retry-After: {seconds}\r\n", media)


class Turnstile:
    def __init__(self, app: ASGIApp, rate: RequestRate, has_session: Callable[[str], bool] = lambda _: False) -> None:
        """`has_session`: whether somebody is known to socket.io by this id."""
        self._app, self._rate, self._has_session = app, rate, has_session
        self._turns: FairTurns[asyncio.Future[None]] = FairTurns(1.0)
        self._loop = asyncio.get_running_loop()
        self._turning = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client, peer = scope.get("client"), PEER.get()
        address = client[0] if client else ""
        if peer is not None:
            address = peer.client_of(",".join(Headers(scope=scope).getlist("x-forwarded-for")))
            scope["client"] = (address, 0 if client is None else client[1])
        source, _ = source_of(address)
        ASKER.set(source)
        if not self._is_exempt(scope) and (seconds := self._rate.wait(address)):
            headers = {"retry-after": str(seconds), "connection": "close"}  # what else it has sent is not answered
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
        return path in PATHS
