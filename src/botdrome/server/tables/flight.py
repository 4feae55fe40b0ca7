"""Flight: what passed between the server and one seat, with the server's verdict on it, for the bot's author."""

from typing import Any

import msgspec

from botdrome.match.terms import Milliseconds

BEGINNING, ENDING = 250, 150
"""Bytes kept of a long message: of games with large boards the end says what a turn was worth."""
SHOWN = BEGINNING + ENDING
"""A message that is no longer is kept whole."""
ENTRY = 5
"""The parts of an entry."""
OVERHEAD = 20
"""What an entry takes beside its message and the verdict on it."""
SHEETS = 8
"""A flight record has about so many when it is full: what is forgotten is forgotten by sheets."""

PACK = msgspec.msgpack.Encoder().encode


class Flight:
    """Bounded: of a long match the last part is kept.

    The parts of an entry (when, whether it came in, the message or its beginning and end, the verdict, how many steps had been
    played) stand in one row with those of the others; full rows are packed, each to a sheet. So there is nothing that the
    garbage collector would have to look at, and little to do when the match is over: all other matches wait for that.
    """

    __slots__ = ("_bytes", "_lost", "_room", "_row", "_row_bytes", "_sheets")

    def __init__(self, limit: int) -> None:
        self._row: list[Any] = []
        self._row_bytes, self._bytes = 0, limit // SHEETS
        self._sheets: list[tuple[int, bytes]] = []
        """With the number of their entries."""
        self._room, self._lost = limit, 0

    def out(self, now: Milliseconds, messages: list[bytes], step: int) -> None:
        for message in messages:
            self._enter(now, False, message, "", step)

    def came(self, now: Milliseconds, message: bytes, verdict: str, step: int) -> None:
        """`step`: how many had been played before."""
        self._enter(now, True, message, verdict, step)

    def _enter(self, now: Milliseconds, came: bool, message: bytes, verdict: str, step: int) -> None:
        said = message if len(message) <= SHOWN else _shortened(message)
        self._row.extend((now, came, said, verdict, step))
        self._row_bytes += len(said) + len(verdict) + OVERHEAD
        if self._row_bytes > self._bytes:
            self._turn_over()

    def _turn_over(self) -> None:
        sheet = PACK(self._row)
        self._sheets.append((len(self._row) // ENTRY, sheet))
        self._row, self._row_bytes = [], 0
        self._room -= len(sheet)
        while self._room < 0:
            entries, forgotten = self._sheets.pop(0)
            self._room += len(forgotten)
            self._lost += entries

    def packed(self, cause: str) -> bytes:
        """As it is stored: every match has flight records, and few of them are ever read."""
        if self._row:
            self._turn_over()
        return PACK((self._lost, [msgspec.Raw(sheet) for _, sheet in self._sheets], cause, ENTRY))


def _shortened(message: bytes) -> bytes:
    return b"%b [... %d bytes ...] %b" % (message[:BEGINNING], len(message) - SHOWN, message[-ENDING:])
