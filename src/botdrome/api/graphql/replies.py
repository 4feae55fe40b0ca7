"""Replies: what the processes that work on queries hand to the server."""

from http import HTTPStatus

import msgspec
from msgspec import Struct

PIECE = 32 << 10
"""Bytes of an answer that are sent at a time."""


class Head(Struct, frozen=True):
    length: int
    status: int = HTTPStatus.OK
    allow: str | None = None
    """The methods that would do."""


def cut(body: bytes) -> list[bytes]:
    return [body[start : start + PIECE] for start in range(0, len(body), PIECE)]


def words_of(words: str) -> bytes:
    """The body that says this and nothing else."""
    return msgspec.json.encode({"errors": [{"message": words}]})


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
