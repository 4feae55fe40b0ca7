"""Odds: how likely a boat lies on each square of a board of which only hits and misses are known.

No one says which boat was hit, so the hits are explained by guesses: boats are laid by chance until they cover all hits, and each
guess counts by how many whole fleets agree with it. Boats that a guess has no use for may lie anywhere in the open.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from botdrome.games.chance import Chance
from botdrome.games.fleet import Mask, Square, berths

CROWD = 4.0
"""So much more a guess is drawn to a berth for each further hit in it; its weight makes up for that."""
UNEXPLAINED = 0.05
"""What a guess still counts for each hit that it has no boat for."""
NO_ROOM = 0.01
"""How many berths in the open a length has that has none: not nothing, for a guess may be mistaken elsewhere."""

_HITS = str.maketrans(".0X", "001")
_SHOTS = str.maketrans(".0X", "011")


class Berth(Struct, frozen=True):
    """A place for a boat over one hit at least and no miss."""

    mask: Mask
    length: int
    crowd: float
    pull: float
    """How much a guess is drawn to it, for each boat of the length that it has left."""


class Waters(Struct, frozen=True):
    """What is known of a board."""

    hits: Mask
    boats: Mapping[int, int]
    """How many there are of each length."""
    free: Mapping[int, Sequence[int]]
    """For each length: how many berths in the open go over each square."""
    room: Mapping[int, float]
    """For each length: how many berths it has in the open."""
    over: Mapping[Mask, Sequence[Berth]]
    """The berths over each hit."""


class Guess(Struct, frozen=True):
    weight: float
    taken: Mask
    left: Mapping[int, int]
    """How many boats of each length it has no use for."""


def odds(board: Sequence[str], boats: Sequence[str], guesses: int, chance: Chance) -> list[float]:
    """Square by square, row by row; 0 where somebody has shot. They add up to the squares that are still to be hit."""
    waters = survey(board, boats)
    found = [0.0] * (len(board) * len(board[0]))
    left: defaultdict[int, float] = defaultdict(float)
    for _ in range(guesses if waters.hits else 1):
        guess = _guess(waters, chance)
        for square in _squares(guess.taken & ~waters.hits):
            found[square] += guess.weight
        for length, count in guess.left.items():
            left[length] += count * guess.weight
    for length, weight in left.items():
        share = weight / waters.room[length]
        found = [odd + share * count for odd, count in zip(found, waters.free[length], strict=True)]
    afloat = sum(int(name[1]) for name in boats) - waters.hits.bit_count()
    scale = afloat / (sum(found) or 1.0)
    return [odd * scale for odd in found]


def survey(board: Sequence[str], boats: Sequence[str]) -> Waters:
    backwards = "".join(board)[::-1]
    hits, shots = int(backwards.translate(_HITS), 2), int(backwards.translate(_SHOTS), 2)
    counts = Counter(int(name[1]) for name in boats)
    over: dict[Mask, list[Berth]] = {1 << square: [] for square in _squares(hits)}
    free, room = {}, {}
    for length in counts:
        places = berths(len(board[0]), len(board), length)
        counted = [0] * len(backwards)
        for mask in [mask for mask in places if not mask & shots]:
            for square in places[mask]:
                counted[square] += 1
        free[length], room[length] = counted, sum(counted) / length or NO_ROOM
        for mask in [mask for mask in places if mask & hits and not mask & (shots ^ hits)]:
            crowd = CROWD ** (mask & hits).bit_count()
            berth = Berth(mask, length, crowd, crowd / room[length])
            for square in _squares(mask & hits):
                over[1 << square].append(berth)
    return Waters(hits, counts, free, room, over)


def _guess(waters: Waters, chance: Chance) -> Guess:
    """Lay boats until every hit is covered, or has to stay unexplained."""
    weight, taken, uncovered, left = 1.0, 0, waters.hits, dict(waters.boats)
    while uncovered:
        hit = uncovered & -uncovered
        uncovered ^= hit
        possible = [berth for berth in waters.over[hit] if left[berth.length] and not berth.mask & taken]
        if not possible:
            weight *= UNEXPLAINED
            continue
        pulls = list(accumulate([left[berth.length] * berth.pull for berth in possible]))
        berth = possible[bisect(pulls, chance.random() * pulls[-1], hi=len(pulls) - 1)]
        weight *= pulls[-1] / berth.crowd
        taken |= berth.mask
        uncovered &= ~berth.mask
        left[berth.length] -= 1
    return Guess(weight, taken, left)


def _squares(mask: Mask) -> list[Square]:
    squares = []
    while mask:
        lowest = mask & -mask
        squares.append(lowest.bit_length() - 1)
        mask ^= lowest
    return squares
