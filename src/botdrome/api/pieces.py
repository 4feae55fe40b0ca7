"""Answers that are sent piece by piece, as the client takes them and a worker process hands them over."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE = 32 << 10
"""Bytes that are sent at a time."""


class Head(Struct, frozen=True):
    length: int
    status: int
    media: str
    headers: Mapping[str, str] = {}


class Source(Protocol):
    def pieces(self) -> AsyncGenerator[bytes, None]: ...

    def drop(self) -> None:
        """Nobody wants the rest."""


def cut(body: bytes) -> list[bytes]:
    return [body[start : start + PIECE] for start in range(0, len(body), PIECE)]


class InPieces(Response):
    def __init__(self, head: Head, source: Source) -> None:
        self._head, self._source = head, source
        self.status_code, self.background = head.status, None
        self.raw_headers = Headers({"content-length": str(head.length), "content-type": head.media, **head.headers}).raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                async with aclosing(self._source.pieces()) as pieces:
                    async for piece in pieces:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._source.drop()
