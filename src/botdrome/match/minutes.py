"""Minutes: all that a match was told, kept as it will be written down, and bounded.

What players say is the only part of a match that has no end of its own. It is kept as JSON, which takes a tenth of the memory
of what it stands for, and the players of a match share the room for it equally.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from botdrome.match.events import Player
from botdrome.match.inputs import Input, Kind
from botdrome.match.terms import Milliseconds

ROOM = 16 << 20
"""Bytes for all players of a match together."""
OVERHEAD = 100
"""Bytes that an input takes beside its words."""
TOO_MUCH = "more was said than there is room for in the record of a match"

ENCODE, DECODE = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode


class Minutes:
    __slots__ = ("_kept", "_room")

    def __init__(self, players: int) -> None:
        self._kept: list[tuple[Milliseconds, Kind, Player | None, bytes | None]] = []
        self._room = [ROOM // players] * players

    def keep(self, now: Milliseconds, kind: Kind, player: Player | None, words: Any = None) -> bool:
        """Whether the player may say more."""
        said = None if words is None else ENCODE(words)
        self._kept.append((now, kind, player, said))
        if player is None:
            return True
        room = self._room[player] = self._room[player] - OVERHEAD - len(said or b"")
        return room >= 0

    def full(self, player: Player) -> bool:
        """Whether a player has said more than it may: nothing more of it is kept."""
        return self._room[player] < 0

    def amend(self, now: Milliseconds, options: Mapping[str, Any], pause: Milliseconds | None) -> None:
        """A change that follows another one is kept as one with it: there may be any number of them in a pause."""
        words: list[Any] = [dict(options), pause]
        if self._kept and self._kept[-1][1] == "amend":
            before, paused = DECODE(self._kept.pop()[3] or b"")
            words = [before | words[0], paused if pause is None else pause]
        self.keep(now, "amend", None, words)

    def moves(self) -> int:
        """How many there were."""
        return [kind for _, kind, _, _ in self._kept].count("move")

    @property
    def inputs(self) -> list[Input]:
        return [(now, kind, player, None if said is None else DECODE(said)) for now, kind, player, said in self._kept]

    def written(self) -> list[Input]:
        """The same with the words as they stand in a file."""
        return [(now, kind, player, None if said is None else msgspec.Raw(said)) for now, kind, player, said in self._kept]
