"""Exchange: a request over HTTP and its answer, whatever carries them."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus

from msgspec import Struct

from botdrome.wire.safe_headers import SAFE_HEADERS

Headers = tuple[tuple[str, str], ...]
NO_CONTENT = int(HTTPStatus.NO_CONTENT)


class Answer(Struct, frozen=True):
    status: int
    body: bytes = b""
    content_type: str = "application/json; charset=UTF-8"
    headers: Headers = ()
    rest: bytes = b""
    """Of the body: what many are sent alike is copied only once for each."""

    def packed(self, head_only: bool, keep: bool) -> bytes:
        head, body, rest = _head(self.status, self.content_type, self.headers, keep), self.body, self.rest
        length = len(body) + len(rest)
        if head_only or self.status == NO_CONTENT:
            return head + (b"\r\n" if self.status == NO_CONTENT else b"Content-Length: %d\r\n\r\n" % length)
        return b"%bContent-Length: %d\r\n\r\n%b%b" % (head, length, body, rest)


@lru_cache(maxsize=256)
def _head(status: int, content_type: str, headers: Headers, keep: bool) -> bytes:
    """All of it up to the length of the body."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in (*headers, *SAFE_HEADERS)]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [] if keep else ["Connection: close"]
    return "".join([f"{line}\r\n" for line in lines]).encode()


class Exchange(Struct, eq=False):
    """One request, and the place for its answer."""

    method: str
    target: bytes
    headers: Mapping[bytes, bytes]
    body: bytes
    address: str
    send: "SendAnswer | None"
    """Takes the answer, once."""
    keep: bool = True
    """Whether the connection stays open."""
    on_lost: Callable[[], None] | None = None
    """Called when the client goes away before it is answered."""

    def answer(self, answer: Answer) -> None:
        """Now or later, once."""
        send, self.send, self.on_lost = self.send, None, None
        if send is not None:
            send(self, answer)

    def lose(self) -> None:
        """The client is gone."""
        forget, self.send, self.on_lost = self.on_lost, None, None
        if forget is not None:
            forget()


SendAnswer = Callable[[Exchange, Answer], None]
