"""The head of an HTTP request: the one reader of request lines and header fields, for HTTP and for
WebSockets.

The dispatcher, the HTTP server and the WebSocket handshake all ask this module, so that no two of
them read the same bytes differently.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import httptools

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
UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
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
        method, _plain(target) if b"%" in target else target, "1.1" if minor == b"1" else "1.0"
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
    return UPGRADE.search(head) is not None
