"""Asking: what a request to GraphQL asks, in any of the forms that it may have."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from msgspec import Struct

from botdrome.api.bodies import lenient_json
from botdrome.api.problems import Problem

MOST_FIELDS = 100
"""Of a form."""


class Asking(Struct, frozen=True):
    """A request as it came; it is read by the process that answers it."""

    query_string: str = ""
    kind: str = ""
    """The type of the body, and how it is packed."""
    packing: str = ""
    body: bytes = b""
    by_get: bool = False
    token: str | None = None


class Question(Struct, frozen=True):
    query: str
    variables: dict[str, Any] | None = None
    operation: str | None = None


def question_of(asking: Asking) -> Question:
    """Problem where nothing can be read of it."""
    try:
        url = dict(parse_qsl(asking.query_string, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise Problem(f"The address of a request has {MOST_FIELDS} fields at most.") from None
    return question_in(url, {} if asking.by_get else _parameters(asking))


def _parameters(asking: Asking) -> dict[str, Any]:
    if asking.packing not in ("", "identity"):
        raise Problem("a compressed body cannot be read", 415)
    kind, body = asking.kind.partition(";")[0].strip().lower(), asking.body
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
