"""The pages that are built from `web/`, and a few plain ones.

No page loads anything from another server.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from botdrome.catalogue import CATALOGUE

STATIC = Path(__file__).with_name("static")
WEB = STATIC / "web"
"""Built from `web/` by `python -m tools.web`."""
_CSP = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors "
)
CSP = _CSP + "'none'"
"""Nothing from other servers, and nothing inline."""
EMBED = "/embed/"
"""The only path whose pages other sites may show in a frame."""
EMBED_CSP = _CSP + "*"
PAGES = (
    "/", "/play", "/play/{game}", "/matches", "/matches/{id}", "/matches/{id}/why/{seat}",
    "/matches/{id}/continue", "/games",
    "/games/{game}", "/bots", "/bots/{name:path}", "/contests", "/contests/{game}/{name:path}",
    "/tv", "/organise", "/organise/{part}", "/open", "/search", "/duel", "/profile/{name:path}",
    "/history", "/board/{id}", "/embed/{id}",
)  # fmt: skip
"""The paths of pages, as in `web/src/router.ts`. All others are 404."""
GAME = next(iter(CATALOGUE))
NOT_BUILT = (
    "The pages have not been built. Run `make setup` where the sources are, or install the wheel.\n"
)
FOR_EVER = "public, max-age=31536000, immutable"


def page(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        return FileResponse(STATIC / name, headers={"content-security-policy": CSP})

    return respond


async def shell(request: Request) -> Response:
    named = request.path_params
    known = named.get("game", GAME) in CATALOGUE and named.get("name") != ""
    return shell_page(request.url.path, 200 if known else 404)


def shell_page(path: str, status: int = 200) -> Response:
    """The one document of all pages."""
    if not (WEB / "index.html").exists():
        return PlainTextResponse(NOT_BUILT, 503)
    policy = EMBED_CSP if path.startswith(EMBED) else CSP
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return FileResponse(WEB / "index.html", status, headers)


class BuiltFiles(StaticFiles):
    """The scripts and styles of the pages, compressed at build time.

    The name of a chunk changes with its content.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        packed = (
            "gzip" in Headers(scope=scope).get("accept-encoding", "")
            and (WEB / f"{path}.gz").is_file()
        )
        response = await super().get_response(f"{path}.gz" if packed else path, scope)
        response.headers["cache-control"] = FOR_EVER if path.startswith("chunks/") else "no-cache"
        response.headers.add_vary_header("accept-encoding")
        if packed:
            response.headers["content-encoding"] = "gzip"
        return response


def page_routes() -> list[BaseRoute]:
    return [
        *(Route(path, shell) for path in ("/index.html", "/bots/", *PAGES)),
        Route("/favicon.ico", page("icon.svg")),
        Mount("/static/web", BuiltFiles(directory=WEB, check_dir=False)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
