"""Rankings: what a contest's results are worth, by three ways of counting."""

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from botdrome.store.store import ContestLine


class Method(Enum):
    """The points for a win and for a draw."""

    AMBITIOUS = (3, 1)
    BALANCED = (2, 1)
    PUNITIVE = (3, 2)


class Rank(Struct, frozen=True):
    """One bot's line in a ranking."""

    bot: str
    wins: int
    draws: int
    losses: int
    played: int
    score: int


def ranked(lines: Iterable[ContestLine], method: Method = Method.AMBITIOUS) -> list[Rank]:
    """The best first: by score, then more wins, then fewer losses."""
    win, draw = method.value
    ranks = [
        Rank(
            line.name,
            line.wins,
            line.draws,
            line.losses,
            line.wins + line.draws + line.losses,
            win * line.wins + draw * line.draws,
        )
        for line in lines
    ]
    return sorted(ranks, key=lambda rank: (-rank.score, -rank.wins, rank.losses, rank.bot))
