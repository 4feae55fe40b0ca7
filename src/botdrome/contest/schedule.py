"""Schedule: the matches of a contest, with their seats and seeds."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec import Struct

T = TypeVar("T")


class Fixture(Struct, frozen=True):
    """One match to play: the entrants by seat, and the seed, which only matches of the same block
    share.
    """

    number: int
    entrants: tuple[int, ...]
    seed: int


def meetings(entrants: int, seats: int) -> list[tuple[int, ...]]:
    """Return every group of entrants for one table."""
    return list(combinations(range(entrants), seats))


def fixtures(entrants: int, seats: int, matches: int, seed: int) -> Iterator[Fixture]:
    """Yield each meeting `matches` times, rotating the seats.

    Each meeting has seeds of its own, each played once per seating.

    A meeting on one seed is a block: its matches depend on each other, and matches of different
    blocks do not.
    """
    tables, number = meetings(entrants, seats), 0
    for played in range(matches):
        first = seed + played // seats * len(tables)
        for index, meeting in enumerate(tables):
            yield Fixture(number, moved_on(meeting, played), first + index)
            number += 1


def moved_on(meeting: Sequence[T], by: int) -> tuple[T, ...]:
    by %= len(meeting)
    return (*meeting[by:], *meeting[:by])
