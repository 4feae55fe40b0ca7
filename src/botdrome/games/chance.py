"""Chance: every random draw of a game, derived from the match's seed and the step, so that any step replays alone."""

from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")

_WORD = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15


def _mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB) & _WORD
    return word ^ (word >> 31)


class Chance:
    """SplitMix64, started anew at each step: the same on every machine and in every version of Python.

    Turning to a step costs next to nothing until somebody draws, so games without chance pay nothing.
    """

    __slots__ = ("_seed", "_state", "_step")

    def __init__(self, seed: int, step: int = 0) -> None:
        self._seed = seed & _WORD
        self._step = step
        self._state: int | None = None

    def turn_to(self, step: int) -> "Chance":
        self._step = step
        self._state = None
        return self

    def bits(self) -> int:
        """64 random bits; every other draw is made of these. (The mixing is written out: a call would double its cost.)"""
        state = self._state
        if state is None:
            state = _mix((self._seed + _mix(self._step + 1)) & _WORD)
        self._state = word = (state + _GOLDEN) & _WORD
        word = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & _WORD
        word = ((word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB) & _WORD
        return word ^ (word >> 31)

    def random(self) -> float:
        """Uniform in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, limit: int) -> int:
        """Uniform in 0 .. limit - 1."""
        return (self.bits() >> 11) * limit >> 53

    def choice(self, items: Sequence[T]) -> T:
        return items[(self.bits() >> 11) * len(items) >> 53]

    def shuffle(self, items: MutableSequence[T]) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items, in random order."""
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]
