"""PageGuard: what web pages may ask of the HTTP stack, and the headers that tell browsers so (see `server/network/origins.py`).

| request | passes with |
|---|---|
| any | a known Host |
| GET and HEAD | any Origin; only trusted pages can read the answer |
| all that may change something; socket.io; WebSockets; requests with cookies | a trusted Origin, or none |
| any of these with a token | any Origin: no browser adds a token by itself |
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from botdrome.api.bodies import bearer
from botdrome.api.pages import EMBED
from botdrome.api.refusals import refused
from botdrome.api.socketio.query import PATH as SOCKETIO
from botdrome.server.network.origins import Origins
from botdrome.wire.safe_headers import SAFE_HEADERS

READS = ("GET", "HEAD", "OPTIONS")
NOTHING = "default-src 'none'; frame-ancestors 'none'"
PREFLIGHT_KEPT = "86400"
"""Seconds."""


class PageGuard:
    def __init__(self, app: ASGIApp, origins: Origins) -> None:
        self._app, self._origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        host, origin = _field(headers, "host"), _field(headers, "origin")

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._secure(MutableHeaders(scope=message), path, origin, host)
            await send(message)

        refusal = self._origins.refusal(host, origin or _unnamed(scope, headers), _open_to_all(scope, headers))
        if refusal is not None:
            return await refused(path, refusal.status, refusal.words)(scope, receive, send_safely)
        if _is_preflight(scope, headers):
            return await _allowed(headers)(scope, receive, send_safely)
        return await self._app(scope, receive, send_safely)

    def _secure(self, headers: MutableHeaders, path: str, origin: bytes | None, host: bytes | None) -> None:
        for name, value in SAFE_HEADERS:
            headers[name] = value
        if path.startswith(EMBED):
            del headers["x-frame-options"]
        headers.setdefault("content-security-policy", NOTHING)
        headers.setdefault("cross-origin-resource-policy", "cross-origin" if path.startswith("/socket.io") else "same-origin")
        headers.add_vary_header("origin")
        if origin is not None and self._origins.trusts(origin, host):
            headers["access-control-allow-origin"] = origin.decode("latin-1")
            headers["access-control-allow-credentials"] = "true"


def _field(headers: Headers, name: str) -> bytes | None:
    value = headers.get(name)
    return None if value is None else value.encode("latin-1")


def _changes(scope: Scope) -> bool:
    return scope["method"] not in READS or scope["path"] == SOCKETIO


def _unnamed(scope: Scope, headers: Headers) -> bytes | None:
    """What stands for the origin of a page that a browser does not name: a script from another site, say."""
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
    allowed = {"access-control-allow-methods": "GET, POST, PUT, DELETE", "access-control-allow-headers": wanted}
    return Response(status_code=204, headers=allowed | {"access-control-max-age": PREFLIGHT_KEPT})
