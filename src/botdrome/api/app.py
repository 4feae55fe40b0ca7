"""The application: all doors for people and tools under one roof."""

from http import HTTPStatus

from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from botdrome.api.duel import duel_pages
from botdrome.api.graphql.clerk import Clerk
from botdrome.api.graphql.door import GraphQLDoor
from botdrome.api.graphql.socket import GraphQLSocket
from botdrome.api.graphql.subscriptions import Subscriptions
from botdrome.api.pages import STATIC, page
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import error_response
from botdrome.api.rest.routes import BASE, rest_routes
from botdrome.api.spectators import WatchEvents, WatchSocket
from botdrome.server.arena import Arena

REPLAYS_AT_ONCE = 2


class Api(Starlette):
    """All doors but those that players come in by."""

    def __init__(self, arena: Arena) -> None:
        replays = CapacityLimiter(REPLAYS_AT_ONCE)
        self._arena = arena
        routes = [
            *_pages(),
            *duel_pages(arena),
            *_graphql(arena, replays),
            *rest_routes(arena),
            *_watching(arena, replays),
        ]
        super().__init__(routes=routes, exception_handlers={HTTPException: _nothing_here})

    async def close(self) -> None:
        """While the store is still there: whoever is being answered gets the answer."""
        await self._arena.workers.close()


def make_app(arena: Arena) -> Api:
    return Api(arena)


def _pages() -> list[BaseRoute]:
    return [
        Route("/", page("index.html")),
        Route("/index.html", page("index.html")),
        Route("/favicon.ico", page("icon.svg")),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


def _graphql(arena: Arena, replays: CapacityLimiter) -> list[BaseRoute]:
    clerk = Clerk(arena)
    door, socket = GraphQLDoor(clerk), GraphQLSocket(Subscriptions(clerk, replays))
    paths = ("/graphql", "/graphql/{rest:path}")
    return [*(Route(path, door) for path in paths), *(WebSocketRoute(path, socket) for path in paths)]


def _watching(arena: Arena, replays: CapacityLimiter) -> list[BaseRoute]:
    return [
        WebSocketRoute("/watch/{match}", WatchSocket(arena, replays)),
        Route("/watch/{match}/events", WatchEvents(arena, replays), methods=["GET"]),
    ]


async def _nothing_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = f"{request.method} {request.url.path}: {HTTPStatus(error.status_code).phrase.lower()}"
    if request.url.path.startswith((BASE, "/watch")):
        return error_response(Problem(words, error.status_code, error.headers))
    return PlainTextResponse(words + "\n", error.status_code, error.headers)
