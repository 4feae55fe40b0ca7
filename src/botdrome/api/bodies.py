"""Bodies of requests, which are bounded, and responses that are sent piece by piece."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from botdrome.api.problems import Problem
from botdrome.games.reading import bounded

LARGEST_BODY = 100 * 1024


async def body_of(request: Request, limit: int = LARGEST_BODY) -> bytes:
    too_large = Problem(f"the body of a request may have {limit} bytes at most", 413)
    if _announced(request) > limit:
        raise too_large
    body, whole = bytearray(), False
    while not whole:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        whole = not message.get("more_body", False)
        del message  # do not keep it beside its copy while waiting for the next
        if len(body) > limit:
            raise too_large
    return bytes(body)


async def whole_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    """The same. Raise Problem if the client has left."""
    try:
        return await body_of(request, limit)
    except ClientDisconnect:
        raise Problem("the rest of the body did not come") from None


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def lenient_json(text: str | bytes) -> Any:
    """Read JSON that may have raw line breaks inside its strings, as in the documentation of the
    original.
    """
    try:
        bounded(text.encode(errors="replace") if isinstance(text, str) else text)
        value = json.loads(text, strict=False, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def bearer(authorization: str) -> str | None:
    """The token in an `Authorization` header."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


PIECE = 32 << 10
"""Bytes that are sent at a time."""
JSON = "application/json; charset=utf-8"


class ResponseHead(Struct, frozen=True):
    length: int
    status: int
    media: str
    headers: Mapping[str, str] = {}


class PieceSource(Protocol):
    def pieces(self) -> AsyncGenerator[bytes, None]: ...

    def drop(self) -> None:
        """The rest is not needed."""


def pieces_of(body: bytes) -> list[bytes]:
    return [body[start : start + PIECE] for start in range(0, len(body), PIECE)]


class PiecewiseResponse(Response):
    """Sends each piece when the client has read most of the one before."""

    def __init__(self, head: ResponseHead, source: PieceSource) -> None:
        self._head, self._source = head, source
        self.status_code, self.background = head.status, None
        self.raw_headers = Headers(
            {"content-length": str(head.length), "content-type": head.media, **head.headers}
        ).raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            if scope["method"] != "HEAD":
                async with aclosing(self._source.pieces()) as pieces:
                    async for piece in pieces:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._source.drop()
