"""Crew: the players of one boat game as those on lines know them."""

from collections.abc import Collection, Sequence

from botdrome.games.chance import Chance
from botdrome.wire.boats.lines import NOT_IN_NAMES, name_problem

TAUNT_BYTES = 16 << 10
"""All the taunts of one player together."""


class Taunts:
    """What somebody says to those who shoot at it."""

    def __init__(self) -> None:
        self._texts: dict[bytes, list[bytes]] = {b"hit": [], b"miss": []}
        self.any = False

    def set(self, kind: bytes, text: bytes) -> None:
        """One more; no text: none any more. A kind that there is not, and more than enough, is passed over."""
        texts = self._texts.get(kind.lower())
        if texts is None:
            return
        if not text:
            texts.clear()
        elif sum(len(one) for many in self._texts.values() for one in many) + len(text) <= TAUNT_BYTES:
            texts.append(text)
        self.any = any(self._texts.values())

    def draw(self, hit: bool, chance: Chance) -> bytes | None:
        texts = self._texts[b"hit" if hit else b"miss"]
        return chance.choice(texts) if texts else None


class Crew:
    """In the order of their turns: their names on lines, what has become of them, and what they say when they are shot at."""

    def __init__(self, names: Sequence[bytes], taunts: Sequence[Taunts], chance: Chance) -> None:
        self.names, self.taunts, self.chance = tuple(names), tuple(taunts), chance
        self.statuses = [b""] * len(self.names)
        self.started = False
        """S was sent."""
        self.skip_reason = b""
        """Why the turn is skipped that is skipped next."""


def display_name(name: str, width: int, taken: Collection[bytes]) -> bytes:
    """A name that lines can carry, for somebody who came another way and may be called anything."""
    raw = name.encode()
    if not name_problem(raw, width) and raw not in taken and raw == raw.strip():
        return raw
    kept = NOT_IN_NAMES.sub(b"", name.encode("ascii", "ignore")).lstrip(b"0123456789 !\"#$%&'*+,-./:;=?@\\^_`~")
    base = kept[:width].strip() or b"bot"
    number, shown = 1, base
    while name_problem(shown, width) or shown in taken:
        number += 1
        ending = b"%d" % number
        shown = base[: width - len(ending)].rstrip() + ending
    return shown
