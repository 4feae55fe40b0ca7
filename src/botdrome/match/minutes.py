"""Minutes: all that a match was told, kept as it will be written down, and bounded.

What players say is the only part of a match that has no end of its own. It is kept as lines of JSON, which take a tenth of the
memory of what they stand for and are nothing that the garbage collector would have to look at, and the players of a match
share the room for it equally.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from botdrome.match.events import Player
from botdrome.match.inputs import Input, Kind, Line
from botdrome.match.terms import Milliseconds

ROOM = 16 << 20
"""Bytes for all players of a match together."""
PIECE, PER_LINE = 1 << 18, 200
"""Bytes of a record that are written at a time, and how many a line counts for beside its own."""
OVERHEAD = 60
"""Bytes that a line takes beside its text."""
TOO_MUCH = "more was said than there is room for in the record of a match"

ENCODE, DECODE = msgspec.json.Encoder().encode, msgspec.json.Decoder(Line).decode


class Minutes:
    __slots__ = ("_lines", "_room", "moves")

    def __init__(self, players: int) -> None:
        self._lines: list[bytes] = []
        self._room = [ROOM // players] * players
        self.moves = 0
        """How many of the inputs are moves."""

    def keep(self, now: Milliseconds, kind: Kind, player: Player | None, words: Any = None) -> bool:
        """Whether the player may say more."""
        line = ENCODE(Line(now, kind, player, words))
        self._lines.append(line)
        if player is None:
            return True
        if kind == "move":
            self.moves += 1
        room = self._room[player] = self._room[player] - OVERHEAD - len(line)
        return room >= 0

    def full(self, player: Player) -> bool:
        """Whether a player has said more than it may: nothing more of it is kept."""
        return self._room[player] < 0

    def amend(self, now: Milliseconds, options: Mapping[str, Any], pause: Milliseconds | None) -> None:
        """A change that follows another one is kept as one with it: there may be any number of them in a pause."""
        words: list[Any] = [dict(options), pause]
        if self._lines and (last := DECODE(self._lines[-1])).do == "amend":
            del self._lines[-1]
            before, paused = last.say
            words = [before | words[0], paused if pause is None else pause]
        self.keep(now, "amend", None, words)

    @property
    def inputs(self) -> list[Input]:
        return [DECODE(line).input for line in self._lines]

    def text(self) -> bytes:
        """The lines as they stand in a file."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The same, some lines at a time."""
        piece: list[bytes] = []
        size = 0
        for line in self._lines:
            piece.append(line)
            size += PER_LINE + len(line)
            if size >= PIECE:
                yield b"\n".join([*piece, b""])
                piece, size = [], 0
        yield b"\n".join([*piece, b""])
