"""Plain requests: the ordinary ones, which bots send over and over. What their headers say is found out once for all of them."""

import re
from collections.abc import Mapping
from functools import lru_cache

import httptools

LINE = re.compile(rb"(GET|POST) (/[\w/.?&=%+~,:@-]*) HTTP/1\.1\r\n")
METHODS = {b"GET": "GET", b"POST": "POST"}
EMPTY_LINE = b"\r\n\r\n"
LONGEST = 1024
"""Bytes of the headers."""
FORWARDED_FOR = b"x-forwarded-for"
UNUSUAL = {b"expect", b"transfer-encoding", b"upgrade"}
"""Who sends one of these expects more than an answer."""

Headers = Mapping[bytes, bytes]
Plain = tuple[str, bytes, Headers, bool, bytes]
"""Method, target, headers, whether the connection stays open, body."""


def plain_request(data: bytes) -> Plain | None:
    """The one request in these bytes; None: it is not plain, not all here or not alone, or it is none."""
    line = LINE.match(data)
    if line is None:
        return None
    end = data.find(EMPTY_LINE) + 4
    if end - line.end() > LONGEST:
        return None
    found = _read_headers(data[line.end() : end])
    if found is None:
        return None
    headers, length, keep = found
    if end + length != len(data):
        return None
    method, target = line.groups()
    return METHODS[method], target, headers, keep, data[end:]


@lru_cache(maxsize=1024)
def _read_headers(lines: bytes) -> tuple[Headers, int, bool] | None:
    """With the length of the body, and whether the connection stays open."""
    if not lines.endswith(b"\r\n") or lines.count(b"\n") != lines.count(b"\r\n"):
        return None
    finds = _Finds()
    try:
        httptools.HttpRequestParser(finds).feed_data(b"POST / HTTP/1.1\r\n" + lines)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade):
        return None
    headers = finds.headers
    if not UNUSUAL.isdisjoint(headers):
        return None
    return headers, int(headers.get(b"content-length", b"0")), keeps(b"HTTP/1.1", headers)


def add_header(headers: dict[bytes, bytes], name: bytes, value: bytes) -> None:
    """The last of several lines counts; but of proxies each may have added a line of its own."""
    name = name.lower()
    before = headers.get(name) if name == FORWARDED_FOR else None
    headers[name] = value if before is None else before + b"," + value


class _Finds:
    """What httptools finds."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        add_header(self.headers, name, value)


def keeps(version: bytes, headers: Headers) -> bool:
    """Whether the connection stays open after the answer."""
    old = not version.startswith(b"HTTP/1.1")
    if b"connection" not in headers:
        return not old
    wish = headers[b"connection"].lower()
    return b"close" not in wish and (not old or b"keep-alive" in wish)
