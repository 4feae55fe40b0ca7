"""Bodies of requests: bounded, and read leniently where the original's documentation needs it."""

import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

from botdrome.api.problems import Problem

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
        del message  # it would be kept as long as the next is waited for, beside its copy
        if len(body) > limit:
            raise too_large
    return bytes(body)


async def whole_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    """For those who do not care whether the client is still there: a Problem is all that comes of it."""
    try:
        return await body_of(request, limit)
    except ClientDisconnect:
        raise Problem("the rest of the body did not come") from None


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def lenient_json(text: str | bytes) -> Any:
    """JSON that may have raw line breaks inside its strings; ValueError where it is not even that."""
    try:
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
