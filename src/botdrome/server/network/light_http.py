"""Light HTTP: HTTP/1.1 for the routes that are called thousands of times a second, and for nothing else.

Theory of operation. A connection is read request by request (see `request_reader.py`), and one is answered after the other;
while an answer is awaited the rest stays where it is. When a request is for somebody else, the connection goes back to the door
with all that is not read yet.

Most requests are plain, whole and alone in what is received: they are served at once (see `plain_request.py`).
"""

import asyncio
from collections.abc import Mapping
from typing import cast

import structlog
from msgspec.structs import replace

from botdrome.server import metrics
from botdrome.server.network.door import address_of
from botdrome.server.network.exchange import Answer, Exchange
from botdrome.server.network.gate import Gate
from botdrome.server.network.peer import Peer
from botdrome.server.network.plain_request import FORWARDED_FOR, plain_request
from botdrome.server.network.quick_ack import acknowledge
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.request_reader import ForOthers, RequestReader, Unserved

log = structlog.get_logger()

FAREWELL = 5.0
"""Seconds for the other side to read the last answer."""
STAYS = ("Connection", "keep-alive")
"""Clients of HTTP/1.0 that asked for it wait for this word."""


class LightHttp(asyncio.Protocol):
    def __init__(self, gate: Gate) -> None:
        self._gate, self._limits = gate, gate.limits
        self._longest_plain = min(gate.limits.head, gate.limits.body)
        self._bucket = Bucket(gate.limits.rate, gate.limits.burst)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._address = ""
        self._inside = False
        self._reader = RequestReader(gate.limits, gate.ours, self._go_on)
        self._since = 0.0
        """When the request began that is being read, or the last one ended."""
        self._exchange: Exchange | None = None
        """The request whose answer is awaited."""
        self._advancing = self._full = self._held = self._deaf = False

    # What the network does.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._address = address_of(transport)
        self._since = self._loop.time()
        self._timer = self._loop.call_later(self._limits.sending, self._tick)
        refusal = self._gate.admit(self._address)
        self._inside = not refusal
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            self._refuse(503, "TOO_MANY_CONNECTIONS", refusal)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        begins = not reader.begun
        if self._deaf or (begins and self._exchange is None and not self._full and self._serve_plain(data)):
            return
        reader.feed(data)
        self._advance()
        if reader.begun and self._exchange is None and self._transport is not None:
            if begins:
                self._since = self._loop.time()
            acknowledge(self._transport.get_extra_info("socket"))

    def eof_received(self) -> bool:
        """A client that waits for what is coming may still read it; one that waits for what may come is taken as gone."""
        exchange = self._exchange
        if exchange is None or exchange.on_lost is not None:
            return False
        exchange.keep = False
        return True

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._advance()

    def connection_lost(self, exc: Exception | None) -> None:
        self._let_go()
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lose()

    def _let_go(self) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._inside:
            self._inside = False
            self._gate.leave(self._address)

    def _tick(self) -> None:
        """Who sends half a request, does not read, or has nothing to say is not waited for."""
        if self._transport is None:
            return
        self._timer = self._loop.call_later(self._limits.sending, self._tick)
        quiet = self._loop.time() - self._since
        if self._full or (self._exchange is None and not self._reader.begun):
            if quiet > self._limits.idle:
                self._transport.abort()
        elif self._exchange is None and quiet > self._limits.sending:
            self._refuse(408, "TOO_SLOW", f"a request has to be here within {self._limits.sending:g} seconds")

    # Reading.

    def _serve_plain(self, data: bytes) -> bool:
        """Whether this was one plain request, and no more: then it is served."""
        plain = plain_request(data) if len(data) <= self._longest_plain else None
        if plain is None or not self._gate.ours(plain[1]):
            return False
        self._serve(*plain)
        return True

    def _advance(self) -> None:
        """Read as many requests as can be answered."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._exchange is None and not self._full and self._transport is not None:
                request = self._reader.read()
                if request is None:
                    break
                self._serve(*request)
        except Unserved as problem:
            self._refuse(problem.status, problem.word, problem.sentence)
        except ForOthers:
            self._hand_over()
        self._advancing = False
        if self._reader.begun or self._held:
            self._hold_back()

    def _hold_back(self) -> None:
        if self._transport is not None:
            waiting = self._exchange is not None or self._full
            if waiting and len(self._reader.unread) > self._limits.head:
                self._held = True
                self._transport.pause_reading()
            elif self._held:
                self._held = False
                self._transport.resume_reading()

    def _go_on(self) -> None:
        if self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # Answering.

    def _serve(self, method: str, target: bytes, headers: Mapping[bytes, bytes], keep: bool, body: bytes) -> None:
        if not self._bucket.take():
            metrics.REFUSED.labels("flood").inc()
            return self._refuse(429, "TOO_MANY_REQUESTS", f"a connection may send {self._limits.rate:g} requests a second")
        refusal = self._gate.host_refusal(headers.get(b"host"))
        if refusal:
            return self._refuse(421, "UNKNOWN_HOST", refusal)
        address, claimed = self._address, headers.get(FORWARDED_FOR)
        if claimed is not None and isinstance(self._transport, Peer):
            address = self._transport.client_of(claimed.decode("latin-1"))
        self._exchange = exchange = Exchange(method, target, headers, body, address, self._send, keep)
        try:
            self._gate.handle(exchange)
        except Exception:
            log.exception("a request could not be answered")
            exchange.answer(self._gate.refuse(500, "INTERNAL_ERROR", "the server has made a mistake"))

    def _send(self, exchange: Exchange, answer: Answer) -> None:
        self._exchange = None
        if self._transport is None:
            return
        self._since = self._loop.time()
        if self._reader.of_old and exchange.keep:
            answer = replace(answer, headers=(*answer.headers, STAYS))
        self._transport.write(answer.packed(exchange.method == "HEAD", exchange.keep))
        if not exchange.keep:
            self._close()
        elif self._reader.begun:
            self._advance()

    def _refuse(self, status: int, word: str, sentence: str) -> None:
        if self._transport is not None:
            self._transport.write(self._gate.refuse(status, word, sentence).packed(False, False))
            self._close()

    def _close(self) -> None:
        """The last answer is read before the end is seen: until then what still comes is taken, and thrown away."""
        transport = self._transport
        assert transport is not None
        self._deaf = True
        self._let_go()
        if not transport.is_reading():
            transport.resume_reading()
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()
        self._timer = self._loop.call_later(FAREWELL, transport.abort)

    def _hand_over(self) -> None:
        """What is not read is for others."""
        transport = self._transport
        assert transport is not None
        self._let_go()
        if not transport.is_reading():
            transport.resume_reading()
        other = self._gate.elsewhere()
        transport.set_protocol(other)
        other.connection_made(transport)
        other.data_received(self._reader.unread)
