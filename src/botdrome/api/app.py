"""The application: all doors for people and tools under one roof."""

from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from botdrome.api.away import Away
from botdrome.api.duel import duel_pages
from botdrome.api.graphql.clerk import Clerk
from botdrome.api.graphql.door import GraphQLDoor
from botdrome.api.graphql.socket import GraphQLSocket
from botdrome.api.graphql.subscriptions import Subscriptions
from botdrome.api.pages import page_routes, shell_page
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import error_response
from botdrome.api.rest.routes import BASE, rest_routes
from botdrome.api.spectators import WatchEvents, WatchSocket
from botdrome.server.arena import Arena
from botdrome.server.operator.operator import Operator


class Api(Starlette):
    """All doors but those that players come in by."""

    def __init__(self, arena: Arena, operator: Operator | None) -> None:
        self._arena, away = arena, Away(arena)
        routes = [
            *duel_pages(arena),
            *page_routes(),
            *_graphql(away),
            *rest_routes(away, operator),
            *_watching(away),
        ]
        super().__init__(routes=routes, exception_handlers={HTTPException: _nothing_here})

    async def close(self) -> None:
        """While the store is still there: whoever is being answered gets the answer."""
        await self._arena.workers.close()


def make_app(arena: Arena, operator: Operator | None = None) -> Api:
    """Without an operator there are no endpoints for one."""
    return Api(arena, operator)


def _graphql(away: Away) -> list[BaseRoute]:
    clerk = Clerk(away)
    door, socket = GraphQLDoor(clerk), GraphQLSocket(Subscriptions(clerk))
    paths = ("/graphql", "/graphql/{rest:path}")
    return [*(Route(path, door) for path in paths), *(WebSocketRoute(path, socket) for path in paths)]


def _watching(away: Away) -> list[BaseRoute]:
    return [
        WebSocketRoute("/watch/{match}", WatchSocket(away)),
        Route("/watch/{match}/events", WatchEvents(away), methods=["GET"]),
    ]


async def _nothing_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = f"{request.method} {request.url.path}: {HTTPStatus(error.status_code).phrase.lower()}"
    if request.url.path.startswith((BASE, "/watch")):
        return error_response(Problem(words, error.status_code, error.headers))
    if error.status_code == HTTPStatus.NOT_FOUND and "text/html" in request.headers.get("accept", ""):
        return shell_page(request.url.path, error.status_code)
    return PlainTextResponse(words + "\n", error.status_code, error.headers)
