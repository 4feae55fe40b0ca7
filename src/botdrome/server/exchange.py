"""Exchange: a request over HTTP and its answer, whatever carries them."""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus

from msgspec import Struct

Headers = tuple[tuple[str, str], ...]


class Answer(Struct, frozen=True):
    status: int
    body: bytes = b""
    content_type: str = "application/json; charset=UTF-8"
    headers: Headers = ()

    def packed(self, head_only: bool, keep: bool) -> bytes:
        head = _head(self.status, self.content_type, self.headers, keep)
        if self.status == HTTPStatus.NO_CONTENT:
            return head + b"\r\n"
        head += b"Content-Length: %d\r\n\r\n" % len(self.body)
        return head if head_only else head + self.body


@lru_cache(maxsize=256)
def _head(status: int, content_type: str, headers: Headers, keep: bool) -> bytes:
    """All of it up to the length of the body."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [] if keep else ["Connection: close"]
    return "".join([f"{line}\r\n" for line in lines]).encode()


class Exchange:
    """One request, and the place for its answer."""

    __slots__ = ("_send", "address", "body", "headers", "keep", "method", "on_lost", "target")

    def __init__(self, method: str, target: bytes, headers: dict[bytes, bytes], body: bytes, address: str) -> None:
        self.method, self.target, self.headers, self.body, self.address = method, target, headers, body, address
        self.keep = True
        """Whether the connection stays open."""
        self.on_lost: Callable[[], None] | None = None
        """Called when the client goes away before it is answered."""
        self._send: Callable[[Exchange, Answer], None] | None = None

    def sent_by(self, send: "Callable[[Exchange, Answer], None]") -> None:
        self._send = send

    def answer(self, answer: Answer) -> None:
        """Now or later, once."""
        send, self._send, self.on_lost = self._send, None, None
        if send is not None:
            send(self, answer)

    def lose(self) -> None:
        """The client is gone."""
        forget, self._send, self.on_lost = self.on_lost, None, None
        if forget is not None:
            forget()
