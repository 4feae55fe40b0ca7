"""Inputs of a match: values, and lines of its record."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from botdrome.games.game import Raw
from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds

Kind = Literal[
    "move", "wake", "leave", "rejoin", "expel", "amend", "abort", "conclude", "credit", "stall"
]
TIMES = ("credit", "stall")
"""The kinds that came with version 3 of the match file."""

Input = tuple[Milliseconds, Kind, Player | None, Any]
"""The time, the kind, the player (None: all), and the value that came with it."""


class InputLine(Struct, frozen=True, omit_defaults=True):
    """An input as a line of the record."""

    t: Milliseconds
    do: Kind
    by: Player | None = None
    say: Any = None
    news: str = ""

    @property
    def input(self) -> Input:
        return (self.t, self.do, self.by, self.say)


# The inputs of a match, kept as the JSON lines of its record, with a limit for each player.
#
# Players decide how much they send, so memory needs a limit. A line of JSON takes a tenth of the
# memory of the objects it encodes and costs the garbage collector nothing. The players of a match
# share the space equally.

ROOM = 16 << 20
"""Bytes for all players of a match together."""
PIECE, PER_LINE = 1 << 18, 200
"""Bytes of a record that are written at a time, and the bytes that each line adds to its own
length.
"""
OVERHEAD: Final = 60
"""Bytes that a line takes beside its text."""
TOO_MUCH = "more was said than there is room for in the record of a match"

ENCODE, DECODE = msgspec.json.Encoder().encode, msgspec.json.Decoder(InputLine).decode


class InputLog:
    __slots__ = ("_lines", "_others", "_room", "timed")

    def __init__(self, players: int) -> None:
        self._lines: list[bytes] = []
        self._room = [ROOM // players] * players
        self._others = 0
        """The number of inputs that are no moves."""
        self.timed = False
        """Whether there are inputs of the kinds in TIMES."""

    @property
    def moves(self) -> int:
        """The number of inputs that are moves."""
        return len(self._lines) - self._others

    def add(self, now: Milliseconds, kind: Kind, player: Player | None, value: Any = None) -> bool:
        """Whether the input was within the player's limit."""
        line = ENCODE(InputLine(now, kind, player, value))
        self._lines.append(line)
        self._others += kind != "move"
        if player is None:
            return True
        room = self._room[player] = self._room[player] - OVERHEAD - len(line)
        return room >= 0

    def move(self, now: Milliseconds, player: Player, raw: Raw) -> bool:
        """As `add` does. Most inputs are moves."""
        line, room = ENCODE(InputLine(now, "move", player, raw)), self._room
        self._lines.append(line)
        left = room[player] = room[player] - OVERHEAD - len(line)
        return left >= 0

    def time(self, now: Milliseconds, kind: Kind, player: Player | None, value: Any) -> None:
        """Add a measurement of the server. It takes no room from the player."""
        self._lines.append(ENCODE(InputLine(now, kind, player, value)))
        self._others += 1
        self.timed = True

    def full(self, player: Player) -> bool:
        """Whether the player is over its limit; the match then accepts nothing more from it."""
        return self._room[player] < 0

    def amend(
        self, now: Milliseconds, options: Mapping[str, Any], pause: Milliseconds | None
    ) -> None:
        """Merge a change into the change right before it, since a pause may hold any number of
        them.
        """
        value: list[Any] = [dict(options), pause]
        if self._lines and (last := DECODE(self._lines[-1])).do == "amend":
            del self._lines[-1]
            self._others -= 1
            before, paused = last.say
            value = [before | value[0], paused if pause is None else pause]
        self.add(now, "amend", None, value)

    def __len__(self) -> int:
        return len(self._lines)

    def unsaved(self, saved: int, last: bytes) -> tuple[int, list[bytes]]:
        """The lines that follow the first `saved` lines, of which `last` is the last, and the index
        of the first of them.

        The last saved line comes again if a change was merged into it.
        """
        if saved and self._lines[saved - 1] is not last:
            saved -= 1
        return saved, self._lines[saved:]

    def some(self, first: int, end: int) -> list[bytes]:
        """The lines from `first` on, before `end`."""
        return self._lines[first:end]

    @property
    def inputs(self) -> list[Input]:
        return [DECODE(line).input for line in self._lines]

    @property
    def text(self) -> bytes:
        """The lines as they stand in a file."""
        return b"\n".join([*self._lines, b""])

    def pieces(self) -> Iterator[bytes]:
        """The same, some at a time."""
        if sum(map(len, self._lines)) + PER_LINE * len(self._lines) < PIECE:
            yield self.text
            return
        piece: list[bytes] = []
        size = 0
        for line in self._lines:
            piece.append(line)
            size += PER_LINE + len(line)
            if size >= PIECE:
                yield b"\n".join([*piece, b""])
                piece, size = [], 0
        yield b"\n".join([*piece, b""])
