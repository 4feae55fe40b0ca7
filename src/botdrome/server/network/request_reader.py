"""RequestReader: from the bytes of a connection to whole requests, one at a time.

Bytes are gathered until a whole piece of a request is there: its head, a body of known length, or a part of a chunked body up
to an empty line. A piece goes to httptools, which checks and decodes it. Since no piece reaches beyond its request, what
follows is the next request, untouched.
"""

import re
from collections.abc import Callable

import httptools

from botdrome.server.network.door import wants_websocket
from botdrome.server.network.gate import Limits
from botdrome.server.network.plain_request import EMPTY_LINE, Plain, add_header, keeps

UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
LINE_ENDS = re.compile(rb"[\r\n]*")
MOST_LINE_ENDS = 64
"""Bytes of them that are passed over before a request: some clients send one after a body."""
MOST_PIECES = 1000
"""Of a chunked body."""


class Unserved(Exception):
    """Nothing that follows can be trusted to be a request: status, word and sentence for the other side."""

    def __init__(self, status: int, word: str, sentence: str) -> None:
        super().__init__(word)
        self.status, self.word, self.sentence = status, word, sentence


class ForOthers(Exception):
    """The next request is not served here; it is still unread."""


NO_REQUEST = 400, "BAD_REQUEST", "this is no HTTP/1.1 request"


class RequestReader:
    def __init__(self, limits: Limits, ours: Callable[[bytes], bool], go_on: Callable[[], None]) -> None:
        """`ours`: whether a target is served here. `go_on` tells a client that asks first to send its body."""
        self.begun = False
        """Whether something is here that is not read, or a request of which more is to come."""
        self.of_old = False
        """Whether the last request that was read here was of HTTP/1.0."""
        self._limits, self._ours, self._go_on = limits, ours, go_on
        self._buffer, self._at = b"", 0
        """What was received, and how much of it is read."""
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
        self._passed = 0
        """Bytes of line ends before the request."""

    def feed(self, data: bytes) -> None:
        if self.begun:
            self._buffer, self._at = self.unread + data, 0
        else:
            self._buffer, self._at, self._passed = data, 0, 0
        self.begun = True

    @property
    def unread(self) -> bytes:
        return self._buffer[self._at :]

    def read(self) -> Plain | None:
        """The next request; None: not all of it is here. Or Unserved, or ForOthers."""
        while self._at < len(self._buffer) and not self._complete:
            if not (self._read_body() if self._words else self._read_head()):
                break
        found = self._taken() if self._complete else None
        self.begun = bool(self._words) or self._at < len(self._buffer)
        if self._at == len(self._buffer):
            self._buffer, self._at = b"", 0
        return found

    def _taken(self) -> Plain:
        (method, target, version), headers, body = self._words, self._headers, b"".join(self._body)
        self._begin()
        self.of_old = not version.startswith(b"HTTP/1.1")
        return method.decode(), target, headers, keeps(version, headers), body

    # Pieces: each says whether it was all here.

    def _read_head(self) -> bool:
        if self._buffer[self._at] in b"\r\n":
            self._pass_line_ends()
        buffer, start = self._buffer, self._at
        end = buffer.find(EMPTY_LINE, start) + 4
        if (len(buffer) if end < 4 else end) - start > self._limits.head:
            raise Unserved(431, "HEAD_TOO_LONG", f"the head of a request has at most {self._limits.head} bytes")
        if end < 4:
            return False
        head = buffer[start:end]
        words = head[: head.index(b"\r\n")].split(b" ", 2)
        if len(words) < 3 or words[0].strip() == b"PRI":  # so begins HTTP/2
            raise Unserved(*NO_REQUEST)
        if not self._ours(words[1]):
            raise ForOthers
        if UPGRADE.search(head):
            if wants_websocket(head):
                raise ForOthers
            head = UPGRADE.sub(b"\r\nX-Not-For-Us:", head)  # no other upgrade is on offer: then the request is an ordinary one
        self._parse(head)
        self._words, self._at = words, end
        if not self._complete:
            self._expect_body()
        return True

    def _pass_line_ends(self) -> None:
        found = LINE_ENDS.match(self._buffer, self._at)
        assert found is not None
        self._passed += found.end() - self._at
        self._at = found.end()
        if self._passed > MOST_LINE_ENDS:
            raise Unserved(*NO_REQUEST)

    def _expect_body(self) -> None:
        if b"transfer-encoding" not in self._headers:
            self._awaited = int(self._headers[b"content-length"])
        if self._awaited is not None and self._awaited > self._limits.body:
            raise self._too_long()
        if self._headers.get(b"expect", b"").lower() == b"100-continue":
            self._go_on()

    def _read_body(self) -> bool:
        buffer, start = self._buffer, self._at
        if self._awaited is None:
            found = buffer.find(EMPTY_LINE, start)
            end = found + 4 if found >= 0 else len(buffer) + 1
        else:
            end = start + self._awaited
        if end > len(buffer):
            if len(buffer) - start > 2 * self._limits.body:
                raise self._too_long()
            return False
        self._parse(buffer[start:end])
        self._at = end
        if len(self._body) > MOST_PIECES or sum(map(len, self._body)) > self._limits.body:
            raise self._too_long()
        return True

    def _too_long(self) -> Unserved:
        return Unserved(413, "BODY_TOO_LONG", f"the body of a request has at most {self._limits.body} bytes")

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            raise Unserved(*NO_REQUEST) from None

    # What httptools finds.

    def on_header(self, name: bytes, value: bytes) -> None:
        add_header(self._headers, name, value)

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._complete = True
