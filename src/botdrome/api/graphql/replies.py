"""Replies: what the processes that work on queries hand to the server."""

from http import HTTPStatus

import msgspec
from msgspec import Struct

from botdrome.api.pieces import Head

JSON = "application/json; charset=utf-8"


def words_of(words: str) -> bytes:
    """The body that says this and nothing else."""
    return msgspec.json.encode({"errors": [{"message": words}]})


def head_of(body: bytes, status: int = HTTPStatus.OK, allow: str = "") -> Head:
    """`allow`: the methods that would do."""
    return Head(len(body), status, JSON, {"allow": allow} if allow else {})


class Plan(Struct, frozen=True):
    """What a subscription follows: a match, or the running tables."""

    key: str
    """What the answer calls it."""
    match: str | None = None


class Subscription(Struct, frozen=True):
    """A question that is answered again and again."""

    plan: Plan
    words: bytes
    """The same for all who ask the same."""
