"""Guests of the HTTP stack: uvicorn's protocols, with limits where they have none.

Connections are counted. A request has to be here within its time, its head is bounded, and whoever does not read the answer
is not waited for.
"""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from botdrome.api.luggage import BAG, Luggage
from botdrome.server import metrics
from botdrome.server.network.door import HEAD_LIMIT, LONGEST_HEAD, Crowd
from botdrome.server.workers.asker import source_of
from botdrome.server.workers.jobs import JobFailed
from botdrome.server.workers.limits import SharedSlots
from botdrome.wire.safe_headers import plain_answer

MOST_FIELDS = 100
"""Of a head. Each takes some hundred bytes, however short it is."""
HEAD_SENDING = HEAD_LIMIT
"""Seconds for the head of a request."""
SENDING = 30.0
"""Seconds for a request, from its first byte to its last, and from the end of one to the beginning of the next."""
ENOUGH = BAG
"""Bytes of a body that are waited for before anybody has to deal with it: most bodies are whole by then."""
PATIENT = "/graphql", "/api/"
"""Where nothing is done before a request is whole."""
READING = 60.0
"""Seconds for some of an answer to be read."""
MOST_AT_ONCE = 32
"""Requests on one connection that wait for the answer to the one before. Few clients ever send two."""
TICK = 5.0
"""Seconds between two looks at a connection."""
TOO_MUCH_HEAD = "431 Request Header Fields Too Large"


class Place:
    """A guest's place in the crowd."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._address: str | None = None

    def take(self, transport: asyncio.BaseTransport) -> str:
        """Why there is none; nothing: it is taken."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        refusal = self._crowd.admit(address, player=False)
        self._address = None if refusal else address
        return refusal

    def leave(self) -> None:
        address, self._address = self._address, None
        if address is not None:
            self._crowd.leave(address)


class HttpGuest(HttpToolsProtocol):
    def __init__(self, crowd: Crowd, door: Callable[[], asyncio.Protocol], room: SharedSlots, *args: Any) -> None:
        """`room` is for what has come of long bodies."""
        super().__init__(*args)
        self._place, self._door, self._luggage = Place(crowd), door, Luggage(room)
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        """Bytes since the last request ended."""
        self._in_head = self._in_request = True
        self._since = self._full_since = self.loop.time()
        """When the request began that is being read, or the last one ended; and when nothing more could be written."""
        self._answering: RequestResponseCycle | None = None
        """What is being answered; `cycle` is what was asked last."""
        self._later: ASGIApp | None = None
        """Who will answer it, when more of it is here: an answer that waits for its question takes room."""
        self._leaving = self._sated = False
        """It is told no more; or it is told all that it asked for so far, and listened to no more."""
        self._piece = self._again = b""
        """What came last, and what of it is to be read once more."""
        self._upgrade: bytes | None = None
        """A request for a WebSocket, and what came after it: what was asked before is answered first."""

    # What the network does.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(TICK, self._tick)
        refusal = self._place.take(transport)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            self._refuse("503 Service Unavailable", refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        self._go()
        self._answer_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._leaving or self._sated:
            return
        self._head += len(data)
        if self._upgrade is not None:
            self._upgrade += data
        else:
            self._read(data)
        over = self._leaving or self.transport.is_closing()
        if (self._in_head or self._upgrade is not None) and self._head > LONGEST_HEAD and not over:
            self._refuse(TOO_MUCH_HEAD, f"the head of a request has at most {LONGEST_HEAD} bytes")

    def _read(self, data: bytes) -> None:
        while data:
            self._piece, self._again = data, b""
            super().data_received(data)
            data = self._again
        self._piece = b""

    def send_400_response(self, msg: str) -> None:
        if not self._sated and not self._leaving:
            self.transport.write(plain_answer("400 Bad Request", msg))
            self.transport.close()

    def pause_writing(self) -> None:
        self._full_since = self.loop.time()
        super().pause_writing()

    # Requests that offer to go on in another protocol.

    def _unsupported_upgrade_warning(self) -> None:
        """A WebSocket after other requests goes back to the door. All other offers are ignored: since the parser takes what
        follows for that other protocol, the request is read again without the offer."""
        if not self._offers_another():
            return None
        if self.cycle is not None and self._get_upgrade() == b"websocket":
            self._upgrade = self._request() + self._rest()
            return self._return_to_the_door() if self.cycle.response_complete else None
        self._again = self._request(without=b"upgrade") + self._rest()
        self.parser = HttpRequestParser(self)
        return self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does

    def _return_to_the_door(self) -> None:
        upgrade, self._upgrade = self._upgrade or b"", None
        self._go()
        self._unset_keepalive_if_required()
        self.connections.discard(self)
        door = self._door()
        self.transport.set_protocol(door)
        door.connection_made(self.transport)
        door.data_received(upgrade)

    def _offers_another(self) -> bool:
        """HTTP/2 most often, which Java offers with every request."""
        return self.parser.should_upgrade() and any(name == b"upgrade" for name, _ in self.headers)

    def _request(self, without: bytes = b"") -> bytes:
        """The head of the present request, written anew."""
        first = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        fields = [b"%b: %b" % (name, value) for name, value in self.headers if name != without]
        return b"\r\n".join([first, *fields, b"", b""])

    def _rest(self) -> bytes:
        """What came after the present request. Called where the parser's exception is handled, which knows where that is."""
        upgrade = sys.exception()
        assert isinstance(upgrade, HttpParserUpgrade)
        return self._piece[upgrade.args[0] :]

    def _go(self) -> None:
        self._place.leave()
        self._luggage.drop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the parser finds.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = self._in_request = True
        self._since = self.loop.time()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MOST_FIELDS:
            self._refuse(TOO_MUCH_HEAD, f"the head of a request has at most {MOST_FIELDS} fields")
            raise ConnectionAbortedError  # ends the parser's work on what came with it
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if len(self.pipeline) >= MOST_AT_ONCE:
            self._sated = True
            self.pipeline[0][0].keep_alive = False  # the connection ends with the answer to the last of them
            raise ConnectionAbortedError
        if not self._offers_another():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._luggage.add(len(body), source_of(self.client[0] if self.client else "")[0]):
            metrics.REFUSED.labels("bodies").inc()
            self._refuse("503 Service Unavailable", "too much is being sent at once: try again in a moment")
            raise ConnectionAbortedError
        super().on_body(body)
        if self._later is not None and len(self.cycle.body) > ENOUGH:
            self._begin_to_answer()

    def on_message_complete(self) -> None:
        if not self._offers_another():
            super().on_message_complete()
        self._in_request = False
        self._head, self._since = 0, self.loop.time()
        self._luggage.drop()
        if self._later is not None:
            self._begin_to_answer()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        if self._upgrade is not None and self.cycle.response_complete and not self.transport.is_closing():
            self._return_to_the_door()

    # What is answered.

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering, self._later = cycle, app
        patient = cycle.scope["path"].startswith(PATIENT) and not cycle.waiting_for_100_continue
        if not patient or not cycle.more_body or len(cycle.body) > ENOUGH:
            self._begin_to_answer()

    def _begin_to_answer(self) -> None:
        cycle, app, self._later = self._answering, self._later, None
        assert cycle is not None and app is not None
        super()._start_asgi_task(cycle, partial(self._answer, app))

    async def _answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Nobody cancels it but the end of the server."""
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if not self.transport.is_closing():
                self._refuse("503 Service Unavailable", "the server is stopping")
        except JobFailed:  # in the middle of an answer, and its worker has nothing more to send
            self._answer_no_more()
            self.transport.abort()

    # Who is not waited for.

    def _tick(self) -> None:
        self._timer = self.loop.call_later(TICK, self._tick)
        now = self.loop.time()
        if self._leaving or (self.flow.write_paused and now - self._full_since > READING):
            self.transport.abort()
        elif self.transport.is_closing():
            self._leaving = True
        elif not self.flow.read_paused and self._awaited() and now - self._since > self._patience:
            self._refuse(
                "408 Request Timeout",
                f"a request has to be here within {SENDING:g} seconds, and its head within {HEAD_SENDING:g}",
            )

    @property
    def _patience(self) -> float:
        return HEAD_SENDING if self._in_head else SENDING

    def _awaited(self) -> bool:
        """Whether it is for the client to do something."""
        return self._in_request or self.cycle is None or self.cycle.response_complete

    def _refuse(self, status: str, words: str) -> None:
        """Unless it is being answered already, it is told why. What it still sends must not cut that short."""
        self._leaving = True
        answering = self._answering
        if answering is None or not answering.response_started or answering.response_complete:
            self.transport.write(plain_answer(status, words))
        self._answer_no_more()
        self.transport.write_eof() if self.transport.can_write_eof() else self.transport.close()

    def _answer_no_more(self) -> None:
        """What is being answered need not be what was asked last, which is all that uvicorn looks at."""
        self.pipeline.clear()
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()
