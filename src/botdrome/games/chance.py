"""Chance: the random draws of a game, derived from the match's seed and the step, so that each step
can be replayed alone.
"""

from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

SEED_BITS = 128
_SEEDS = (1 << SEED_BITS) - 1
_BLOCK = Struct("<qQ")
_WORDS = Struct("<8Q")


class Chance:
    """BLAKE2b keyed with the seed, over the step and a counter.

    It is the same on every machine and Python version.

    Draws do not reveal the seed, so a player who knows some of them cannot compute the others.
    Setting the step costs almost nothing before the first draw, so games without chance stay fast.
    """

    __slots__ = ("_block", "_key", "_step", "_words")

    def __init__(self, seed: int, step: int = 0) -> None:
        self._key = (seed & _SEEDS).to_bytes(SEED_BITS // 8, "little")
        self._words: list[int] | None = None
        self._block, self._step = 0, step

    def turn_to(self, step: int) -> "Chance":
        self._block, self._step, self._words = 0, step, None
        return self

    def bits(self) -> int:
        """Return 64 random bits. All other draws use them."""
        words = self._words
        if not words:
            block = _BLOCK.pack(self._step, self._block)
            self._words = words = list(_WORDS.unpack(blake2b(block, key=self._key).digest()))
            self._block += 1
        return words.pop()

    def random(self) -> float:
        """Return a uniform number in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, limit: int) -> int:
        """Return a uniform integer in 0 .. limit - 1."""
        return (self.bits() >> 11) * limit >> 53

    def choice(self, items: Sequence[T]) -> T:
        return items[(self.bits() >> 11) * len(items) >> 53]

    def shuffle(self, items: MutableSequence[T]) -> None:
        bits = self.bits
        for last in range(len(items) - 1, 0, -1):
            other = (bits() >> 11) * (last + 1) >> 53  # below(), without the call
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return `count` different items in random order."""
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]


_WORD = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15


def _mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB) & _WORD
    return word ^ (word >> 31)


class SplitMix(Chance):
    """SplitMix64, seeded again at each step. Match files of version 1 use it.

    It can be inverted, so never use it where a draw must stay secret.
    """

    __slots__ = ("_seed", "_state")

    def __init__(self, seed: int, step: int = 0) -> None:
        self._seed, self._step = seed & _WORD, step
        self._state: int | None = None

    def turn_to(self, step: int) -> "Chance":
        self._step, self._state = step, None
        return self

    def bits(self) -> int:
        state = self._state
        if state is None:
            state = _mix((self._seed + _mix(self._step + 1)) & _WORD)
        self._state = state = (state + _GOLDEN) & _WORD
        return _mix(state)
