"""The query in a request to GraphQL, in any of the forms that a request may have."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from msgspec import Struct

from botdrome.api.requests import Problem, lenient_json

JSON_UTF8 = "application/json; charset=utf-8"
"""The content type of answers, as in the original."""
MOST_FIELDS = 100
"""Of a form."""


class HttpQuery(Struct, frozen=True):
    """A request by HTTP, which the worker process reads that answers it."""

    query_string: str = ""
    content_type: str = ""
    encoding: str = ""
    body: bytes = b""
    by_get: bool = False
    token: str | None = None


class SubscriptionPlan(Struct, frozen=True):
    """The subject of a subscription: a match, or the running tables."""

    field: str
    """The name of the field in the answer."""
    match: str | None = None


class Subscription(Struct, frozen=True):
    plan: SubscriptionPlan
    key: bytes
    """The same for all clients that send the same query."""


class Query(Struct, frozen=True):
    text: str
    variables: dict[str, Any] | None = None
    operation: str | None = None


def query_in_request(request: HttpQuery) -> Query:
    try:
        url = dict(
            parse_qsl(request.query_string, keep_blank_values=True, max_num_fields=MOST_FIELDS)
        )
    except ValueError:
        raise Problem(f"The address of a request has {MOST_FIELDS} fields at most.") from None
    return _query(url, {} if request.by_get else _parameters(request))


def query_in_message(payload: bytes) -> Query:
    """The query in the payload of a WebSocket message."""
    try:
        body = lenient_json(payload)
    except ValueError:
        raise Problem("The payload is invalid JSON.") from None
    return _query({}, body if isinstance(body, dict) else {})


def _parameters(request: HttpQuery) -> dict[str, Any]:
    if request.encoding not in ("", "identity"):
        raise Problem("a compressed body cannot be read", 415)
    kind, body = request.content_type.partition(";")[0].strip().lower(), request.body
    try:
        if kind == "application/graphql":
            return {"query": body.decode()}
        if kind == "application/x-www-form-urlencoded":
            return {
                key: values[0]
                for key, values in parse_qs(body.decode(), max_num_fields=MOST_FIELDS).items()
            }
        return _object(lenient_json(body)) if kind == "application/json" and body else {}
    except ValueError:
        raise Problem(
            "POST body sent invalid JSON." if "json" in kind else "POST body is not UTF-8 text."
        ) from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _query(url: Mapping[str, Any], body: Mapping[str, Any]) -> Query:
    """Parameters in the address override those in the body."""
    text = url.get("query") or body.get("query")
    if not text:
        raise Problem("Must provide query string.")
    operation = url.get("operationName") or body.get("operationName") or None
    if not isinstance(text, str) or not isinstance(operation, str | None):
        raise Problem("The query and the name of its operation are strings.")
    return Query(text, _variables(url.get("variables") or body.get("variables") or None), operation)


def _variables(given: Any) -> dict[str, Any] | None:
    try:
        return (
            None
            if given is None
            else _object(lenient_json(given) if isinstance(given, str) else given)
        )
    except ValueError:
        raise Problem("Variables are invalid JSON.") from None
