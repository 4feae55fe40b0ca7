"""House bots for battleship, from one that does nothing to the strongest that we know.

Most of them rate each board by itself: the value of its best squares, and which squares these are.
They shoot at the best square of all boards.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from operator import itemgetter

from msgspec import Struct

from botdrome.games.battleship import WATER, Mask, Rows, Square, random_fleet
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

# Chart: tables for a board's size and boats, and the state of a board after some shots.
#
# Squares are numbered row by row, with one extra square at the end of each row that is never open.
# So shifted bits do not run into the next row. Numbers for all squares are in one large integer,
# `FIELD` bits each: one addition adds them all.

FIELD = 32
FULL = (1 << FIELD) - 1
Field = int
"""One number per square."""

_OPEN = str.maketrans(".0X|", "\1\0\0\0")
_HITS = str.maketrans(".0X|", "0010")
_MISSES = str.maketrans(".0X|", "0101")


class Berth(Struct, frozen=True, gc=False):
    """A place for a boat."""

    mask: Mask
    length: int
    field: Field


class Chart(Struct, frozen=True, eq=False):
    """The tables for one board size and set of boats, shared by all games that use them."""

    width: int
    height: int
    counts: Mapping[int, int]
    """The number of boats of each length, shortest first."""
    berths: Mapping[int, Sequence[Berth]]
    """The berths of each length, across first and then down."""
    over: Sequence[Sequence[Berth]]
    """The berths over each square."""
    reach: Sequence[Mask]
    """All squares of the berths over each square."""
    colours: tuple[Mask, Mask]
    """The squares of each colour, as on a chessboard."""

    @property
    def stride(self) -> int:
        return self.width + 1

    @property
    def squares(self) -> int:
        return self.stride * self.height

    @property
    def afloat(self) -> int:
        return sum(length * count for length, count in self.counts.items())


def chart_for(board: Rows, boats: Sequence[str]) -> Chart:
    return chart_of(len(board[0]), len(board), tuple(sorted(int(name[1:]) for name in boats)))


@lru_cache(8)
def chart_of(width: int, height: int, lengths: tuple[int, ...]) -> Chart:
    stride = width + 1
    berths: dict[int, list[Berth]] = {length: [] for length in lengths}
    over: list[list[Berth]] = [[] for _ in range(stride * height)]
    for length in berths:
        across = [
            range(y * stride + x, y * stride + x + length)
            for y in range(height)
            for x in range(width - length + 1)
        ]
        down = [
            range(y * stride + x, (y + length) * stride + x, stride)
            for y in range(height - length + 1)
            for x in range(width)
        ]
        for squares in (*across, *down):
            berth = Berth(
                sum(1 << square for square in squares),
                length,
                sum(1 << FIELD * square for square in squares),
            )
            berths[length].append(berth)
            for square in squares:
                over[square].append(berth)
    reach = [_squares_of(berths) for berths in over]
    black, white = (
        sum(1 << y * stride + x for y in range(height) for x in range((y + colour) % 2, width, 2))
        for colour in (0, 1)
    )
    return Chart(width, height, Counter(lengths), berths, over, reach, (black, white))


def _squares_of(berths: Sequence[Berth]) -> Mask:
    mask = 0
    for berth in berths:
        mask |= berth.mask
    return mask


class Sea(Struct, frozen=True):
    """The known state of one board."""

    hits: Mask
    misses: Mask
    """Including all squares outside the board."""
    open: Field
    """1 for each square that no player has shot at."""


@lru_cache(256)
def sea_of(board: Rows) -> Sea:
    text = "|".join((*board, ""))
    backwards = text[::-1]
    hits, misses = int(backwards.translate(_HITS), 2), int(backwards.translate(_MISSES), 2)
    return Sea(hits, misses, int.from_bytes(text.translate(_OPEN).encode("utf-32-le"), "little"))


def numbers_in(field: Field, chart: Chart) -> list[int]:
    """Return the number of each square."""
    return memoryview(field.to_bytes(chart.squares * FIELD // 8, "little")).cast("I").tolist()


def squares_in(mask: Mask) -> list[Square]:
    squares = []
    while mask:
        lowest = mask & -mask
        squares.append(lowest.bit_length() - 1)
        mask ^= lowest
    return squares


class OpenWater(Struct, frozen=True):
    """The berths of one length without any shots."""

    berths: int
    over: Field
    """The number of berths over each square."""


def open_water(chart: Chart, open_: Field) -> dict[int, OpenWater]:
    """Return the open water for each length."""
    right, down = FIELD, FIELD * chart.stride
    waters = {}
    across, upright, reached = open_, open_, 1
    for length in chart.counts:
        for step in range(reached, length):
            across &= open_ >> right * step
            upright &= open_ >> down * step
        reached = length
        over = 0
        for step in range(length):
            over += (across << right * step) + (upright << down * step)
        waters[length] = OpenWater(across.bit_count() + upright.bit_count(), over)
    return waters


# Odds: the chance that a boat lies on each square of a board, given its hits and misses.
#
# The game does not tell which boat was hit, so the search tries every explanation. It assigns to
# each hit in turn a boat that covers it and perhaps other hits. Explanations with the same
# remaining hits and boats are merged, so there are hundreds of steps instead of millions. The
# weight of an explanation is the number of fleets that agree with it; unused boats may lie
# anywhere in open water. Overlaps of boats in open water are ignored.

CERTAIN = 1 << 24
"""The odds of a square that must hold a boat."""
EFFORT = 5000
"""The approximate limit of search steps.

Beyond it only the likeliest explanations are continued.
"""
NARROW = 4
"""The number of explanations that are continued in any case."""
UNEXPLAINED = 0.2
"""The factor for each unexplained hit, if no full explanation exists."""
NO_ROOM = 0.01
"""The berth count for a length without open berths: such a boat must explain some hit."""
DIGIT = 5
"""Bits for the number of boats of one length: there are at most 23 boats."""
MOST = (1 << DIGIT) - 1

State = int
"""The unexplained hits in the low bits; above them the remaining boats, one digit per length; above
these the number of open squares that boats may still cover.
"""


class Cover(Struct, frozen=True, gc=False):
    """All berths of one length over exactly these hits."""

    hits: Mask
    length: int
    berths: int
    over: Field
    """The number of these berths over each square."""


Boat = tuple[State, int, int, float, int]
"""The cover's change to a state, its squares without hits, the position of its digit, its weight,
and its index.
"""
Choices = dict[Mask, dict[Mask, list[Boat]]]
"""By the first hit that they cover, then by all hits that they cover."""
Step = tuple[State, State, float, float, int]
"""The state before and after, the weight of the explanations before, the weight of this step, and
the index of the cover.
"""


class Ways(Struct, frozen=True):
    """The explanations of the hits, as sums of weights."""

    weight: float
    shares: Sequence[float]
    """For each cover, the explanations that use it."""
    left: Sequence[float]
    """For each length, the boats that no hit needed."""


@lru_cache(64)
def odds(board: Rows, boats: tuple[str, ...]) -> list[int]:
    """Return the odds of each square, with one extra square at the end of each row; 0 for squares
    already shot at.
    """
    chart, sea = chart_for(board, boats), sea_of(board)
    waters = open_water(chart, sea.open)
    covers = [cover for square in squares_in(sea.hits) for cover in covers_near(chart, sea, square)]
    ways = _explained(chart, sea, waters, covers)
    unit = CERTAIN / ways.weight
    field = 0
    for cover, share in zip(covers, ways.shares, strict=False):
        if share:
            field += int(share / cover.berths * unit) * cover.over
    for water, left in zip(waters.values(), ways.left, strict=True):
        if water.berths:
            field += int(left / water.berths * unit) * water.over
    return numbers_in(field & sea.open * FULL, chart)


def covers_near(chart: Chart, sea: Sea, first: int) -> list[Cover]:
    """Return the covers whose first hit is `first`."""
    reach = chart.reach[first]
    return _covers(chart, first, sea.hits & reach, sea.misses & reach)


@lru_cache(1 << 12)
def _covers(chart: Chart, first: int, hits: Mask, misses: Mask) -> list[Cover]:
    """Return the covers for the hits and misses in reach.

    These rarely change from shot to shot, so the result is cached.
    """
    lowest = 1 << first
    found: dict[tuple[Mask, int], list[int]] = {}
    for berth in chart.over[first]:
        if not berth.mask & misses:
            covered = berth.mask & hits
            if covered & -covered == lowest:
                sums = found.setdefault((covered, berth.length), [0, 0])
                sums[0] += 1
                sums[1] += berth.field
    return [
        Cover(covered, length, berths, over) for (covered, length), (berths, over) in found.items()
    ]


def _explained(
    chart: Chart, sea: Sea, waters: Mapping[int, OpenWater], covers: Sequence[Cover]
) -> Ways:
    """Explain all hits; if that is impossible, leave some unexplained."""
    digits = {length: chart.squares + DIGIT * place for place, length in enumerate(chart.counts)}
    always = chart.squares + DIGIT * len(digits)
    start = (
        sea.hits
        + sum(count << digits[length] for length, count in chart.counts.items())
        + (1 << always)
    )
    start += max(0, chart.afloat - sea.hits.bit_count()) << always + DIGIT
    boats = _boats(sea.hits, covers, digits, waters)
    ways = _ways(start, sea.hits, boats, len(covers), digits)
    if ways.weight:
        return ways
    for hit, choices in boats.items():
        choices.setdefault(hit, []).append((hit, 0, always, UNEXPLAINED, len(covers)))
    return _ways(start, sea.hits, boats, len(covers) + 1, digits)


def _boats(
    hits: Mask, covers: Sequence[Cover], digits: Mapping[int, int], waters: Mapping[int, OpenWater]
) -> Choices:
    room = {length: water.berths or NO_ROOM for length, water in waters.items()}
    slack = max(digits.values()) + 2 * DIGIT
    boats: Choices = {1 << square: {} for square in squares_in(hits)}
    for number, cover in enumerate(covers):
        covered, digit = cover.hits, digits[cover.length]
        bare = cover.length - covered.bit_count()
        boat = (
            covered + (1 << digit) + (bare << slack),
            bare,
            digit,
            cover.berths / room[cover.length],
            number,
        )
        boats[covered & -covered].setdefault(covered, []).append(boat)
    return boats


def _ways(start: State, hits: Mask, boats: Choices, covers: int, digits: Mapping[int, int]) -> Ways:
    """Search forward to collect the steps, then backward to find those that lead to an end."""
    slack = max(digits.values()) + 2 * DIGIT
    steps, ends = _steps(start, hits, boats, slack, max(NARROW, EFFORT // (covers + 1)))
    onward = dict.fromkeys(ends, 1.0)
    shares = [0.0] * covers
    for state, after, weight, alone, number in reversed(steps):
        if after in onward:
            ways = onward[after]
            shares[number] += weight * ways
            onward[state] = onward.get(state, 0.0) + alone * ways
    left = [
        sum([weight * (state >> digit & MOST) for state, weight in ends.items()])
        for digit in digits.values()
    ]
    return Ways(sum(ends.values()), shares, left)


def _steps(
    start: State, hits: Mask, boats: Choices, slack: int, beam: int
) -> tuple[list[Step], dict[State, float]]:
    """Return every step from the start, in order, and the final states with their weights."""
    states: dict[Mask, dict[State, float]] = {hit: {} for hit in boats}
    states[0] = {}
    states[hits & -hits][start] = 1.0
    steps: list[Step] = []
    for hit, choices in boats.items():
        reached = states[hit]
        for state, weight in (
            reached.items()
            if len(reached) <= beam
            else nlargest(beam, reached.items(), key=itemgetter(1))
        ):
            left, spare = state & hits, state >> slack
            for covered, fitting in choices.items():
                if left & covered == covered:
                    rest = left ^ covered
                    after = states[rest & -rest]
                    for cost, bare, digit, alone, number in fitting:
                        if bare <= spare and (count := state >> digit & MOST):
                            there, odd = state - cost, alone * count
                            share = weight * odd
                            after[there] = after.get(there, 0.0) + share
                            steps.append((state, there, share, odd, number))
    return steps, states[0]


# Lookouts: functions that rate the squares of a board for the next shot, from the simplest to the
# best.

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
    return 1.0 + _afloat(chart, sea), [
        *squares_in(open_),
        *PULL * [*squares_in(_beside(chart, sea.hits) & open_)],
    ]


def trawl(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares next to any hit, or every other square, all the same."""
    chart, sea = chart_for(board, boats), sea_of(board)
    return 1.0 + _afloat(chart, sea), squares_in(
        _beside(chart, sea.hits) & _open(chart, sea) | _search(chart, sea, colour)
    )


def follow(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares at the end of the longest line of hits; without a hit, every other square."""
    chart, sea = chart_for(board, boats), sea_of(board)
    length, squares = _line_ends(chart, sea)
    return length + _afloat(chart, sea), squares_in(squares or _search(chart, sea, colour))


def fathom(board: Rows, boats: Boats, colour: int) -> Promise:
    """Rate squares at the end of the longest line of hits; without a hit, those with the most open
    water in all directions.
    """
    chart, sea = chart_for(board, boats), sea_of(board)
    length, squares = _line_ends(chart, sea)
    if squares:
        return length + _afloat(chart, sea), squares_in(squares)
    depths = _depths(chart, sea)
    return _best(_afloat(chart, sea), depths, squares_in(_search(chart, sea, colour)))


def plot(board: Rows, boats: Boats, _: int) -> Promise:
    """Rate each square by the berths over it; berths with hits come first."""
    chart, sea = chart_for(board, boats), sea_of(board)
    field = sum(
        chart.counts[length] * water.over for length, water in open_water(chart, sea.open).items()
    )
    for hit in squares_in(sea.hits):
        for cover in covers_near(chart, sea, hit):
            field += (
                chart.counts[cover.length]
                * CROWD ** min(cover.hits.bit_count(), CROWDED)
                * cover.over
            )
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
    """Return the length of the longest line of hits that ends at open squares, and
    these squares.
    """
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
    """Return the number of open squares in all four directions, up to the length of the longest
    boat.
    """
    depths = 0
    for step in (1, -1, chart.stride, -chart.stride):
        line = sea.open
        for _ in range(max(chart.counts) - 1):
            line = _moved(line, step * FIELD) & sea.open
            depths += line
    return numbers_in(depths, chart)


# Hidden fleet: a random fleet on squares that a player who shoots by the odds tries late.

DRAFTS = 16
"""The number of random fleets to choose from.

More drafts hide better from most players, but are easier to predict.
"""
CONTACT = 0.07
"""The cost of two adjacent squares of different boats, in hits of a first shot: such boats are
found together.
"""


def hidden_fleet(width: int, height: int, boats: Sequence[str], chance: Chance) -> Rows:
    """Draw some fleets and return the one on the least likely squares, with its boats apart."""
    blank = (WATER * width,) * height
    likely = odds(blank, tuple(boats))
    drafts = [random_fleet(width, height, boats, chance) for _ in range(DRAFTS)]
    return min(drafts, key=lambda fleet: _exposure(fleet, likely))


def _exposure(fleet: Rows, likely: Sequence[int]) -> float:
    squares = WATER.join((*fleet, ""))
    expected = sum([odd for odd, square in zip(likely, squares, strict=True) if square != WATER])
    return expected / CERTAIN + CONTACT * _contacts(fleet)


def _contacts(fleet: Rows) -> int:
    """Return the number of adjacent squares that belong to different boats."""
    columns = ["".join(column) for column in zip(*fleet, strict=True)]
    pairs = [pair for line in (*fleet, *columns) for pair in pairwise(line)]
    return sum([one != other and WATER not in (one, other) for one, other in pairs])


SKIP: Raw = {"skip": True}


def skipper(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then skip every turn."""
    return _placed(view, chance) if view["phase"] == "placement" else SKIP


def random(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at any square of any opponent that is still open."""
    if view["phase"] == "placement":
        return _placed(view, chance)
    you, width, height = view["you"], view["width"], view["height"]
    others = list(view["boards"])
    del others[you]
    squares = "".join(map("".join, others))
    untried = squares.count(".")
    if not untried:
        return SKIP
    # Draw an open square; the length of the text after it gives its position.
    rest = squares.split(".", chance.below(untried) + 1)[-1]
    row, x = divmod(len(squares) - len(rest) - 1, width)
    opponent, y = divmod(row, height)
    return {"target": opponent + (opponent >= you), "x": x, "y": y}


def drifter(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at any open square; squares next to a hit are five times as
    likely.
    """
    return _shot(view, chance, drift)


def trawler(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot next to a hit or on every other square, all with the same
    chance.
    """
    return _shot(view, chance, trawl)


def gunner(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the end of the longest line of hits, or at every other
    square.
    """
    return _shot(view, chance, follow)


def pilot(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the end of the longest line of hits, or at the most open
    water.
    """
    return _shot(view, chance, fathom)


def plotter(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the square that most boats could cover, places with hits
    first.
    """
    return _shot(view, chance, plot)


def hunter(view: View, chance: Chance) -> Raw:
    """Place a fleet where shots are rare, then shoot where a hit is likeliest, given all
    explanations of the hits.
    """
    if view["phase"] == "placement":
        return {
            "board": "".join(hidden_fleet(view["width"], view["height"], view["boats"], chance))
        }
    return _shot(view, chance, reckon)


def _placed(view: View, chance: Chance) -> Raw:
    return {"board": "".join(random_fleet(view["width"], view["height"], view["boats"], chance))}


def _shot(view: View, chance: Chance, lookout: Lookout) -> Raw:
    """Shoot at one of the best squares of the best boards."""
    if view["phase"] == "placement":
        return _placed(view, chance)
    boats, colour, you = tuple(view["boats"]), _colour(view["own"]), view["you"]
    fleet = sum(int(boat[1:]) for boat in boats)
    afloat = {
        seat: tuple(board)
        for seat, board in enumerate(view["boards"])
        if seat != you and "".join(board).count("X") < fleet
    }
    promises = {seat: lookout(board, boats, colour) for seat, board in afloat.items()}
    most = max([promise for promise, _ in promises.values()], default=0.0)
    best = [
        (seat, square)
        for seat, (promise, squares) in promises.items()
        if promise == most
        for square in squares
    ]
    if not best or most <= 0:
        return random(view, chance)
    target, square = chance.choice(best)
    y, x = divmod(square, view["width"] + 1)
    return {"target": target, "x": x, "y": y}


def _colour(own: Rows | None) -> int:
    """Return the colour of the squares to search on: it depends on the own fleet, so it stays the
    same for the whole game.
    """
    row, letters = next(((y, row) for y, row in enumerate(own or ()) if row.strip(".0")), (0, ""))
    return (row + len(letters) - len(letters.lstrip(".0"))) % 2
