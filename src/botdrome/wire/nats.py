"""The client's side of the NATS protocol:
https://docs.nats.io/reference/reference-protocols/nats-protocol.
"""

import msgspec

from botdrome.wire.framing.streams import BadFrame

# Lines of a NATS server that are read into values.


class NatsInfo(msgspec.Struct, frozen=True):
    """The first line of a server."""

    max_payload: int
    auth_required: bool = False
    """False: anyone who reaches the server can connect, as with `no_auth_user`."""
    tls_required: bool = False
    tls_available: bool = False


class NatsError(msgspec.Struct, frozen=True):
    """A complaint of a server, such as `Authorization Violation`."""

    words: str


LONGEST_LINE = 65536
"""Bytes. A server of a large NATS cluster lists all others in its first line."""
PING = b"PING\r\n"
PONG = b"PONG\r\n"

NatsEvent = tuple[bytes, bytes] | NatsInfo | NatsError | bytes
"""A message as its subject and payload, or PING, or PONG, or a rare one."""


class NatsReader:
    """Cuts what a server sends into events."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False

    def feed(self, data: bytes) -> list[NatsEvent]:
        """Return the events that are complete now. Raise BadFrame for what no NATS server sends."""
        if self._rest:
            data = self._rest + data
        events: list[NatsEvent] = []
        start, size = 0, len(data)
        while (end := data.find(b"\r\n", start)) >= 0:
            if data.startswith(b"MSG ", start):
                words = data[start + 4 : end].split()
                after = end + 2 + _size(words)
                if after + 2 > size:
                    break
                events.append((words[0], data[end + 2 : after]))
                start = after + 2
            else:
                events += self._line(data[start:end])
                start = end + 2
        self._rest = data[start:]
        if end < 0 and len(self._rest) > LONGEST_LINE:
            raise BadFrame(f"a line of more than {LONGEST_LINE} bytes")
        return events

    def _line(self, line: bytes) -> list[NatsEvent]:
        verb, _, rest = line.partition(b" ")
        match verb.upper():
            case b"INFO":
                self._begun = True
                return [_info(rest)]
            case b"PING" if self._begun:
                return [PING]
            case b"PONG" if self._begun:
                return [PONG]
            case b"+OK" if self._begun:
                return []
            case b"-ERR":
                return [NatsError(rest.decode(errors="replace").strip(" '"))]
        raise BadFrame(f"the line {line[:60].decode(errors='replace')!r}")


def _size(words: list[bytes]) -> int:
    """Return the size of a payload.

    The words are its subject, the number of the subscription, and maybe where to answer.
    """
    if len(words) in (3, 4) and words[-1].isdigit():
        return int(words[-1])
    raise BadFrame("a message without its size")


def _info(text: bytes) -> NatsInfo:
    try:
        return msgspec.json.decode(text, type=NatsInfo)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFrame(f"a first line with a mistake: {error}") from None


def connect(name: str, version: str, tls: bool, user: str = "", password: str = "") -> bytes:
    """Log in. A user without a password is a token."""
    login = {"user": user, "pass": password} if password else {"auth_token": user} if user else {}
    options = {
        "verbose": False,
        "pedantic": False,
        "echo": False,
        "tls_required": tls,
        "name": name,
    }
    return b"CONNECT %b\r\n" % msgspec.json.encode(
        options | {"lang": "python", "version": version, "protocol": 1} | login
    )


def subscribe(subject: str) -> bytes:
    """Ask for all messages of a subject. A connection has one subscription."""
    return b"SUB %b 1\r\n" % subject.encode()


def publish(subject: bytes, payload: bytes) -> bytes:
    return b"PUB %b %d\r\n%b\r\n" % (subject, len(payload), payload)
