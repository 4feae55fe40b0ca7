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
LONGEST_KNOWN, MOST_KNOWN = 1024, 16
"""Bytes of a head that a connection remembers, and the number of them."""


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
EMPTY_LINE = b"\r\n\r\n"

Outcome = BotAnswer | CallFailed


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
        self._measures = self._reused = False
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
        self._tell: Callable[[Outcome], None] | None = None
        """Takes the outcome of the request; None: nothing was asked."""
        self._received = 0
        self._known: dict[bytes, tuple[int, int]] = {}
        """Heads of answers that came in one piece, with the status and the length of the answer.

        A bot sends the same head again and again, so the parser need not read it each time. The
        connection stayed open after these answers, and their bodies are as they were sent.
        """
        self._begin_answer()

    def ask(
        self,
        request: bytes,
        now: float,
        until: float,
        tell: Callable[[Outcome], None],
        tail: bytes = b"",
    ) -> None:
        """Send a request; `tell` gets the answer or CallFailed.

        Call `abort` to stop waiting for it.
        """
        assert self.usable and self._transport is not None
        self.usable = False
        self._until, self._tell = until, tell
        if now >= self._measure_next:
            self._measures, self._measure_next = True, now + PERIOD
        if self._timer is None or self._timer_due > until:
            self._set_timer()
        self._transport.write(request)
        if tail:
            self._transport.write(tail)

    def _set_timer(self) -> None:
        """One timer serves many calls: if it rings too early, it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = self._until
        self._timer = self._loop.call_at(self._until, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._tell is None:
            return
        if self._loop.time() >= self._until:
            self._end(TooLate("the time is over"), keep=False)
        else:
            self._set_timer()

    def abort(self) -> None:
        self.usable = False
        self._tell = None
        if self._transport is not None:
            self._transport.abort()

    # Called by the transport.

    def data_received(self, data: bytes) -> None:
        """Read an answer. One with a known head that is complete and alone skips the parser."""
        if self._tell is None:
            return self.abort()
        if not self._received:
            body = data.find(EMPTY_LINE) + 4
            known = self._known.get(data[:body])
            if known is not None and known[1] == len(data) and not self._measures:
                tell, self._tell = self._tell, None  # _end(), without the call
                self.usable = self._reused = True
                return tell(BotAnswer(known[0], data[body:], b"", None, self._round_trip))
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail("the answer wants to speak another protocol")
        except HttpParserError as error:
            kind = CallFailed if self._in_body else Misread
            self._refuse(kind(f"the answer is not HTTP: {error}"))
        if self._outcome is None and self._too_much():
            self._fail(f"the head of the answer is longer than {LONGEST_HEAD} bytes")
        if self._outcome is not None:
            self._note_head(data)
            return self._end(self._outcome, self._keep)
        return acknowledge(self._socket)

    def _too_much(self) -> bool:
        """Limits slow headers, endless interim answers and trailers, which no other
        limit counts.
        """
        return self._received > LONGEST_HEAD + (
            self._longest * CHUNK_OVERHEAD if self._in_body else 0
        )

    def _note_head(self, data: bytes) -> None:
        """Remember the head of a plain answer that came in one piece."""
        answer, head = self._outcome, data.find(EMPTY_LINE) + 4
        if (
            isinstance(answer, BotAnswer)
            and self._keep
            and not answer.encoding
            and answer.location is None
            and len(data) == self._received == head + len(answer.body)
            and head <= LONGEST_KNOWN
        ):
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[data[:head]] = answer.status, len(data)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._socket = transport.get_extra_info("socket")
        self.usable = True

    def connection_lost(self, exc: Exception | None) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
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
        if tell is not None and self._outcome is not None:
            tell(self._outcome)

    # Called by the parser. What it finds is told when it has read all that came.

    def _begin_answer(self) -> None:
        self._outcome: Outcome | None = None
        self._in_body = self._keep = False
        self._until_close = True
        self._encoding = b""
        self._location: bytes | None = None
        self._head = 0
        self._size = 0
        self._parts: list[bytes] = []

    def on_message_begin(self) -> None:
        if self._outcome is not None:
            raise Misread("more came than was asked for")

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
        if self._parser.get_status_code() >= 200:
            self._complete(self._parser.should_keep_alive())
        elif self._outcome is None:
            self._begin_answer()

    # The end of a request.

    def _complete(self, keep: bool) -> None:
        if self._outcome is not None:
            return None
        parts, status = self._parts, self._parser.get_status_code()
        if status in MISREAD:
            keep = False
            if self._reused:
                return self._refuse(Misread(f"the answer has the status {status}"))
        self._keep = keep
        self._outcome = self._answer(status, parts[0] if len(parts) == 1 else b"".join(parts))
        return None

    def _answer(self, status: int, body: bytes) -> BotAnswer:
        if self._measures and self._transport is not None:
            self._measures, measured = False, tcp_round_trip(self._transport)
            self._round_trip = (
                (self._round_trip or self.connecting) if measured is None else measured
            )
        network, self.connecting = self.connecting + self._round_trip, 0.0
        return BotAnswer(status, body, self._encoding, self._location, network)

    def _fail(self, words: str) -> None:
        self._refuse(CallFailed(words))

    def _refuse(self, problem: CallFailed) -> None:
        """The first outcome counts. After a problem the connection is closed."""
        self._keep = False
        if self._outcome is None:
            self._outcome = problem

    def _end(self, outcome: Outcome, keep: bool) -> None:
        tell, self._tell = self._tell, None
        if self._received:
            self._received = 0
            self._begin_answer()
        if keep:
            self.usable = self._reused = True
        else:
            self.abort()
        if tell is not None:
            tell(outcome)
