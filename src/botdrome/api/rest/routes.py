"""All endpoints of REST, and the routes to them."""

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from botdrome.api.pages import page
from botdrome.api.rest import (
    analysis,
    bots,
    classes,
    contest_meetings,
    contests,
    duel,
    hosting,
    matches,
    operator,
    pictures,
    portraits,
    server,
    webhooks,
)
from botdrome.api.rest.endpoint import MOST_FILES, RestEndpoint, document
from botdrome.server.arena import Arena
from botdrome.server.operator.operator import Operator
from botdrome.server.workers.jobs import SharedSlots

BASE = "/api/v1"
MODULES = (
    server, bots, portraits, matches, analysis, contests, contest_meetings, duel, classes,
    pictures, webhooks, hosting,
)  # fmt: skip
ENDPOINTS = [declared for module in MODULES for declared in module.endpoint.declared]
EVALUATING = analysis.evaluating.declared
OPERATOR_ENDPOINTS = [
    *operator.session_endpoint.declared,
    *operator.endpoint.declared,
    *classes.organising.declared,
    *hosting.organising.declared,
]


@cache
def openapi_document(operator: bool) -> bytes:
    """Made once a process, since it takes most of the time in which a server opens."""
    return document(BASE, [*ENDPOINTS, *EVALUATING, *(OPERATOR_ENDPOINTS if operator else ())])


def rest_routes(arena: Arena, operator: Operator | None) -> list[BaseRoute]:
    operators = [] if operator is None else OPERATOR_ENDPOINTS
    described = openapi_document(operator is not None)
    files, evaluations = SharedSlots(MOST_FILES), analysis.Evaluations(arena)

    def route(subject: Any, endpoint: RestEndpoint) -> Route:
        async def respond(request: Request) -> Response:
            return await endpoint.respond(arena, files, subject, request)

        return Route(BASE + endpoint.path, respond, methods=[endpoint.method])

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    return [
        *(route(arena, endpoint) for endpoint in ENDPOINTS),
        *(route(evaluations, endpoint) for endpoint in EVALUATING),
        *(route(operator, endpoint) for endpoint in operators),
        Route(f"{BASE}/openapi.json", openapi),
        Route(f"{BASE}/docs", page("rest.html")),
    ]
