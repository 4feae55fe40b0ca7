"""The pages that are built from `web/`, and a few plain ones. No page loads anything from another server."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).with_name("static")
WEB = STATIC / "web"
"""Built from `web/` by `python -m tools.web`."""
_CSP = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors "
CSP = _CSP + "'none'"
"""Nothing from other servers, and nothing inline."""
EMBED = "/embed/"
"""The only path whose pages other sites may show in a frame."""
EMBED_CSP = _CSP + "*"
SECTIONS = (
    "play",
    "matches",
    "bots",
    "contests",
    "tv",
    "organise",
    "open",
    "search",
    "duel",
    "profile",
    "history",
    "board",
    "embed",
)
"""The first parts of the paths of pages. The browser chooses the page: `web/src/router.ts`."""
GAMES = ("/games", "/games/{game}")
"""Paths below these are 404, as in Battlebot."""
NOT_BUILT = "The pages have not been built. Run `make setup` where the sources are, or install the wheel.\n"
FOR_EVER = "public, max-age=31536000, immutable"


def page(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        return FileResponse(STATIC / name, headers={"content-security-policy": CSP})

    return respond


async def shell(request: Request) -> Response:
    return shell_page(request.url.path)


def shell_page(path: str, status: int = 200) -> Response:
    """The one document of all pages."""
    if not (WEB / "index.html").exists():
        return PlainTextResponse(NOT_BUILT, 503)
    policy = EMBED_CSP if path.startswith(EMBED) else CSP
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return FileResponse(WEB / "index.html", status, headers)


class BuiltFiles(StaticFiles):
    """The scripts and styles of the pages, compressed at build time. The name of a chunk changes with its content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        packed = "gzip" in Headers(scope=scope).get("accept-encoding", "") and (WEB / f"{path}.gz").is_file()
        response = await super().get_response(f"{path}.gz" if packed else path, scope)
        response.headers["cache-control"] = FOR_EVER if path.startswith("chunks/") else "no-cache"
        response.headers.add_vary_header("accept-encoding")
        if packed:
            response.headers["content-encoding"] = "gzip"
        return response


def page_routes() -> list[BaseRoute]:
    paths = ["/", "/index.html", *GAMES, *(f"/{section}{rest}" for section in SECTIONS for rest in ("", "/{rest:path}"))]
    return [
        *(Route(path, shell) for path in paths),
        Route("/favicon.ico", page("icon.svg")),
        Mount("/static/web", BuiltFiles(directory=WEB, check_dir=False)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
