"""Line: one connection to a bot's server, with one question on it at a time."""

import asyncio
import socket
from collections.abc import Callable
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from botdrome.server.calling.answer import CallFailed, TooLate
from botdrome.server.calling.unpacking import too_large
from botdrome.server.network.quick_ack import acknowledge

LONGEST_HEAD = 16 << 10
CHUNK_OVERHEAD = 8
"""So many times its size a body may come as, in small chunks."""
FRAMING = {b"content-length", b"transfer-encoding"}
WANTED = {len(name) for name in (*FRAMING, b"content-encoding", b"location")}
"""The lengths of the headers that matter: most others need not be looked at."""


class Reply(Struct, gc=False):
    """An answer as it came."""

    status: int
    body: bytes
    encoding: bytes
    location: bytes | None


class Silent(CallFailed):
    """The other side closed before it said anything: on a line that was kept, it may just not have kept it."""


class Misread(CallFailed):
    """The other side did not take the question for a request: on a line that was kept, it may have left the last one unread."""


MISREAD = frozenset({400, 405, 408, 414, 501, 505})
"""What is said to that: some bots never look at the body of a question, and their servers take it for the next request."""


class Line(asyncio.Protocol):
    def __init__(self, longest: int, on_lost: Callable[["Line"], None]) -> None:
        """`longest`: bytes of a body."""
        self.usable = False
        """Whether a question can be asked."""
        self.round = 0
        """Of the pool's sweeps, when it was last used."""
        self._again = False
        """Whether there was a question before."""
        self._longest, self._on_lost = longest, on_lost
        self._loop = asyncio.get_running_loop()
        self._until, self._timer_due = 0.0, 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)  # many a bot on bare sockets ends lines so
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._waiter: asyncio.Future[Reply] | None = None
        self._received = 0
        self._begin_reply()

    def ask(self, request: bytes, until: float, tail: bytes = b"") -> asyncio.Future[Reply]:
        """The reply to come, or CallFailed. Whoever stops waiting for it must hang up."""
        assert self.usable and self._transport is not None
        self.usable = False
        self._received = 0
        self._until = until
        self._begin_reply()
        if self._timer is None or self._timer_due > until:
            self._set_timer()
        waiter = self._waiter = self._loop.create_future()
        self._transport.write(request)
        if tail:
            self._transport.write(tail)
        return waiter

    def _set_timer(self) -> None:
        """One timer serves many calls: when it rings too early, it is set again."""
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

    def hang_up(self) -> None:
        self.usable = False
        self._waiter = None
        if self._transport is not None:
            self._transport.abort()

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._socket = transport.get_extra_info("socket")
        self.usable = True

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            return self.hang_up()
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
        """Dripping headers, endless interim answers and trailers come to nothing else that is counted."""
        return self._received > LONGEST_HEAD + (self._longest * CHUNK_OVERHEAD if self._in_body else 0)

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

    # What the parser tells.

    def _begin_reply(self) -> None:
        self._in_body = False
        self._until_close = True
        self._encoding = b""
        self._location: bytes | None = None
        self._head = 0
        self._size = 0
        self._parts: list[bytes] = []

    def on_message_begin(self) -> None:
        if self._waiter is None:
            self.hang_up()

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
            self._begin_reply()

    # How it ends.

    def _complete(self, keep: bool) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is None or waiter.done():
            return None
        parts, status = self._parts, self._parser.get_status_code()
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        if status in MISREAD:
            if self._again:
                self.hang_up()
                return waiter.set_exception(Misread(f"the answer has the status {status}"))
            keep = False
        waiter.set_result(Reply(status, body, self._encoding, self._location))
        if keep:
            self.usable = self._again = True
        elif self._transport is not None:
            self._transport.close()
        return None

    def _fail(self, words: str) -> None:
        self._refuse(CallFailed(words))

    def _refuse(self, problem: CallFailed) -> None:
        waiter = self._waiter
        self.hang_up()
        if waiter is not None and not waiter.done():
            waiter.set_exception(problem)
