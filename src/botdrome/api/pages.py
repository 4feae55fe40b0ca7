"""The pages that are built from `web/`, and a few plain ones.

No page loads anything from another server.
"""

import asyncio
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from botdrome.catalogue import CATALOGUE
from botdrome.drawing import HEIGHT, WIDTH, titled
from botdrome.server.arena import Arena
from botdrome.store.contest_journal import ContestReader, UnknownContest
from botdrome.store.entries import BrokenMatch, MatchEntry, StoreDamaged, StoreUnavailable, Wanted

STATIC = Path(__file__).with_name("static")
WEB = STATIC / "web"
"""Built from `web/` by `python -m tools.web`."""
SITE = Path(__file__).with_name("site")
"""The documentation, built by `python -m tools.docs`, with its own policy."""
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
    "/tv", "/organise", "/organise/{part}", "/open", "/search", "/compare", "/duel",
    "/profile/{name:path}", "/history", "/board/{id}", "/embed/{id}", "/join-class", "/class",
    "/upload",
)  # fmt: skip
"""The paths of pages, as in `web/src/router.ts`. All others are 404."""
GAME = next(iter(CATALOGUE))
NOT_BUILT = (
    "The pages have not been built. Run `make setup` where the sources are, or install the wheel.\n"
)
NO_DOCS = "The documentation has not been built. Run `make docs` where the sources are.\n"
TITLE = "Botdrome"
LONGEST_LOOK = 10.0
"""Seconds in which the store can tell the words of a match; then its page has the general ones."""
DESCRIPTION = (
    "Botdrome: bots in any language play six games against each other. Watch, replay and play."
)
"""As in `web/src/index.html`, where a page has no words of its own."""
MOST_NAMED = 3
"""The players that a title names."""
PICTURES = "/api/v1/pictures"
"""The address of a picture follows it, as pages have theirs."""
UNQUOTED = "/:@!$&'()*+,;=~"
"""The characters of a path that need no escape."""
FOR_EVER = "public, max-age=31536000, immutable"


def page(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        return FileResponse(STATIC / name, headers={"content-security-policy": CSP})

    return respond


class PageWords(Struct, frozen=True):
    """Title, description and picture of a page, for search engines and previews of links."""

    title: str = TITLE
    description: str = DESCRIPTION
    picture: str = "/"
    """The path of its picture below `PICTURES`."""


GENERAL = PageWords()


class Shell:
    """Answers all addresses of pages."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def respond(self, request: Request) -> Response:
        path, named = request.scope["path"], request.path_params
        known = named.get("game", GAME) in CATALOGUE and named.get("name") != ""
        words = await self._words(path, named) if known else GENERAL
        return shell_page(path, 200 if known else 404, words, self._arena.addresses.url or "")

    async def _words(self, path: str, named: dict[str, str]) -> PageWords:
        """The general words if the page is about nothing that the store knows."""
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                return (None if "\0" in path else await self._found(path, named)) or GENERAL
        except (BrokenMatch, StoreDamaged, StoreUnavailable, TimeoutError):
            return GENERAL

    async def _found(self, path: str, named: dict[str, str]) -> PageWords | None:
        game, name = named.get("game"), named.get("name")
        if path.startswith("/board/"):
            return None
        if "id" in named:
            entry = await self._arena.store.match(named["id"])
            return None if entry is None else _match_page(entry)
        if game is not None and name is not None:
            return await self._contest_words(game, name)
        if name is not None:
            return await self._player_words(name)
        if game is None:
            return None
        title = titled(game)
        about = f"{title} on Botdrome: rules, leaderboard and house bots."
        return PageWords(f"{title} · {TITLE}", about, f"/games/{game}")

    async def _contest_words(self, game: str, name: str) -> PageWords | None:
        title, store = name, self._arena.store
        try:
            document = (await ContestReader(store).entry(name)).document
            title = document.title or name
        except UnknownContest:
            if not await store.matches(Wanted(game=game, contest=name, limit=1)):
                return None
        about = f"A contest of {titled(game)}, on Botdrome."
        return PageWords(f"{title} · {TITLE}", about, f"/contests/{game}/{name}")

    async def _player_words(self, name: str) -> PageWords | None:
        store = self._arena.store
        if await store.bot(name) is None and not await store.matches(
            Wanted(all_of=[name], limit=1)
        ):
            return None
        about = "A player: rating, results and matches, on Botdrome."
        return PageWords(f"{name} · {TITLE}", about, f"/bots/{name}")


def _match_page(entry: MatchEntry) -> PageWords:
    return PageWords(*match_words(entry), f"/matches/{entry.id}")


def match_words(entry: MatchEntry) -> tuple[str, str]:
    """The title of a match, and its game and result."""
    names, others = entry.players[:MOST_NAMED], len(entry.players) - MOST_NAMED
    title = " – ".join([*names, *([f"{others} others"] if others > 0 else ())])
    contest = "" if entry.contest is None else f", in {entry.contest}"
    return f"{title} · {TITLE}", f"{titled(entry.game)}{contest}: {ending_words(entry)}."


def ending_words(entry: MatchEntry) -> str:
    result = entry.result
    if entry.status == "running":
        return "live"
    if result is None or result.aborted:
        return "aborted"
    return "a draw" if result.winner is None else f"{entry.players[result.winner]} wins"


def shell_page(
    path: str, status: int = 200, words: PageWords = GENERAL, public: str = ""
) -> Response:
    """The one document of all pages, with the words of one. `public` is the URL of the server."""
    if not (WEB / "index.html").exists():
        return PlainTextResponse(NOT_BUILT, 503)
    title, description = words.title, words.description
    about = {"title": title, "description": description, "site_name": TITLE, "type": "website"}
    if public:
        picture = public + PICTURES + quote(words.picture, UNQUOTED)
        about |= {"url": public + quote(path, UNQUOTED), "image": picture, "image:alt": title}
        about |= {"image:width": str(WIDTH), "image:height": str(HEIGHT)}
    tags = [f'<meta property="og:{name}" content="{escape(text)}">' for name, text in about.items()]
    card = ['<meta name="twitter:card" content="summary_large_image">'] if public else []
    text = (WEB / "index.html").read_text()
    text = text.replace(escape(DESCRIPTION), escape(description), 1)
    head = "\n  ".join([f"<title>{escape(title)}</title>", *tags, *card])
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


class DocumentationSite(StaticFiles):
    """The documentation, under a policy with the hashes of the scripts in its pages."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True, check_dir=False)
        self._policy = folder / "policy.txt"

    async def check_config(self) -> None:
        """The folder is missing until the site is built."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        if not self._policy.exists():
            return PlainTextResponse(NO_DOCS, 503)
        response = await super().get_response(path, scope)
        response.headers["content-security-policy"] = self._policy.read_text()
        response.headers["cache-control"] = "no-cache"
        return response


def page_routes(arena: Arena) -> list[BaseRoute]:
    shell = Shell(arena)
    return [
        *(Route(path, shell.respond) for path in ("/index.html", "/bots/", *PAGES)),
        Route("/favicon.ico", page("icon.svg")),
        Mount("/docs", DocumentationSite(SITE)),
        Mount("/static/web", BuiltFiles(directory=WEB, check_dir=False)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
