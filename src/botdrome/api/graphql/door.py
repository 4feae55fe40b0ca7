"""The door of GraphQL: HTTP as the original spoke it, and GraphiQL for whoever comes with a browser."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from botdrome.api.bodies import bearer, whole_body
from botdrome.api.graphql.asking import Asking
from botdrome.api.graphql.clerk import Clerk, refused
from botdrome.api.graphql.graphiql import graphiql
from botdrome.api.problems import Problem


class GraphQLDoor:
    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "GET" and prefers_html(request.headers.get("accept", "")):
            return await graphiql()(scope, receive, send)
        return await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "POST"):
            return refused("GraphQL only supports GET and POST requests.", 405, "GET, POST")
        by_get, headers = request.method == "GET", request.headers
        try:
            body = b"" if by_get else await whole_body(request)
        except Problem as problem:
            return refused(problem.words, problem.status)
        asking = Asking(
            query_string=request.url.query,
            kind=headers.get("content-type", ""),
            packing=headers.get("content-encoding", ""),
            body=body,
            by_get=by_get,
            token=bearer(headers.get("authorization", "")),
        )
        return await self._clerk.answer(asking)


def prefers_html(accept: str) -> bool:
    """Whether a page is liked better than JSON."""
    likes: dict[str, float] = {}
    for kind in accept.split(","):
        name, _, parameters = kind.partition(";")
        likes[name.strip().lower()] = _quality(parameters)
    html, json = likes.get("text/html", 0.0), likes.get("application/json", 0.0)
    if html == json:
        names = list(likes)
        return html > 0 and names.index("text/html") < names.index("application/json")
    return html > json


def _quality(parameters: str) -> float:
    try:
        return float(parameters.replace(" ", "").partition("q=")[2] or 1)
    except ValueError:
        return 1.0
