"""HTTP requests, parsed from the bytes of a connection, one at a time.

The dispatcher, the HTTP server and the WebSocket handshake all read request lines and header fields
here, so that no two of them read the same bytes differently.

`RequestReader` passes httptools no byte beyond the current request: later bytes are the next
request, or a WebSocket that the dispatcher opens. `plain_head` parses the heads of simple requests,
which bots repeat thousands of times, so HTTP connections cache them.
"""

import asyncio
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import httptools
from msgspec import Struct

LONGEST_HEAD = 16 << 10
MOST_FIELDS = 100
"""Maximum lines of a head. Each uses a few hundred bytes of memory."""
EMPTY_LINE = b"\r\n\r\n"
REQUEST_LINE = re.compile(rb"([A-Z-]{1,20}) ([!-~]+) HTTP/1\.([01])\r\n")
ABSOLUTE = re.compile(rb"https?://[^/?#]+", re.IGNORECASE)
"""The beginning of a target in the form that is sent to proxies."""
ESCAPED = re.compile(rb"%(?:2[dDeE]|3\d|[46][1-9a-fA-F]|[57][\daA]|5[fF]|7[eE])")
"""A letter, a digit or one of `-._~`, percent-encoded.

RFC 3986 calls it the same as the plain character.
"""
WEBSOCKET_KEY = b"sec-websocket-key"
KEY_LINE = re.compile(rb"\r\nsec-websocket-key:[ \t]*([!-~]+)\r\n(?![ \t])", re.IGNORECASE)
"""A whole line, which the next one does not continue."""
LONGEST_CACHED = 1024
"""Maximum bytes of a cached head."""
LONGEST_PLAIN = 16 << 10
"""Maximum bytes of the body of a plain request."""
WEBSOCKET = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
FORWARDED_FOR = b"x-forwarded-for"
NO_REQUEST = 400, "BAD_REQUEST", "this is no HTTP/1.1 request"
NOT_ONE_HOST = 400, "BAD_REQUEST", "an HTTP/1.1 request has exactly one Host header"
LeavesNode = Callable[[bytes], bool]
"""Whether requests for a target are answered by another node."""


class RequestLine(NamedTuple):
    method: bytes
    target: bytes
    """The path and the query, without scheme and host.

    No letter or digit of the path is percent-encoded.
    """
    version: str
    """1.0 or 1.1."""


class RequestHeaders(dict[bytes, bytes]):
    """Headers by lower-case name.

    Several lines of a name are joined as RFC 9110 says, so that all readers see the same.
    """

    count = 0
    """The number of lines."""
    hosts = 0
    """The number of Host lines."""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by httptools."""
        name, value = name.lower(), value.rstrip(b" \t")
        self.count += 1
        self.hosts += name == b"host"
        if name in self:
            value = self[name] + (b"; " if name == b"cookie" else b", ") + value
        self[name] = value


PERCENT = ord("%")
"""A number, since Python looks for a byte faster than for bytes."""


def read_line(head: bytes) -> RequestLine | None:
    """Return the request line at the beginning of these bytes; None: there is none, or it is not
    complete.
    """
    found = REQUEST_LINE.match(head)
    if found is None:
        return None
    method, target, minor = found.groups()
    if target[:1] != b"/":
        host = ABSOLUTE.match(target)
        if host is None:
            return None
        target = target[host.end() :]
        target = target if target[:1] == b"/" else b"/" + target
    return RequestLine(
        method, _plain(target) if PERCENT in target else target, "1.1" if minor == b"1" else "1.0"
    )


def _plain(target: bytes) -> bytes:
    path, mark, query = target.partition(b"?")
    return ESCAPED.sub(lambda found: bytes((int(found[0][1:], 16),)), path) + mark + query


def read_headers(lines: bytes) -> RequestHeaders | None:
    """Return the headers in the rest of a head, which ends with an empty line; None: they are
    malformed, or too many.
    """
    headers = RequestHeaders()
    try:
        httptools.HttpRequestParser(headers).feed_data(b"POST / HTTP/1.1\r\n" + lines)
    except httptools.HttpParserUpgrade:
        pass  # it has read all of them
    except httptools.HttpParserError:
        return None
    return headers if headers.count <= MOST_FIELDS else None


def wants_websocket(head: bytes) -> bool:
    return WEBSOCKET.search(head) is not None


# A body that is delivered while it arrives.


class BodyStream:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.more = True
        self._come = asyncio.Event()

    def add(self, part: bytes, more: bool) -> None:
        self._parts.append(part)
        self.more = more
        self._come.set()

    async def next(self) -> bytes:
        await self._come.wait()
        if self.more:
            self._come.clear()
        part, self._parts = b"".join(self._parts), []
        return part


LINE = re.compile(rb"(GET|POST) (/[\w/.&=+~,:@-]*(?:\?[\w/.?&=%+~,:@-]*)?) HTTP/1\.1\r\n")
"""The line of a plain request, in which `read_line` would change nothing."""
UNUSUAL = {b"expect", b"transfer-encoding", b"upgrade"}
"""Headers that make a request not plain."""
UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
MOST_LINE_ENDS = 64
"""Maximum bytes of line ends before a request. Some clients send one after a body."""
MOST_PIECES = 1000
"""Maximum chunks of a body."""
MOST_AROUND_CHUNKS = 2 * LONGEST_HEAD
"""Maximum bytes of the sizes, extensions and trailers of a chunked body."""
NOT_CHUNKED = 400, "BAD_REQUEST", "Transfer-Encoding is chunked, in HTTP/1.1, or missing"
BAD_CHUNKS = (
    400,
    "BAD_REQUEST",
    f"the chunks of a body have at most {MOST_AROUND_CHUNKS} bytes beside its content",
)


class HttpRequest(Struct, frozen=True):
    method: str
    target: bytes
    headers: RequestHeaders
    body: bytes
    keep: bool
    """Whether the connection stays open after the answer."""
    version: str = "1.1"
    whole: bool = True
    """False: the body exceeds the limit and is truncated."""
    stream: BodyStream | None = None
    """The body, if the request is handled while the body arrives."""
    plain: bool = False
    """Whether it is a plain GET or POST. Its head is shared, so `body` is empty: see
    `Exchange.body`.
    """


class BadHttpRequest(Exception):
    """The connection cannot be parsed any further.

    Arguments: status, word and sentence of the answer.
    """

    def __init__(self, status: int, word: str, sentence: str) -> None:
        super().__init__(word)
        self.status, self.word, self.sentence = status, word, sentence


class ForDispatcher(Exception):
    """The next, still unread request asks for a WebSocket, or for something at another node."""


def plain_head(head: bytes) -> tuple[HttpRequest, int] | None:
    """Return the request with this head, still without its body, and the length of the body.

    None: the request is not plain, so RequestReader must parse it.
    """
    line = LINE.match(head)
    if line is None:
        return None
    found = _plain_headers(head[line.end() :])
    if found is None:
        return None
    headers, length, keep = found
    request = HttpRequest(line[1].decode(), line[2], headers, b"", keep, plain=True)
    return request, length


@lru_cache(maxsize=1024)
def _plain_headers(lines: bytes) -> tuple[RequestHeaders, int, bool] | None:
    """Return the headers, the length of the body, and whether the connection stays open.

    They are cached: many clients use new targets with the same headers.
    """
    if not lines.endswith(b"\r\n") or lines.count(b"\n") != lines.count(b"\r\n"):
        return None
    headers = read_headers(lines)
    if headers is None or not UNUSUAL.isdisjoint(headers) or headers.hosts != 1:
        return None
    length = int(headers.get(b"content-length", b"0"))
    return None if length > LONGEST_PLAIN else (headers, length, stays_open("1.1", headers))


def stays_open(version: str, headers: RequestHeaders) -> bool:
    old = version != "1.1"
    if b"connection" not in headers:
        return not old
    wish = headers[b"connection"].lower()
    return wish.find(b"close") < 0 and (not old or wish.find(b"keep-alive") >= 0)


class RequestReader:
    def __init__(
        self,
        longest_body: Callable[[bytes], int],
        streams: Callable[[bytes], bool],
        go_on: Callable[[], None],
    ) -> None:
        """For each target, the functions return the maximum bytes of the body, and whether it is
        delivered while it arrives.

        `go_on` tells a client that expects 100 Continue to send its body.
        """
        self.begun = False
        """Whether there are unread bytes or a part of a request."""
        self.in_head = False
        self._longest_body, self.streams, self._go_on = longest_body, streams, go_on
        self.leaves: LeavesNode | None = None
        self._buffer, self._at = b"", 0
        """Received bytes, and the number already read."""
        self._parser = httptools.HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self._line: RequestLine | None = None
        """The request line, once the head is read. Fields after it are trailers."""
        self._headers = RequestHeaders()
        self._body: list[bytes] = []
        self._size = self._limit = self._around = 0
        """Bytes of the body: received, allowed, and received around its chunks."""
        self._awaited: int | None = None
        """Bytes of the body still to be received; None: the body is chunked."""
        self.stream: BodyStream | None = None
        """The body of the last request, if it is still arriving."""
        self._complete = False
        self._skipped = 0
        """Bytes of line ends before the request."""

    def feed(self, data: bytes) -> None:
        if self.begun:
            self._buffer, self._at = self.unread + data, 0
        else:
            self._buffer, self._at, self._skipped = data, 0, 0
        self.begun = True

    @property
    def unread(self) -> bytes:
        return self._buffer[self._at :]

    def read(self) -> HttpRequest | None:
        """Return the next request, or None if it is incomplete.

        Raise BadHttpRequest or ForDispatcher.
        """
        too_long = False
        while self._at < len(self._buffer) and not self._complete and not too_long:
            if not (self._read_body() if self._line else self._read_head()):
                break
            if not self._complete and self._line and self.streams(self._line.target):
                return self._announced()
            too_long = (
                self._size + (self._awaited or 0) > self._limit or len(self._body) > MOST_PIECES
            )
        found = self._taken(not too_long) if self._complete or too_long else None
        self.in_head = self._line is None and self._at < len(self._buffer)
        self.begun = self._line is not None or self.in_head
        if self._at == len(self._buffer):
            self._buffer, self._at = b"", 0
        return found

    def read_stream(self) -> None:
        """Deliver the received part of that body.

        Of a body above its limit, deliver just enough to show that.
        """
        stream = self.stream
        assert stream is not None
        while (
            self._at < len(self._buffer)
            and not self._complete
            and self._size <= self._limit
            and self._read_body()
        ):
            pass
        over = self._complete or self._size > self._limit
        stream.add(b"".join(self._body), not over)
        self._body = []
        if self._complete:
            self._begin()
        self.begun = self._at < len(self._buffer)

    def _announced(self) -> HttpRequest:
        """Return a request whose body is still arriving."""
        line, self.stream = self._line, BodyStream()
        assert line is not None
        keep = stays_open(line.version, self._headers)
        return HttpRequest(
            line.method.decode(),
            line.target,
            self._headers,
            b"",
            keep,
            line.version,
            stream=self.stream,
        )

    def _taken(self, whole: bool) -> HttpRequest:
        line, headers, body = self._line, self._headers, b"".join(self._body)
        assert line is not None
        self._begin()
        keep = whole and stays_open(line.version, headers)
        return HttpRequest(
            line.method.decode(), line.target, headers, body, keep, line.version, whole
        )

    # Each returns whether it made progress.

    def _read_head(self) -> bool:
        if self._buffer[self._at] in b"\r\n":
            self._skip_line_ends()
        buffer, start = self._buffer, self._at
        end = buffer.find(EMPTY_LINE, start) + 4
        if (len(buffer) if end < 4 else end) - start > LONGEST_HEAD:
            raise BadHttpRequest(
                431, "HEAD_TOO_LONG", f"the head of a request has at most {LONGEST_HEAD} bytes"
            )
        if end < 4:
            if b"\n\n" in buffer:
                raise BadHttpRequest(*NO_REQUEST)
            return False
        head = buffer[start:end]
        line = read_line(head)
        if line is None:
            raise BadHttpRequest(*NO_REQUEST)
        self._parse(self._for_this_connection(head, line.target))
        self._check(line.version)
        self._line, self._at, self._limit = line, end, self._longest_body(line.target)
        if not self._complete:
            self._expect_body()
        return True

    def _check(self, version: str) -> None:
        """Check what httptools accepts and no two servers read the same way."""
        if self._headers.hosts > 1 or (not self._headers.hosts and version == "1.1"):
            raise BadHttpRequest(*NOT_ONE_HOST)
        encoding = self._headers.get(b"transfer-encoding")
        if encoding is not None and (encoding.lower() != b"chunked" or version != "1.1"):
            raise BadHttpRequest(*NOT_CHUNKED)

    def _for_this_connection(self, head: bytes, target: bytes) -> bytes:
        """Return the head without upgrades to other protocols than WebSocket: they are ignored, as
        HTTP allows.
        """
        if (self.leaves is not None and self.leaves(target)) or wants_websocket(head):
            raise ForDispatcher
        return UPGRADE.sub(b"\r\nX-Not-For-Us:", head) if UPGRADE.search(head) else head

    def _skip_line_ends(self) -> None:
        rest = self.unread.lstrip(b"\r\n")
        self._skipped += len(self._buffer) - len(rest) - self._at
        self._at = len(self._buffer) - len(rest)
        if self._skipped > MOST_LINE_ENDS:
            raise BadHttpRequest(*NO_REQUEST)

    def _expect_body(self) -> None:
        if b"transfer-encoding" not in self._headers:
            self._awaited = int(self._headers[b"content-length"])
        if (
            self._headers.get(b"expect", b"").lower() == b"100-continue"
            and (self._awaited or 0) <= self._limit
        ):
            self._go_on()

    def _read_body(self) -> bool:
        """Parse up to the next empty line only: a chunked body ends with one, so none of the next
        request is read.
        """
        buffer, start = self._buffer, self._at
        if self._awaited is not None:
            end = min(len(buffer), start + self._awaited)
            self._awaited -= end - start
        else:
            found = buffer.find(EMPTY_LINE, start)
            end = found + 4 if found >= 0 else len(buffer) - 3
        if end <= start:
            return False
        size = self._size
        self._parse(buffer[start:end])
        self._at, self._around = end, self._around + end - start - (self._size - size)
        if self._around > MOST_AROUND_CHUNKS:
            raise BadHttpRequest(*BAD_CHUNKS)
        return True

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as fault:
            if isinstance(fault.__context__, BadHttpRequest):
                raise fault.__context__ from None
            raise BadHttpRequest(*NO_REQUEST) from None

    # Called by httptools.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Trailers are ignored: a proxy checks and adds headers only, so that a client could forge
        its fields there.
        """
        if self._line is not None:
            return
        if self._headers.count >= MOST_FIELDS:
            raise BadHttpRequest(
                431, "HEAD_TOO_LONG", f"the head of a request has at most {MOST_FIELDS} fields"
            )
        self._headers.on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self._complete = True
