"""The application: GraphQL, REST, spectators and pages."""

from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from botdrome.api.graphql.endpoint import GraphQLEndpoint, GraphQLSockets
from botdrome.api.pages import page_routes, shell_page
from botdrome.api.request_checks import RequestRate
from botdrome.api.requests import ORDERS, Problem
from botdrome.api.rest.duel import duel_pages
from botdrome.api.rest.endpoint import error_response
from botdrome.api.rest.routes import BASE, rest_routes
from botdrome.api.spectators import PREFIX, WatchEvents, watch_socket
from botdrome.server.arena import Arena
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.operator.operator import Operator
from botdrome.wire.safe_headers import plain_answer

WARM_UP = "botdrome.api.rest.executor:warm_up"
"""The first job of each worker process. Its argument is the source of the store."""
PRELOAD = "botdrome.api.rest.executor:preload"
"""The part of it that needs no store."""
NO_SOCKET = plain_answer("403 Forbidden", "there is no WebSocket at this address")


class Api(Starlette):
    """Requests and WebSockets of people and tools."""

    def __init__(
        self, arena: Arena, operator: Operator | None = None, rate: RequestRate | None = None
    ) -> None:
        """Without an operator there are no endpoints for one."""
        self._arena, self._rate, self._sockets = arena, rate, GraphQLSockets(arena)
        arena.workers.server, arena.workers.orders = arena, ORDERS
        graphql = GraphQLEndpoint(arena)
        routes = [
            *duel_pages(arena),
            *page_routes(arena),
            *(Route(path, graphql) for path in ("/graphql", "/graphql/{rest:path}")),
            *rest_routes(arena, operator),
            Route(PREFIX + "{match}/events", WatchEvents(arena), methods=["GET"]),
        ]
        super().__init__(routes=routes, exception_handlers={HTTPException: _http_error})

    def add_routes(self, routes: Sequence[BaseRoute]) -> None:
        """Routes of others, which come first."""
        self.router.routes[:0] = routes

    def receive_socket(
        self, target: str, headers: Mapping[bytes, bytes]
    ) -> SocketOptions | bytes | None:
        """Open a WebSocket of GraphQL or a spectator; bytes: the answer that refuses it; None: it
        is neither.
        """
        if b"sec-websocket-protocol" not in headers and not target.startswith(PREFIX):
            return None  # most are bots
        path = target.partition("?")[0]
        refusal = None if self._rate is None else partial(self._rate.refusal, path)
        graphql = self._sockets.receive(headers, refusal)
        if graphql is not None:
            return graphql if f"{path}/".startswith("/graphql/") else NO_SOCKET
        if path.startswith(PREFIX):
            return (
                NO_SOCKET
                if "/" in path.removeprefix(PREFIX)
                else watch_socket(self._arena, target, refusal)
            )
        return None

    async def close(self) -> None:
        """Running requests are answered while the store is still open."""
        await self._arena.workers.close()
        self._sockets.close()


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = f"{request.method} {request.url.path}: {HTTPStatus(error.status_code).phrase.lower()}"
    if request.url.path.startswith((BASE, "/watch")):
        return error_response(Problem(words, error.status_code, error.headers))
    if error.status_code == HTTPStatus.NOT_FOUND and "text/html" in request.headers.get(
        "accept", ""
    ):
        return shell_page(request.url.path, error.status_code)
    return PlainTextResponse(words + "\n", error.status_code, error.headers)
