"""Flight: what passed between the server and one seat, with the server's verdict on it, for the bot's author."""

from collections import deque
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.match.terms import Milliseconds

SHOWN = 400
"""Bytes kept of one message."""
OVERHEAD = 80
"""What an entry costs beside its message."""

Entry = tuple[Milliseconds, bool, bytes, str]
"""When, whether it came in, the beginning of the message, and the verdict."""

PACKER, LINES = msgspec.msgpack.Encoder(), msgspec.json.Encoder()
UNPACKER = msgspec.msgpack.Decoder(tuple[int, tuple[Entry, ...], str])


class FlightLine(Struct, frozen=True, omit_defaults=True):
    """An entry as it is shown."""

    t: Milliseconds
    dir: str
    message: str
    verdict: str = ""
    used: Milliseconds | None = None
    """How long the bot took for this answer."""


class Flight:
    """Bounded: of a long match the last part is kept."""

    __slots__ = ("_entries", "_limit", "_lost", "_size")

    def __init__(self, limit: int) -> None:
        self._entries: deque[Entry] = deque()
        self._limit, self._size, self._lost = limit, 0, 0

    def out(self, now: Milliseconds, message: bytes) -> None:
        self._add((now, False, message[:SHOWN], ""))

    def came(self, now: Milliseconds, message: bytes, verdict: str) -> None:
        self._add((now, True, message[:SHOWN], verdict))

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._size += len(entry[2]) + OVERHEAD
        while self._size > self._limit:
            self._size -= len(self._entries.popleft()[2]) + OVERHEAD
            self._lost += 1

    def packed(self, cause: str) -> bytes:
        """As it is stored: every match has flight records, and few of them are ever read."""
        return PACKER.encode((self._lost, tuple(self._entries), cause))


def written(packed: bytes) -> bytes:
    """JSON lines: the entries, then the cause of the end. Early stores have them as lines already."""
    if packed.startswith(b"{"):
        return packed
    lost, entries, cause = UNPACKER.decode(packed)
    lines: list[Any] = [{"lost": lost}] if lost else []
    asked = 0
    for t, came, message, verdict in entries:
        text = message.decode(errors="replace")
        lines.append(FlightLine(t, "in", text, verdict, t - asked) if came else FlightLine(t, "out", text))
        asked = asked if came else t
    return LINES.encode_lines([*lines, {"cause": cause}])
