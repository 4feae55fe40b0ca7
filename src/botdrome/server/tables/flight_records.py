"""Flight records: the messages between the server and each seat, with the server's verdicts, for
the bots' authors.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.match.events import Cause, Late, Played, Player, Refused
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.timing import NOTHING, Uncharged

BEGINNING, ENDING = 250, 150
"""Bytes kept of a long message.

The end is kept too: it says what a turn was worth in games with large boards.
"""
SHOWN: Final = BEGINNING + ENDING
"""A message up to this length is kept whole."""
ENTRY: Final = 6
"""The number of fields of an entry."""
LONGEST: Final = 512
"""Bytes of an entry at most, about."""
SHEETS: Final = 8
"""A full record has at least this many sheets. The oldest sheet is dropped first."""

PACK: Final = msgspec.msgpack.Encoder().encode


class FlightRecord:
    """The record of one seat. It is bounded: the last part of a long match is kept.

    The fields of all entries (time, whether it came in, message, verdict, steps so far, times that
    are not charged) are in one list. A full list is packed into sheets of bytes. So the garbage
    collector has nothing to follow, and little is left to do when the match ends.
    """

    __slots__ = ("_lost", "_room", "_sheet_bytes", "_sheets", "full", "row")

    def __init__(self, limit: int) -> None:
        self.row: list[Any] = []
        """The table adds to it directly."""
        self.full = ENTRY * max(1, limit // 2 // LONGEST)
        """The length of a full row: with the longest entries it takes half of the limit."""
        self._sheets: list[tuple[int, bytes]] = []
        """With the number of their entries."""
        self._sheet_bytes, self._room, self._lost = limit // SHEETS, limit, 0

    def out(self, now: Milliseconds, messages: list[bytes], step: int) -> None:
        self.row += sent(now, messages, step)
        if len(self.row) >= self.full:
            self.turn_over()

    def came(
        self,
        now: Milliseconds,
        message: bytes,
        verdict: str,
        step: int,
        uncharged: Uncharged = NOTHING,
    ) -> None:
        """`step` is the number of steps played before."""
        self.row += received(now, message, verdict, step, uncharged)
        if len(self.row) >= self.full:
            self.turn_over()

    def turn_over(self) -> None:
        row = self.row
        self._add_sheets(row)
        row.clear()  # the same list: FlightRecords.rows has it
        while self._room < 0:
            entries, forgotten = self._sheets.pop(0)
            self._room += len(forgotten)
            self._lost += entries

    def _add_sheets(self, row: list[Any]) -> None:
        """Pack a row, in halves if one sheet cannot take it."""
        sheet, entries = PACK(row), len(row) // ENTRY
        if len(sheet) > self._sheet_bytes and entries > 1:
            half = entries // 2 * ENTRY
            self._add_sheets(row[:half])
            self._add_sheets(row[half:])
        else:
            self._sheets.append((entries, sheet))
            self._room -= len(sheet)

    def packed(self, cause: str) -> bytes:
        """Return the record packed for the store, since few records are ever read."""
        if not self._sheets:
            return PACK((0, [self.row] if self.row else [], cause, ENTRY))
        if self.row:
            self.turn_over()
        return PACK((self._lost, [msgspec.Raw(sheet) for _, sheet in self._sheets], cause, ENTRY))


def received(
    now: Milliseconds, message: bytes, verdict: str, step: int, uncharged: Uncharged
) -> tuple[Any, ...]:
    """Return the entry for a message of a player."""
    said = message if len(message) <= SHOWN else shortened(message)
    return now, True, said, verdict, step, None if uncharged is NOTHING else uncharged


def sent(now: Milliseconds, messages: list[bytes], step: int) -> tuple[Any, ...]:
    """Return the entries for messages to a player."""
    if len(messages) == 1:  # nearly always
        message = messages[0]
        said = message if len(message) <= SHOWN else shortened(message)
        return now, False, said, "", step, None
    return tuple(chain.from_iterable([sent(now, [message], step) for message in messages]))


def shortened(message: bytes) -> bytes:
    return b"%b [... %d bytes ...] %b" % (
        message[:BEGINNING],
        len(message) - SHOWN,
        message[-ENDING:],
    )


class FlightRecords:
    """The records of all seats of a match."""

    __slots__ = ("flights", "full", "missed", "rows")

    def __init__(self, players: int, limit: int) -> None:
        self.flights = [FlightRecord(limit) for _ in range(players)]
        self.rows = [flight.row for flight in self.flights]
        self.full = self.flights[0].full
        self.missed: dict[Player, Milliseconds] = {}
        """Players that missed a deadline, and when: their next message was meant for that step."""

    def move(
        self,
        player: Player,
        now: Milliseconds,
        message: bytes,
        news: News,
        step: int,
        uncharged: Uncharged = NOTHING,
    ) -> str:
        """Record a player's message with the verdict that the news gives, and return
        the verdict.
        """
        if self.missed or (news and (len(news) > 1 or type(news[0][0]) is not Played)):
            verdict = self._in_view_of_the_time(player, _verdict(player, news), now)
        else:
            verdict = "accepted"
        row = self.rows[player]
        row += received(now, message, verdict, step, uncharged)
        if len(row) >= self.full:
            self.turn_over()
        return verdict

    def silence(
        self, players: Iterable[Player], now: Milliseconds, due: Milliseconds, step: int
    ) -> None:
        """Record that connected players missed the deadline of a step."""
        for player in players:
            self.missed[player] = due
            self.flights[player].came(now, b"", "no answer in time", step)

    def turn_over(self) -> None:
        """Pack all full rows: when one is full, others may be."""
        for flight in self.flights:
            if len(flight.row) >= self.full:
                flight.turn_over()

    def packed(self, causes: Sequence[Cause]) -> tuple[bytes, ...]:
        return tuple(
            [flight.packed(cause) for flight, cause in zip(self.flights, causes, strict=True)]
        )

    def _in_view_of_the_time(self, player: Player, verdict: str, now: Milliseconds) -> str:
        """Say by how much a move came late that the rules only know as out of turn."""
        due = self.missed.pop(player, None)
        return (
            verdict
            if due is None or verdict == "accepted"
            else f"late by {now - due} ms; {verdict}"
        )


def _verdict(player: Player, news: News) -> str:
    for event, _ in news:
        if isinstance(event, (Refused, Late)) and event.player == player:
            return (
                f"illegal: {event.why}" if isinstance(event, Refused) else f"late by {event.by} ms"
            )
    return "accepted"


# Flight lines: a flight record as its owner reads it.

LINES, UNPACKER = msgspec.json.Encoder(), msgspec.msgpack.Decoder(tuple[Any, ...])
WITHOUT_STEPS = 4
"""The fields of an entry in old stores, which had no step."""


class FlightLine(Struct, frozen=True, omit_defaults=True):
    """An entry in the form of the API."""

    t: Milliseconds
    dir: str
    message: str
    verdict: str = ""
    used: Milliseconds | None = None
    """The time that the bot took for this answer."""
    step: int | None = None
    """The number of steps played before."""
    network: Milliseconds = 0
    """The part of `used` that is the network's."""
    arena: Milliseconds = 0
    """The part of `used` by which the server was late."""
    charged: Milliseconds | None = None
    """The part of `used` that counts, if it is not all."""


def written(packed: bytes, reason: str = "") -> bytes:
    """Return JSON lines: the entries, then the cause of the end, and the reason if the match was
    aborted.

    Early stores have them as lines already, or without sheets, or without steps.
    """
    if packed.startswith(b"{"):
        return packed
    lost, sheets, cause, *rest = UNPACKER.decode(packed)
    size = rest[0] if rest else WITHOUT_STEPS
    parts = list(chain.from_iterable(sheets)) if sheets and isinstance(sheets[0], list) else sheets
    lines: list[Any] = [{"lost": lost}] if lost else []
    asked = 0
    for at in range(0, len(parts), size):
        t, came, message, verdict, *steps = parts[at : at + size]
        text, step = message.decode(errors="replace"), steps[0] if steps else None
        if came:
            line = FlightLine(t, "in", text, verdict, t - asked, step)
            lines.append(_with_times(line, *steps[1]) if steps[1:] and steps[1] else line)
        else:
            lines.append(FlightLine(t, "out", text, step=step))
        asked = asked if came else t
    return LINES.encode_lines(
        [*lines, {"cause": cause, "reason": reason} if reason else {"cause": cause}]
    )


def _with_times(line: FlightLine, network: Milliseconds, arena: Milliseconds) -> FlightLine:
    return replace(
        line, network=network, arena=arena, charged=max(0, (line.used or 0) - network - arena)
    )
