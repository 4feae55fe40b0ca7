"""One HTTP connection to a bot, with one request on it at a time."""

import asyncio
import re
import socket
import zlib
from collections.abc import Callable
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from botdrome.server.network.connection import PERIOD, acknowledge, tcp_round_trip

# The result of a call to a bot: its answer, with the body decompressed, or the reason of the
# failure.

GZIP, ZLIB, RAW_DEFLATE = 31, 15, -15
MOST_MEMBERS = 100
UNSUPPORTED = re.compile(rb"br|zstd|(x-)?compress|exi|pack200-gzip|dcb|dcz|.*,.*")
"""Encodings that the request did not accept.

Other words are ignored: some bots send their charset, `utf-8`, here.
"""


class BotAnswer(Struct, gc=False, eq=False):
    """Answers that say the same are equal, whatever time they took."""

    status: int
    body: bytes
    encoding: bytes = b""
    """The Content-Encoding of the body; empty once it is decompressed."""
    location: bytes | None = None
    network: float = 0.0
    """Seconds that the call was on the way."""
    waited: float = 0.0
    """Seconds that the call waited for others."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BotAnswer) and _said(self) == _said(other)

    def __hash__(self) -> int:
        return hash(_said(self))


def _said(answer: BotAnswer) -> tuple[int, bytes, bytes, bytes | None]:
    return answer.status, answer.body, answer.encoding, answer.location


class CallFailed(Exception):
    """The call got no answer. The text is for the bot's author."""


class NotAllowed(CallFailed):
    """The server may not call this address."""


class TooLate(CallFailed):
    """The call took longer than its time limit."""


def too_late(limit_seconds: float) -> TooLate:
    return TooLate(f"no whole answer within {limit_seconds * 1000:.0f} ms")


def too_large(limit: int) -> CallFailed:
    return CallFailed(f"the answer is larger than {limit} bytes")


def decompressed(answer: BotAnswer, limit: int) -> BotAnswer:
    """Raise CallFailed if the body cannot be decompressed, or would be larger than the limit."""
    body, encoding = answer.body, answer.encoding.strip().lower()
    if body and encoding in (b"gzip", b"x-gzip"):
        body = _decompressed(body, GZIP, limit)
    elif body and encoding == b"deflate":
        body = _decompressed(body, ZLIB if body[0] & 15 == 8 else RAW_DEFLATE, limit)
    elif body and UNSUPPORTED.fullmatch(encoding):
        shown = answer.encoding[:40].decode(errors="replace")
        raise CallFailed(f"the answer is packed by {shown!r}, which was not asked for")
    return BotAnswer(answer.status, body, network=answer.network, waited=answer.waited)


def _decompressed(body: bytes, bits: int, limit: int) -> bytes:
    """gzip allows several members, one after another."""
    whole = b""
    for _ in range(MOST_MEMBERS):
        reader = zlib.decompressobj(bits)
        try:
            whole += reader.decompress(body, limit + 1 - len(whole))
        except zlib.error:
            raise CallFailed("the answer cannot be unpacked") from None
        if len(whole) > limit:
            raise too_large(limit)
        if not reader.eof:
            raise CallFailed("the answer is packed, and not whole")
        body = reader.unused_data
        if not body or bits != GZIP:
            break
    return whole


LONGEST_HEAD = 16 << 10
CHUNK_OVERHEAD = 8
"""Bytes received for each byte of a body, at most: small chunks have an overhead."""
FRAMING = {b"content-length", b"transfer-encoding"}
WANTED = {len(name) for name in (*FRAMING, b"content-encoding", b"location")}
"""The lengths of the headers that matter, so that most others are skipped quickly."""


class Silent(CallFailed):
    """The bot closed the connection without an answer.

    An idle connection may have been closed at the other end.
    """


class Misread(CallFailed):
    """The bot did not understand the request.

    On an idle connection, it may not have read the body of the last one.
    """


MISREAD = frozenset({400, 405, 408, 414, 501, 505})
"""The statuses of such answers: some bots never read the body of a request, and their servers parse
it as the next one.
"""


class BotConnection(asyncio.Protocol):
    def __init__(self, longest: int, on_lost: Callable[["BotConnection"], None]) -> None:
        """`longest`: bytes of a body, at most."""
        self.usable = False
        """Whether a request can be sent."""
        self.round = 0
        """The round of the pool's sweeps in which it was last used."""
        self.connecting = 0.0
        """Seconds that it took to connect to another machine, until an answer has been charged less
        for them.
        """
        self._round_trip = self._measure_next = 0.0
        self._reused = False
        self._longest, self._on_lost = longest, on_lost
        self._loop = asyncio.get_running_loop()
        self._until, self._timer_due = 0.0, 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True
        )  # many bots on bare sockets end lines so
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._waiter: asyncio.Future[BotAnswer] | None = None
        self._received = 0
        self._begin_answer()

    def ask(self, request: bytes, until: float, tail: bytes = b"") -> asyncio.Future[BotAnswer]:
        """Send a request; the future gets the answer or CallFailed.

        Call `abort` to stop waiting for it.
        """
        assert self.usable and self._transport is not None
        self.usable = False
        self._received = 0
        self._until = until
        self._begin_answer()
        if self._timer is None or self._timer_due > until:
            self._set_timer()
        waiter = self._waiter = self._loop.create_future()
        self._transport.write(request)
        if tail:
            self._transport.write(tail)
        return waiter

    def _set_timer(self) -> None:
        """One timer serves many calls: if it rings too early, it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = self._until
        self._timer = self._loop.call_at(self._until, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiter is None:
            return
        if self._loop.time() >= self._until:
            self._refuse(TooLate("the time is over"))
        else:
            self._set_timer()

    def abort(self) -> None:
        self.usable = False
        self._waiter = None
        if self._transport is not None:
            self._transport.abort()

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._socket = transport.get_extra_info("socket")
        self.usable = True

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            return self.abort()
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail("the answer wants to speak another protocol")
        except HttpParserError as error:
            kind = CallFailed if self._in_body else Misread
            self._refuse(kind(f"the answer is not HTTP: {error}"))
        if self._waiter is not None:
            if self._too_much():
                self._fail(f"the head of the answer is longer than {LONGEST_HEAD} bytes")
            acknowledge(self._socket)
        return None

    def _too_much(self) -> bool:
        """Limits slow headers, endless interim answers and trailers, which no other
        limit counts.
        """
        return self._received > LONGEST_HEAD + (
            self._longest * CHUNK_OVERHEAD if self._in_body else 0
        )

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiter is not None:
            if exc is None and self._in_body and self._until_close:
                self._complete(keep=False)
            elif self._received:
                self._fail("the answer broke off")
            else:
                self._refuse(Silent("the connection was closed without an answer"))
        self.usable = False
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._on_lost(self)

    # Called by the parser.

    def _begin_answer(self) -> None:
        self._in_body = False
        self._until_close = True
        self._encoding = b""
        self._location: bytes | None = None
        self._head = 0
        self._size = 0
        self._parts: list[bytes] = []

    def on_message_begin(self) -> None:
        if self._waiter is None:
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        length = len(name)
        self._head += length + len(value)
        if self._head > LONGEST_HEAD:
            self._fail(f"the head of the answer is longer than {LONGEST_HEAD} bytes")
        if length in WANTED and not self._in_body:
            self._note(name.lower(), value)

    def _note(self, name: bytes, value: bytes) -> None:
        if name in FRAMING:
            self._until_close = False
        elif name == b"content-encoding":
            self._encoding = value
        elif name == b"location":
            self._location = value

    def on_headers_complete(self) -> None:
        self._in_body = True

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            return self._refuse(too_large(self._longest))
        self._parts.append(part)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self._complete(self._parser.should_keep_alive())
        else:
            self._begin_answer()

    # The end of a request.

    def _complete(self, keep: bool) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is None or waiter.done():
            return None
        parts, status = self._parts, self._parser.get_status_code()
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        if status in MISREAD:
            if self._reused:
                self.abort()
                return waiter.set_exception(Misread(f"the answer has the status {status}"))
            keep = False
        network, self.connecting = self.connecting + self._network_time(), 0.0
        waiter.set_result(BotAnswer(status, body, self._encoding, self._location, network))
        if keep:
            self.usable = self._reused = True
        elif self._transport is not None:
            self._transport.close()
        return None

    def _network_time(self) -> float:
        """Seconds from the request to its acknowledgement; where the system does not measure that,
        those of connecting.
        """
        now = self._loop.time()
        if now >= self._measure_next and self._transport is not None:
            self._measure_next = now + PERIOD
            measured = tcp_round_trip(self._transport)
            self._round_trip = (
                (self._round_trip or self.connecting) if measured is None else measured
            )
        return self._round_trip

    def _fail(self, words: str) -> None:
        self._refuse(CallFailed(words))

    def _refuse(self, problem: CallFailed) -> None:
        waiter = self._waiter
        self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_exception(problem)
