"""Bridge: the Bomberman API for requests that come through the HTTP stack, on connections that began with something else."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.types import Receive, Scope, Send

from botdrome.server.network.connection import POLICY
from botdrome.server.network.exchange import Answer, Exchange, SendAnswer

LONGEST_BODY = 64 << 10

Handle = Callable[[Exchange], None]
Refuse = Callable[[int, str, str], Answer]


class Bridge:
    def __init__(self, handle: Handle, refuse: Refuse) -> None:
        self._handle, self._refuse = handle, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": POLICY})
        body = await _body(receive)
        if body is None:
            words = f"the body of a request has at most {LONGEST_BODY} bytes"
            return await _send(self._refuse(413, "BODY_TOO_LONG", words), scope, send)
        answer = await self._answer(scope, body, receive)
        return None if answer is None else await _send(answer, scope, send)

    async def _answer(self, scope: Scope, body: bytes, receive: Receive) -> Answer | None:
        """None: the client is gone."""
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        exchange = _exchange(scope, body, lambda _, answer: answered.set_result(answer))
        self._handle(exchange)
        if not answered.done():
            gone = asyncio.ensure_future(receive())
            either: set[asyncio.Future[Any]] = {answered, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
        if not answered.done():
            exchange.lose()
            return None
        return answered.result()


async def _body(receive: Receive) -> bytes | None:
    """None: it is too long."""
    body = b""
    while len(body) <= LONGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body if len(body) <= LONGEST_BODY else None
    return None


def _exchange(scope: Scope, body: bytes, send: SendAnswer) -> Exchange:
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    client = scope.get("client")
    return Exchange(scope["method"], target, dict(scope["headers"]), body, client[0] if client else "", send)


async def _send(answer: Answer, scope: Scope, send: Send) -> None:
    body = answer.body + answer.rest
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers]
    headers += [(b"content-type", answer.content_type.encode())] if answer.content_type else []
    headers += [(b"content-length", str(len(body)).encode())] if answer.status != 204 else []
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
