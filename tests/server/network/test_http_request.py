"""Plain requests: the fast path reads the same as the parser, and leaves all other
requests to it.
"""

import httptools
import pytest
from msgspec.structs import replace

from botdrome.server.network import http_request
from botdrome.server.network.http_request import (
    EMPTY_LINE,
    LONGEST_PLAIN,
    HttpRequest,
    RequestHeaders,
    plain_head,
    read_headers,
)

PLAIN = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /bomber/rest/state/0123?after=7&state=list HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /ab?c=%20 HTTP/1.1\r\nhost:x\r\nACCEPT: text/x-python, */*\r\nX-User-Id:  0123 \r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
    b"GET /a HTTP/1.1\r\nHost: x\r\nTwice: a\r\nTwice: b\r\nNothing:\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n"
    b'{"action":"MOVE_UP"',
    b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 2 \r\n\r\nhi",
    b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nhi",
]
OTHERS = [
    b"",
    b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"get / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /a%20b HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /#a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\n\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n\x00",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (LONGEST_PLAIN + 1)
    + b"x" * (LONGEST_PLAIN + 1),
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nh",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi!",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\nhi",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\nhi",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
    b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
]


def plain_request(data: bytes) -> HttpRequest | None:
    """Return the only request in these bytes, as an HTTP connection reads it."""
    end = data.find(EMPTY_LINE) + 4
    found = plain_head(data[:end])
    if found is None or end + found[1] != len(data):
        return None
    return replace(found[0], body=data[end:])


def test_headers_are_parsed_once_for_all_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def parse(lines: bytes) -> RequestHeaders | None:
        parsed.append(lines)
        return read_headers(lines)

    monkeypatch.setattr(http_request, "read_headers", parse)
    lines = b"Host: parsed once\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    for target in (b"/1", b"/2"):
        found = plain_head(b"POST %b HTTP/1.1\r\n%b" % (target, lines))
        assert found is not None
        request, length = found
        assert (request.target, length, request.keep) == (target, 2, False)
        assert request.headers[b"host"] == b"parsed once"
    assert parsed == [lines]


class Parsed:
    """A request as httptools reads it."""

    def __init__(self, data: bytes) -> None:
        self.target, self.body = b"", b""
        self.keep = self.whole = False
        self.headers: dict[bytes, bytes] = {}
        self.parser = httptools.HttpRequestParser(self)
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name, value = name.lower(), value.rstrip()
        self.headers[name] = self.headers[name] + b", " + value if name in self.headers else value

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.keep = self.parser.should_keep_alive()
        self.whole = True


@pytest.mark.parametrize("data", PLAIN)
def test_what_is_plain_is_read_as_the_parser_reads_it(data: bytes) -> None:
    parsed = Parsed(data)
    assert parsed.whole
    method = parsed.parser.get_method().decode()
    for _ in range(2):
        found = plain_request(data)
        assert found is not None
        assert (found.method, found.target, found.body, found.keep) == (
            method,
            parsed.target,
            parsed.body,
            parsed.keep,
        )
        assert found.headers == parsed.headers


@pytest.mark.parametrize("data", PLAIN)
def test_what_is_not_all_here_or_not_alone_is_left_to_the_parser(data: bytes) -> None:
    assert [plain_request(data[:end]) for end in range(len(data))] == [None] * len(data)
    assert plain_request(data + b"\r\n") is plain_request(data + data) is None


@pytest.mark.parametrize("data", OTHERS)
def test_what_is_not_plain_is_left_to_the_parser(data: bytes) -> None:
    assert plain_request(data) is None
