"""socket.io for clients 2.x, 3.x and 4.x: its requests by HTTP, and the way in for its WebSockets."""

import asyncio
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from botdrome.api.bodies import body_of
from botdrome.api.pages import STATIC
from botdrome.api.problems import Problem
from botdrome.api.socketio.asking import BAD_REQUEST, Ask, Refusal, ask_in
from botdrome.api.socketio.hub import Hub
from botdrome.api.socketio.session import Session
from botdrome.api.socketio.sockets import FrameSocket, engine_socket
from botdrome.server.network.door import Welcome
from botdrome.wire.framing.engineio import BadPacket, Packet, from_jsonp, jsonp
from botdrome.wire.safe_headers import plain_answer

PATH = "/socket.io/"
SCRIPTS = ("socket.io.js", "socket.io.min.js")
TEXT, SCRIPT = "text/plain; charset=UTF-8", "text/javascript; charset=UTF-8"
BYTES = "application/octet-stream"
UNREAD = (408, 413)
"""After these nobody cares for what the client still sends."""


class SocketIo:
    """The ASGI application at /socket.io/."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def close(self) -> None:
        self._hub.close()

    def has_session(self, sid: str) -> bool:
        return sid in self._hub

    def receive_socket(self, target: str) -> Welcome | bytes:
        """Open a WebSocket; bytes: the answer that refuses it."""
        path, _, query = target.partition("?")
        if path != PATH:
            return plain_answer("404 Not Found", f"there is a WebSocket at {PATH}, and none at {path!a}")
        try:
            ask = ask_in(query)
            probed = self._hub.probed(ask)
        except Refusal as refusal:
            words = msgspec.json.encode(refusal.answer).decode()
            return plain_answer(f"{refusal.status} Bad Request", words, media="application/json")
        return Welcome(engine_socket(self._hub, ask, probed), self._hub.limits.longest, FrameSocket)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        return await (await self._response(request))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        if request.url.path != PATH:
            return script(request.url.path.removeprefix(PATH))
        if request.method == "OPTIONS":
            return Response(status_code=204)
        try:
            ask = ask_in(request.url.query)
            session = self._hub.poll(ask, request.method, request.client.host if request.client else "")
            return await (self._fetched if request.method == "GET" else self._posted)(request, ask, session)
        except Refusal as refusal:
            headers = {"connection": "close"} if refusal.status in UNREAD else None
            return JSONResponse(refusal.answer, refusal.status, headers)

    async def _fetched(self, request: Request, ask: Ask, session: Session) -> Response:
        """The answer to a poll, as soon as there is something to say."""
        fetching, leaving = asyncio.ensure_future(session.mailbox.fetch()), asyncio.ensure_future(departure(request))
        try:
            await asyncio.wait({fetching, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not fetching.done():
                session.lost()
                return Response(status_code=400)
            payload = session.engine.write_payload(fetching.result())
        except Refusal:
            session.close()
            raise
        finally:
            fetching.cancel()
            leaving.cancel()
        headers = {"set-cookie": f"io={session.sid}; Path=/; HttpOnly"} if not ask.sid and session.engine.version == 3 else None
        if ask.script is not None:
            return Response(jsonp(ask.script, payload), headers=headers, media_type=SCRIPT)
        return Response(payload, headers=headers, media_type=TEXT)

    async def _posted(self, request: Request, ask: Ask, session: Session) -> Response:
        """What the client says. Whoever says what cannot be understood is closed."""
        try:
            for packet in await self._packets(request, ask, session):
                session.received(packet)
        except Refusal as refusal:
            session.fail(str(refusal))
            raise
        except ClientDisconnect:
            session.lost()
        return Response("ok", media_type="text/html")

    async def _packets(self, request: Request, ask: Ask, session: Session) -> list[Packet]:
        if session.posting:
            raise Refusal(BAD_REQUEST, "there is a POST already")
        session.posting = True
        try:
            async with asyncio.timeout(self._hub.limits.patience):
                body = await body_of(request, self._hub.limits.longest)
            return packets_in(body, request.headers.get("content-type", ""), ask, session)
        except Problem as problem:
            raise Refusal(BAD_REQUEST, problem.words, problem.status) from None
        except TimeoutError:
            raise Refusal(BAD_REQUEST, "the rest of the body did not come", 408) from None
        except BadPacket as problem:
            raise Refusal(BAD_REQUEST, str(problem)) from None
        finally:
            session.posting = False


def packets_in(body: bytes, kind: str, ask: Ask, session: Session) -> list[Packet]:
    if kind.startswith(BYTES):
        return session.engine.read_bytes(body)
    try:
        text = body.decode()
        if ask.script is not None:
            text = from_jsonp(parse_qs(text, max_num_fields=5).get("d", [""])[0])
    except ValueError:
        raise BadPacket("a payload is UTF-8 text") from None
    return session.engine.read_payload(text)


async def departure(request: Request) -> None:
    """Until the client leaves."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def script(name: str) -> Response:
    """The client for browsers, where it was installed."""
    file = STATIC / "socketio" / name
    if name in SCRIPTS and file.exists():
        return FileResponse(file, media_type=SCRIPT)
    return PlainTextResponse("not found\n", 404)
