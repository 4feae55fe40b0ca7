"""ASGI middleware that checks every HTTP request before the application answers it, and adds safe
headers to every answer.

| request | passes with |
|---|---|
| any | a known Host; at most `http.rate` requests a second from one address |
| GET and HEAD | any Origin; only trusted pages can read the answer |
| requests that may change something, or have cookies; socket.io | a trusted Origin, or none |
| any of these with a token | any Origin, since no browser adds a token by itself |

Requests start one by one: between two of them, everything else gets its turn. While many wait, the
addresses take turns.
"""

import asyncio
from collections.abc import Callable
from math import ceil

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from botdrome.api.engineio import BAD_REQUEST, FORBIDDEN, EngineError
from botdrome.api.engineio import PATH as SOCKETIO
from botdrome.api.pages import EMBED
from botdrome.api.probes import PATHS
from botdrome.api.requests import bearer, json_response
from botdrome.server import metrics
from botdrome.server.network.connection import source_of
from botdrome.server.network.limits import Buckets
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import current_peer
from botdrome.server.settings import Settings
from botdrome.server.workers.jobs import set_source
from botdrome.server.workers.pool import FairTurns
from botdrome.wire.safe_headers import SAFE_HEADERS, plain_answer

TOO_FAST = "Too many requests from your address: try again in a moment."
READS = ("GET", "HEAD", "OPTIONS")
NOTHING = "default-src 'none'; frame-ancestors 'none'"
PREFLIGHT_KEPT = "86400"
"""Seconds."""


class RequestRate:
    """How many requests a second each address may send."""

    def __init__(self, settings: Settings) -> None:
        self._loopback = settings.http.rate_loopback
        self._buckets = (
            Buckets(settings.http.rate, settings.http.burst) if settings.http.rate else None
        )

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


class WaitingRequest:
    """A request of an address that has used up its budget (see `server/network/peer.py`)."""

    later = 0.0005
    """Seconds of work on the loop for one request."""

    def __init__(self) -> None:
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def serve_held(self) -> bool:
        if not self.turn.done():
            self.turn.set_result(None)
        return False


class RequestChecks:
    def __init__(
        self,
        app: ASGIApp,
        origins: Origins,
        rate: RequestRate,
        has_session: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`has_session`: whether socket.io has a session of this id."""
        self._app, self._origins, self._rate, self._has_session = app, origins, rate, has_session
        self._turns: FairTurns[asyncio.Future[None]] = FairTurns(1.0)
        self._loop = asyncio.get_running_loop()
        self._starting = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        host, origin = _field(headers, "host"), _field(headers, "origin")

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._secure(MutableHeaders(scope=message), path, origin, host)
            await send(message)

        refusal = self._origins.refusal(
            host, origin or _unnamed(scope, headers), _open_to_all(scope, headers)
        )
        if refusal is not None:
            return await refused(path, refusal.status, refusal.words)(scope, receive, send_safely)
        if _is_preflight(scope, headers):
            return await _allowed(headers)(scope, receive, send_safely)
        seconds = await self._admit(scope, headers)
        if seconds:
            limited = {
                "retry-after": str(seconds),
                "connection": "close",
            }  # later requests on this connection are not answered
            return await refused(path, 429, TOO_FAST, limited)(scope, receive, send_safely)
        return await self._app(scope, receive, send_safely)

    async def _admit(self, scope: Scope, headers: Headers) -> int:
        """Wait for the turn of this request.

        Return 0, or the seconds to wait if the address sends too many.
        """
        client, peer = scope.get("client"), current_peer()
        address = client[0] if client else ""
        if peer is not None:
            address = peer.client_of(",".join(headers.getlist("x-forwarded-for")))
            scope["client"] = (address, 0 if client is None else client[1])
        source, _ = source_of(address)
        set_source(source)
        if not self._is_exempt(scope) and (seconds := self._rate.wait(address)):
            return seconds
        waiting = WaitingRequest()
        if peer is not None and peer.let_wait(waiting):
            await waiting.turn
        if self._starting:
            turn: asyncio.Future[None] = self._loop.create_future()
            self._turns.wait(source, turn)
            await turn
        else:
            self._starting = True
            self._loop.call_soon(self._start_next)
        return 0

    def _start_next(self) -> None:
        """Once each iteration of the loop, while requests wait."""
        self._starting = bool(self._turns)
        if self._starting:
            _, _, turn = self._turns.next()
            if not turn.done():
                turn.set_result(None)
            self._loop.call_soon(self._start_next)

    def _is_exempt(self, scope: Scope) -> bool:
        """Monitoring works during a flood. Sessions of socket.io have limits of their own."""
        path = scope["path"]
        if path.startswith(SOCKETIO):
            return self._has_session(QueryParams(scope["query_string"]).get("sid", ""))
        return path in PATHS

    def _secure(
        self, headers: MutableHeaders, path: str, origin: bytes | None, host: bytes | None
    ) -> None:
        for name, value in SAFE_HEADERS:
            headers[name] = value
        if path.startswith(EMBED):
            del headers["x-frame-options"]
        headers.setdefault("content-security-policy", NOTHING)
        headers.setdefault(
            "cross-origin-resource-policy",
            "cross-origin" if path.startswith("/socket.io") else "same-origin",
        )
        headers.add_vary_header("origin")
        if origin is not None and self._origins.trusts(origin, host):
            headers["access-control-allow-origin"] = origin.decode("latin-1")
            headers["access-control-allow-credentials"] = "true"


def refused(path: str, status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    """An error in the format of the API at this path."""
    if path.startswith("/graphql"):
        return json_response({"errors": [{"message": words}]}, status, headers)
    if path.startswith(("/api/", "/watch/")):
        return json_response({"error": words}, status, headers)
    if path.startswith(SOCKETIO):
        code = FORBIDDEN if status == 403 else BAD_REQUEST
        return json_response(EngineError(code, words).answer, status, headers)
    return PlainTextResponse(words + "\n", status, headers)


def _field(headers: Headers, name: str) -> bytes | None:
    value = headers.get(name)
    return None if value is None else value.encode("latin-1")


def _changes(scope: Scope) -> bool:
    return scope["method"] not in READS or scope["path"] == SOCKETIO


def _unnamed(scope: Scope, headers: Headers) -> bytes | None:
    """Return the origin `null` for a request of another site whose browser sends no
    Origin header.
    """
    return b"null" if _changes(scope) and headers.get("sec-fetch-site") == "cross-site" else None


def _open_to_all(scope: Scope, headers: Headers) -> bool:
    if bearer(headers.get("authorization", "")):
        return True
    return not _changes(scope) and not _is_preflight(scope, headers) and "cookie" not in headers


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """A browser asks whether a page may send a request."""
    return scope["method"] == "OPTIONS" and "access-control-request-method" in headers


def _allowed(headers: Headers) -> Response:
    wanted = headers.get("access-control-request-headers", "content-type")
    allowed = {
        "access-control-allow-methods": "GET, POST, PUT, DELETE",
        "access-control-allow-headers": wanted,
    }
    return Response(status_code=204, headers=allowed | {"access-control-max-age": PREFLIGHT_KEPT})
