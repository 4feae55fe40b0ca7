"""Framing: how a stream of bytes is cut into messages."""

from ipaddress import IPv4Address, IPv6Address
from struct import Struct
from typing import Protocol


class BadFrame(Exception):
    """A part of the stream that is no message, with the reason. Nothing after it can be read."""


class Framing(Protocol):
    @property
    def rest(self) -> bytes | bytearray:
        """Bytes received but not returned yet. While it is empty, `feed(b"")` returns nothing."""

    def whole(self, data: bytes) -> bytes | None:
        """Return the message if the data is exactly one, as nearly always; None: feed it."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that are complete now.

        Raise BadFrame once all messages before it were returned.
        """

    def pack(self, messages: list[bytes]) -> bytes:
        """Return messages as one piece of the stream."""


LENGTH = 4
"""Bytes of a frame's header."""
HEADER = Struct(">I")


class Frames:
    """Each message follows its length in four bytes, big-endian. No message is empty."""

    def __init__(self, longest: int = 65536) -> None:
        self._longest = longest
        self.rest = bytearray()

    def whole(self, data: bytes) -> bytes | None:
        size = len(data) - LENGTH
        if 0 < size <= self._longest and HEADER.unpack_from(data)[0] == size and not self.rest:
            return data[LENGTH:]
        return None

    def feed(self, data: bytes) -> list[bytes]:
        rest = self.rest
        rest += data
        messages: list[bytes] = []
        start, size = 0, len(rest)
        while size - start >= LENGTH:
            length = int.from_bytes(rest[start : start + LENGTH])
            if not 0 < length <= self._longest:
                if messages:
                    break
                raise BadFrame(f"a frame of {length} bytes: it has 1 to {self._longest}")
            end = start + LENGTH + length
            if end > size:
                break
            messages.append(bytes(rest[start + LENGTH : end]))
            start = end
        if start:
            del rest[:start]
        return messages

    def pack(self, messages: list[bytes]) -> bytes:
        if len(messages) == 1:
            message = messages[0]
            return HEADER.pack(len(message)) + message
        return b"".join(
            [part for message in messages for part in (len(message).to_bytes(LENGTH), message)]
        )


class Lines:
    """Each message ends with a line feed. A line that is too long comes in pieces."""

    def __init__(self, longest: int = 4095) -> None:
        self._longest = longest
        self.rest = b""

    def whole(self, data: bytes) -> bytes | None:
        line, end, rest = data.partition(b"\n")
        return line if end and not rest and not self.rest and len(data) <= self._longest else None

    def feed(self, data: bytes) -> list[bytes]:
        data = self.rest + data if self.rest else data
        lines = data.split(b"\n")
        self.rest = lines.pop()
        return lines if len(data) <= self._longest else self._cut(lines)

    def _cut(self, lines: list[bytes]) -> list[bytes]:
        longest, rest = self._longest, self.rest
        whole = max(0, len(rest) - 1) // longest * longest
        self.rest = rest[whole:]
        pieces = [
            line[at : at + longest] for line in lines for at in range(0, len(line) or 1, longest)
        ]
        return pieces + [rest[at : at + longest] for at in range(0, whole, longest)]

    def pack(self, messages: list[bytes]) -> bytes:
        return messages[0] + b"\n" if len(messages) == 1 else b"\n".join([*messages, b""])


# The PROXY protocol header, version 2, in which a load balancer names the client's address.

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
FIXED = 16
"""Bytes before the addresses: the signature, version and command, family, length."""
LONGEST = 4096
"""The limit for a header, in bytes."""
V2_LOCAL, V2_PROXY = 0x20, 0x21
TCP4, TCP6 = 0x11, 0x21


class BadHeader(Exception):
    """A header that cannot be read, with the reason."""


def may_be_header(data: bytes) -> bool:
    """Whether these first bytes of a connection are a header, or may become one."""
    return data[: len(SIGNATURE)] == SIGNATURE[: len(data)]


def read_header(data: bytes) -> tuple[str, int, int] | None:
    """Return the client's address and port, and the length of the header; None if it is incomplete.

    The address is empty if the balancer sends its own request, as in a health check.
    """
    if len(data) < FIXED:
        return None
    command, family, length = data[12], data[13], int.from_bytes(data[14:16])
    if command not in (V2_LOCAL, V2_PROXY):
        raise BadHeader(f"version and command are 0x20 or 0x21, not 0x{command:02x}")
    if FIXED + length > LONGEST:
        raise BadHeader(f"a header has at most {LONGEST} bytes, not {FIXED + length}")
    if len(data) < FIXED + length:
        return None
    addresses = data[FIXED : FIXED + length]
    if command == V2_LOCAL or family not in (TCP4, TCP6):
        return "", 0, FIXED + length
    size = 4 if family == TCP4 else 16
    if length < 2 * size + 4:
        raise BadHeader(f"the addresses have at least {2 * size + 4} bytes, not {length}")
    found = IPv4Address(addresses[:4]) if size == 4 else IPv6Address(addresses[:16])
    return str(found), int.from_bytes(addresses[2 * size : 2 * size + 2]), FIXED + length
