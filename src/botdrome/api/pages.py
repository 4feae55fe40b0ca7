"""Pages: the few of our own, none of which needs anything from elsewhere."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

STATIC = Path(__file__).with_name("static")
CSP = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def page(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        return FileResponse(STATIC / name, headers={"content-security-policy": CSP})

    return respond
