"""Light HTTP: HTTP/1.1 for the routes that are called thousands of times a second, and for nothing else.

Theory of operation. Bytes are gathered until a whole piece of a request is there: its head, a body of known length, or a part
of a chunked body up to an empty line. A piece goes to httptools, which checks and decodes it. Since no piece reaches beyond
its request, what follows in the buffer is the next request, untouched: if it is for somebody else, the connection goes back
to the door with all of it. One request is answered after the other; while an answer is awaited the rest stays where it is.

Most requests are plain, whole and alone in what is received: they are served at once (see `plain_request.py`).
"""

import asyncio
import re
from collections.abc import Mapping
from typing import cast

import httptools
import structlog

from botdrome.server import metrics
from botdrome.server.bucket import Bucket
from botdrome.server.door import address_of, wants_websocket
from botdrome.server.exchange import Answer, Exchange
from botdrome.server.gate import Gate
from botdrome.server.plain_request import EMPTY_LINE, keeps, plain_request
from botdrome.server.quick_ack import acknowledge

log = structlog.get_logger()

UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
MOST_PIECES = 1000
"""Of a chunked body."""
FAREWELL = 5.0
"""Seconds for the other side to read the last answer."""


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
        self._buffer, self._at = b"", 0
        """What was received, and how much of it is read."""
        self._since = 0.0
        """When the request began that is being read, or the last one ended."""
        self._exchange: Exchange | None = None
        """The request whose answer is awaited."""
        self._advancing = self._full = self._held = self._deaf = False
        self._parser = httptools.HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self._words: list[bytes] = []
        """The request line, once the head is read."""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._awaited: int | None = None
        """Bytes of the body; None: it is chunked."""
        self._complete = False

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
        begins = not self._buffer and not self._words
        if self._deaf or (begins and self._exchange is None and not self._full and self._serve_plain(data)):
            return
        self._buffer = self._buffer + data if self._buffer else data
        self._advance()
        if (self._buffer or self._words) and self._exchange is None and self._transport is not None:
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
        if self._full or (self._exchange is None and not self._buffer and not self._words):
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
        while self._at < len(self._buffer) and self._exchange is None and not self._full and self._transport is not None:
            if not (self._read_body() if self._words else self._read_head()):
                break
        self._buffer, self._at, self._advancing = self._buffer[self._at :], 0, False
        if self._buffer or self._held:
            self._hold_back()

    def _hold_back(self) -> None:
        if self._transport is not None:
            waiting = self._exchange is not None or self._full
            if waiting and len(self._buffer) > self._limits.head:
                self._held = True
                self._transport.pause_reading()
            elif self._held:
                self._held = False
                self._transport.resume_reading()

    def _read_head(self) -> bool:
        """Whether there is more to read after this."""
        buffer = self._buffer
        if buffer.startswith(b"\r\n", self._at):
            self._at += 2  # some clients send one after a body
        end = buffer.find(EMPTY_LINE, self._at) + 4
        if (len(buffer) if end < 4 else end) - self._at > self._limits.head:
            return self._refuse(431, "HEAD_TOO_LONG", f"the head of a request has at most {self._limits.head} bytes")
        if end < 4:
            return False
        head = buffer[self._at : end]
        words = head[: head.index(b"\r\n")].split(b" ", 2)
        if len(words) < 3 or words[0].strip() == b"PRI":  # so begins HTTP/2
            return self._refuse_request()
        if not self._gate.ours(words[1]):
            return self._hand_over()
        if UPGRADE.search(head):
            if wants_websocket(head):
                return self._hand_over()
            head = UPGRADE.sub(b"\r\nX-Not-For-Us:", head)  # no other upgrade is on offer: then the request is an ordinary one
        if not self._parse(head):
            return False
        self._words, self._at = words, end
        return self._serve_words() if self._complete else self._expect_body()

    def _expect_body(self) -> bool:
        if b"transfer-encoding" not in self._headers:
            self._awaited = int(self._headers[b"content-length"])
        if self._awaited is not None and self._awaited > self._limits.body:
            return self._refuse_body()
        if self._headers.get(b"expect", b"").lower() == b"100-continue" and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def _read_body(self) -> bool:
        buffer, start = self._buffer, self._at
        if self._awaited is None:
            found = buffer.find(EMPTY_LINE, start)
            end = found + 4 if found >= 0 else len(buffer) + 1
        else:
            end = start + self._awaited
        if end > len(buffer):
            return self._refuse_body() if len(buffer) - start > 2 * self._limits.body else False
        if not self._parse(buffer[start:end]):
            return False
        self._at = end
        if len(self._body) > MOST_PIECES or sum(map(len, self._body)) > self._limits.body:
            return self._refuse_body()
        return self._serve_words() if self._complete else True

    def _parse(self, piece: bytes) -> bool:
        try:
            self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return self._refuse_request()
        return True

    # What httptools finds.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._complete = True

    # Answering.

    def _serve_words(self) -> bool:
        (method, target, version), headers, body = self._words, self._headers, b"".join(self._body)
        self._begin()
        return self._serve(method.decode(), target, headers, keeps(version, headers), body)

    def _serve(self, method: str, target: bytes, headers: Mapping[bytes, bytes], keep: bool, body: bytes) -> bool:
        if not self._bucket.take():
            metrics.REFUSED.labels("flood").inc()
            return self._refuse(429, "TOO_MANY_REQUESTS", f"a connection may send {self._limits.rate:g} requests a second")
        self._exchange = exchange = Exchange(method, target, headers, body, self._address, self._send, keep)
        try:
            self._gate.handle(exchange)
        except Exception:
            log.exception("a request could not be answered")
            exchange.answer(self._gate.refuse(500, "INTERNAL_ERROR", "the server has made a mistake"))
        return True

    def _send(self, exchange: Exchange, answer: Answer) -> None:
        self._exchange = None
        if self._transport is None:
            return
        self._since = self._loop.time()
        self._transport.write(answer.packed(exchange.method == "HEAD", exchange.keep))
        if not exchange.keep:
            self._close()
        elif self._buffer:
            self._advance()

    def _refuse_request(self) -> bool:
        return self._refuse(400, "BAD_REQUEST", "this is no HTTP/1.1 request")

    def _refuse_body(self) -> bool:
        return self._refuse(413, "BODY_TOO_LONG", f"the body of a request has at most {self._limits.body} bytes")

    def _refuse(self, status: int, word: str, sentence: str) -> bool:
        """Nothing that follows can be trusted to be a request."""
        if self._transport is not None:
            self._transport.write(self._gate.refuse(status, word, sentence).packed(False, False))
            self._close()
        return False

    def _close(self) -> None:
        """The last answer is read before the end is seen: until then what still comes is taken, and thrown away."""
        transport = self._transport
        assert transport is not None
        self._deaf, self._buffer, self._at = True, b"", 0
        self._let_go()
        if not transport.is_reading():
            transport.resume_reading()
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()
        self._timer = self._loop.call_later(FAREWELL, transport.abort)

    def _hand_over(self) -> bool:
        """What is left in the buffer is for others."""
        transport, rest = self._transport, self._buffer[self._at :]
        assert transport is not None
        self._let_go()
        self._buffer, self._at = b"", 0
        if not transport.is_reading():
            transport.resume_reading()
        other = self._gate.elsewhere()
        transport.set_protocol(other)
        other.connection_made(transport)
        other.data_received(rest)
        return False
