"""The door of GraphQL: HTTP as the original spoke it, and GraphiQL for whoever comes with a browser."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from botdrome.api.bodies import bearer, lenient_json, whole_body
from botdrome.api.graphql.clerk import Answer, Clerk, Question, refused
from botdrome.api.graphql.graphiql import graphiql
from botdrome.api.problems import Problem

JSON = "application/json; charset=utf-8"
MOST_FIELDS = 100
"""Of a form."""


class GraphQLDoor:
    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._response(Request(scope, receive)))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        if request.method == "GET" and prefers_html(request.headers.get("accept", "")):
            return graphiql()
        answer = await self._answer(request)
        headers = {"content-type": JSON} | ({"allow": answer.allow} if answer.allow else {})
        return Response(answer.body, answer.status, headers)

    async def _answer(self, request: Request) -> Answer:
        if request.method not in ("GET", "POST"):
            return refused("GraphQL only supports GET and POST requests.", 405, "GET, POST")
        try:
            question = question_in(dict(request.query_params), await _parameters(request))
        except Problem as problem:
            return refused(problem.words, problem.status)
        reading = self._clerk.reading(bearer(request.headers.get("authorization", "")))
        return await self._clerk.answer(question, reading, by_get=request.method == "GET")


async def _parameters(request: Request) -> dict[str, Any]:
    """What the body asks, in any of the forms that it may have."""
    if request.method == "GET":
        return {}
    body = await whole_body(request)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Problem("a compressed body cannot be read", 415)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/graphql":
            return {"query": body.decode()}
        if kind == "application/x-www-form-urlencoded":
            return {key: values[0] for key, values in parse_qs(body.decode(), max_num_fields=MOST_FIELDS).items()}
        return _object(lenient_json(body)) if kind == "application/json" and body else {}
    except ValueError:
        raise Problem("POST body sent invalid JSON." if "json" in kind else "POST body is not UTF-8 text.") from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def question_in(url: Mapping[str, Any], body: Mapping[str, Any]) -> Question:
    """What is asked; the address comes before the body."""
    query = url.get("query") or body.get("query")
    if not query:
        raise Problem("Must provide query string.")
    operation = url.get("operationName") or body.get("operationName") or None
    if not isinstance(query, str) or not isinstance(operation, str | None):
        raise Problem("The query and the name of its operation are strings.")
    return Question(query, _variables(url.get("variables") or body.get("variables") or None), operation)


def _variables(given: Any) -> dict[str, Any] | None:
    try:
        return None if given is None else _object(lenient_json(given) if isinstance(given, str) else given)
    except ValueError:
        raise Problem("Variables are invalid JSON.") from None


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
