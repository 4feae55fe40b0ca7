"""Flight: what passed between the server and one seat, with the server's verdict on it, for the bot's author."""

from collections import deque
from typing import Any

import msgspec

from botdrome.match.terms import Milliseconds

BEGINNING, ENDING = 250, 150
"""Bytes kept of a long message: of games with large boards the end says what a turn was worth."""
SHOWN = BEGINNING + ENDING
"""A message that is no longer is kept whole."""
OVERHEAD = 80
"""What an entry costs beside its message."""

PACKER = msgspec.msgpack.Encoder()


class Flight:
    """Bounded: of a long match the last part is kept.

    The parts of an entry (when, whether it came in, the message or its beginning and end, the verdict) stand in one row with
    those of all others: that makes nothing that the garbage collector would have to look at.
    """

    __slots__ = ("_lost", "_parts", "_room")

    def __init__(self, limit: int) -> None:
        self._parts: deque[Any] = deque()
        self._room, self._lost = limit, 0

    def out(self, now: Milliseconds, messages: list[bytes]) -> None:
        for message in messages:
            said = message if len(message) <= SHOWN else _shortened(message)
            self._parts.extend((now, False, said, ""))
            self._room -= len(said) + OVERHEAD
        if self._room < 0:
            self._make_room()

    def came(self, now: Milliseconds, message: bytes, verdict: str) -> None:
        said = message if len(message) <= SHOWN else _shortened(message)
        self._parts.extend((now, True, said, verdict))
        self._room -= len(said) + OVERHEAD
        if self._room < 0:
            self._make_room()

    def _make_room(self) -> None:
        forget = self._parts.popleft
        while self._room < 0:
            _, _, said, _ = forget(), forget(), forget(), forget()
            self._room += len(said) + OVERHEAD
            self._lost += 1

    def packed(self, cause: str) -> bytes:
        """As it is stored: every match has flight records, and few of them are ever read."""
        return PACKER.encode((self._lost, list(self._parts), cause))


def _shortened(message: bytes) -> bytes:
    return b"%b [... %d bytes ...] %b" % (message[:BEGINNING], len(message) - SHOWN, message[-ENDING:])
