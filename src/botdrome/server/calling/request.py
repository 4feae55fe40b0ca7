"""Request: the bytes of a call, made so that nothing in an address or a header can break out of its line."""

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from botdrome import __version__
from botdrome.server.calling.target import Target

NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
VALUE = re.compile(r"[\x20-\x7e\t]*")
OURS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
    "user-agent": f"botdrome/{__version__}",
}
FRAMING = {"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade"}

Headers = tuple[tuple[str, str], ...]


def checked(headers: Mapping[str, str]) -> Headers:
    """ValueError where a header could be taken for something else, or is not the caller's to set."""
    for name, value in headers.items():
        if not NAME.fullmatch(name) or not VALUE.fullmatch(value) or name.lower() in FRAMING:
            raise ValueError(f"no header to send: {name!r}: {value!r}")
    return tuple((name.lower(), value) for name, value in headers.items())


class Request(Struct, frozen=True, gc=False):
    method: str
    target: Target
    body: bytes
    headers: Headers = ()
    tail: bytes = b""
    """The rest of the body, where it is large and others are sent the same: it is not copied."""

    def written(self) -> bytes:
        """All but the tail."""
        head, body = _head(self.method, self.target, self.headers), self.body
        if self.method == "GET":
            return head + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body) + len(self.tail), body)

    def led_on(self, status: int, target: Target) -> "Request":
        """What a redirect makes of it: 307 and 308 keep method and body. Another host is not told what was for this one."""
        headers = self.headers if target.origin == self.target.origin else ()
        if status in (307, 308):
            return Request(self.method, target, self.body, headers, self.tail)
        return Request("GET", target, b"", headers)


@lru_cache(4096)
def _head(method: str, target: Target, headers: Headers) -> bytes:
    fields = {"host": target.place} | OURS | dict(headers)
    if method == "GET":
        del fields["content-type"]
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {target.path} HTTP/1.1\r\n{lines}".encode("ascii")
