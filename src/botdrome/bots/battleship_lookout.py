"""Lookouts: functions that rate the squares of a board for the next shot, from the simplest to the best."""

from collections.abc import Callable, Iterable, Sequence

from botdrome.bots.boat_chart import FIELD, Chart, Sea, chart_for, numbers_in, open_water, sea_of, squares_in
from botdrome.bots.fleet_odds import CERTAIN, covers_near, odds
from botdrome.games.fleet import Mask, Rows, Square

Promise = tuple[float, Sequence[Square]]
"""The value of the best squares of a board, and these squares."""
Boats = tuple[str, ...]
Lookout = Callable[[Rows, Boats, int], Promise]
"""Takes a board, the boats, and the colour (0 or 1) of the squares to search on."""

SLIGHT = 1 / 1024
"""How much each square that is still to be hit adds to the value of a board."""
PULL = 4
"""How often a bot that drifts lists a square next to a hit once more."""
CROWD = 4
"""The factor by which each hit in a berth raises its weight,"""
CROWDED = 5
"""for at most this many hits."""


def drift(board: Rows, boats: Boats, _: int) -> Promise:
    """Rate all open squares the same, but list those next to a hit several times."""
    chart, sea = chart_for(board, boats), sea_of(board)
    open_ = _open(chart, sea)
    return 1.0 + _afloat(chart, sea), [*squares_in(open_), *PULL * [*squares_in(_beside(chart, sea.hits) & open_)]]


def trawl(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares next to any hit, or every other square, all the same."""
    chart, sea = chart_for(board, boats), sea_of(board)
    return 1.0 + _afloat(chart, sea), squares_in(_beside(chart, sea.hits) & _open(chart, sea) | _search(chart, sea, colour))


def follow(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares at the end of the longest line of hits; without a hit, every other square."""
    chart, sea = chart_for(board, boats), sea_of(board)
    length, squares = _line_ends(chart, sea)
    return length + _afloat(chart, sea), squares_in(squares or _search(chart, sea, colour))


def fathom(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares at the end of the longest line of hits; without a hit, those with the most open water in all directions."""
    chart, sea = chart_for(board, boats), sea_of(board)
    length, squares = _line_ends(chart, sea)
    if squares:
        return length + _afloat(chart, sea), squares_in(squares)
    depths = _depths(chart, sea)
    return _best(_afloat(chart, sea), depths, squares_in(_search(chart, sea, colour)))


def plot(board: Rows, boats: Boats, _: int) -> Promise:
    """Rate each square by the berths over it; berths with hits come first."""
    chart, sea = chart_for(board, boats), sea_of(board)
    field = sum(chart.counts[length] * water.over for length, water in open_water(chart, sea.open).items())
    for hit in squares_in(sea.hits):
        for cover in covers_near(chart, sea, hit):
            field += chart.counts[cover.length] * CROWD ** min(cover.hits.bit_count(), CROWDED) * cover.over
    berths = numbers_in(field, chart)
    best, squares = _best(0.0, berths, squares_in(_open(chart, sea)))
    return best * _afloat(chart, sea) / (sum(berths) or 1), squares


def reckon(board: Rows, boats: Boats, _: int) -> Promise:
    """Rate each square by the odds of a hit."""
    likely = odds(board, boats)
    best = max(likely)
    return best / CERTAIN, [square for square, odd in enumerate(likely) if odd == best]


def _best(base: float, numbers: Sequence[int], squares: Sequence[Square]) -> Promise:
    most = max([numbers[square] for square in squares], default=0)
    return base + most * SLIGHT**2, [square for square in squares if numbers[square] == most]


def _afloat(chart: Chart, sea: Sea) -> float:
    return (chart.afloat - sea.hits.bit_count()) * SLIGHT


def _open(chart: Chart, sea: Sea) -> Mask:
    return (1 << chart.squares) - 1 & ~(sea.hits | sea.misses)


def _beside(chart: Chart, squares: Mask) -> Mask:
    return squares << 1 | squares >> 1 | squares << chart.stride | squares >> chart.stride


def _search(chart: Chart, sea: Sea, colour: int) -> Mask:
    """Return every other open square that has an open neighbour."""
    open_ = _open(chart, sea)
    return open_ & chart.colours[colour] & _beside(chart, open_)


def _line_ends(chart: Chart, sea: Sea) -> tuple[int, Mask]:
    """Return the length of the longest line of hits that ends at open squares, and these squares."""
    open_, length, found = _open(chart, sea), 0, 0
    lines = dict.fromkeys((1, -1, chart.stride, -chart.stride), sea.hits)
    while ends := _union(_moved(line, step) & open_ for step, line in lines.items()):
        length, found = length + 1, ends
        lines = {step: _moved(line, step) & sea.hits for step, line in lines.items()}
    return length, found


def _moved(squares: Mask, step: int) -> Mask:
    return squares << step if step > 0 else squares >> -step


def _union(masks: Iterable[Mask]) -> Mask:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _depths(chart: Chart, sea: Sea) -> list[int]:
    """Return the number of open squares in all four directions, up to the length of the longest boat."""
    depths = 0
    for step in (1, -1, chart.stride, -chart.stride):
        line = sea.open
        for _ in range(max(chart.counts) - 1):
            line = _moved(line, step * FIELD) & sea.open
            depths += line
    return numbers_in(depths, chart)
