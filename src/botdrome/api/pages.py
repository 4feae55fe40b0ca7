"""The pages that are built from `web/`, and a few plain ones.

No page loads anything from another server.
"""

import asyncio
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from botdrome.catalogue import CATALOGUE
from botdrome.server.arena import Arena
from botdrome.store.entries import BrokenMatch, MatchEntry, StoreDamaged, StoreUnavailable

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
TITLE = "Botdrome"
LONGEST_LOOK = 10.0
"""Seconds in which the store can tell the words of a match; then its page has the general ones."""
DESCRIPTION = (
    "Botdrome: bots in any language play six games against each other. Watch, replay and play."
)
"""As in `web/src/index.html`, where a page has no words of its own."""
MOST_NAMED = 3
"""The players that a title names."""
FOR_EVER = "public, max-age=31536000, immutable"


def page(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        return FileResponse(STATIC / name, headers={"content-security-policy": CSP})

    return respond


class Shell:
    """Answers all addresses of pages."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def respond(self, request: Request) -> Response:
        path, named = request.url.path, request.path_params
        known = named.get("game", GAME) in CATALOGUE and named.get("name") != ""
        words = await self._words(path, named) if known else (TITLE, DESCRIPTION)
        public = self._arena.addresses.url
        return shell_page(path, 200 if known else 404, *words, f"{public}{path}" if public else "")

    async def _words(self, path: str, named: dict[str, str]) -> tuple[str, str]:
        """The title and the description of a page, for search engines and previews of links."""
        if "id" in named and not path.startswith("/board/"):
            try:
                async with asyncio.timeout(LONGEST_LOOK):
                    entry = await self._arena.store.match(named["id"])
            except (BrokenMatch, StoreDamaged, StoreUnavailable, TimeoutError):
                entry = None
            return (TITLE, DESCRIPTION) if entry is None else match_words(entry)
        game, name = named.get("game"), named.get("name")
        if name is not None:
            what = f"A contest of {game}" if game else "A player: rating, results and matches"
            return f"{name} · {TITLE}", f"{what}, on Botdrome."
        if game is not None:
            return f"{game} · {TITLE}", f"{game} on Botdrome: rules, leaderboard and house bots."
        return TITLE, DESCRIPTION


def match_words(entry: MatchEntry) -> tuple[str, str]:
    """The title of a match, and its game and result."""
    names, others = entry.players[:MOST_NAMED], len(entry.players) - MOST_NAMED
    title = " – ".join([*names, *([f"{others} others"] if others > 0 else ())])
    result = entry.result
    if entry.status == "running":
        outcome = "live"
    elif result is None or result.aborted:
        outcome = "aborted"
    else:
        outcome = "a draw" if result.winner is None else f"{entry.players[result.winner]} wins"
    contest = "" if entry.contest is None else f", in {entry.contest}"
    return f"{title} · {TITLE}", f"{entry.game}{contest}: {outcome}."


def shell_page(
    path: str, status: int = 200, title: str = TITLE, description: str = DESCRIPTION, url: str = ""
) -> Response:
    """The one document of all pages, with the words of one."""
    if not (WEB / "index.html").exists():
        return PlainTextResponse(NOT_BUILT, 503)
    about = {"title": title, "description": description, "site_name": TITLE, "type": "website"}
    about |= {"url": url} if url else {}
    tags = [
        f'<meta property="og:{name}" content="{escape(words)}">' for name, words in about.items()
    ]
    text = (WEB / "index.html").read_text()
    text = text.replace(escape(DESCRIPTION), escape(description), 1)
    head = "\n  ".join([f"<title>{escape(title)}</title>", *tags])
    policy = EMBED_CSP if path.startswith(EMBED) else CSP
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return HTMLResponse(text.replace(f"<title>{TITLE}</title>", head, 1), status, headers)


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


def page_routes(arena: Arena) -> list[BaseRoute]:
    shell = Shell(arena)
    return [
        *(Route(path, shell.respond) for path in ("/index.html", "/bots/", *PAGES)),
        Route("/favicon.ico", page("icon.svg")),
        Mount("/static/web", BuiltFiles(directory=WEB, check_dir=False)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
