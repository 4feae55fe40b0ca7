"""GraphQL by HTTP, as the original spoke it, with GraphiQL for browsers."""

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from botdrome.api.bodies import JSON, PiecewiseResponse, bearer, whole_body
from botdrome.api.graphql.query import HttpQuery, error_body
from botdrome.api.pages import CSP, STATIC
from botdrome.api.problems import Problem, known_problem
from botdrome.server.arena import Arena
from botdrome.server.workers.jobs import JobFailed

EXECUTOR = "botdrome.api.graphql.executor"
"""Named and not imported: the server itself does not need graphql-core in its memory."""
GRAPHIQL = STATIC / "graphiql"
GRAPHIQL_CSP = (
    f"{CSP}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' "
    "data:; connect-src 'self' ws: wss:"
)
"""GraphiQL writes styles into its page.

Some browsers do not count a WebSocket to the same server as 'self'.
"""


class GraphQLEndpoint:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "GET" and prefers_html(request.headers.get("accept", "")):
            return await graphiql()(scope, receive, send)
        return await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "POST"):
            return refused(
                Problem("GraphQL only supports GET and POST requests.", 405, {"allow": "GET, POST"})
            )
        by_get, headers = request.method == "GET", request.headers
        try:
            query = HttpQuery(
                query_string=request.url.query,
                content_type=headers.get("content-type", ""),
                encoding=headers.get("content-encoding", ""),
                body=b"" if by_get else await whole_body(request),
                by_get=by_get,
                token=bearer(headers.get("authorization", "")),
            )
            result = await self._arena.workers.read(self._arena.store, f"{EXECUTOR}:answer", query)
        except (Problem, JobFailed) as error:
            return refused(known_problem(error) or Problem(str(error)))
        return PiecewiseResponse(result.value, result)


def refused(problem: Problem) -> Response:
    return Response(error_body(problem.words), problem.status, problem.headers, JSON)


def graphiql() -> Response:
    """GraphiQL if it is installed, otherwise a plain page."""
    name = "graphiql.html" if (GRAPHIQL / "graphiql.min.js").exists() else "query.html"
    return FileResponse(
        STATIC / name, headers={"content-security-policy": GRAPHIQL_CSP, "vary": "accept"}
    )


def prefers_html(accept: str) -> bool:
    """Whether the client prefers a page to JSON."""
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
