"""House bots for gomoku."""

from collections.abc import Iterator
from functools import cache, lru_cache

from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.gomoku import FREE, MARKS, Point, points, stretches

TRIES = 6
"""The number of cells of the largest board that the 64 bits of one draw provide."""

Promise = int
"""The value of a stone as one number, which can be added over the lines through it. It counts the stones that it may form a row
with, and these threats: a four is a cell that would win next; a three is a line where one more stone would make two fours."""
THREE, FOUR, WIN = 10**6, 10**7, 10**9
COMPANY = tuple(stones**2 for stones in range(26))
"""The value of a row that is still possible, by the number of its stones."""

Kind = int
NOTHING, TWO_THREES, FOUR_AND_THREE, TWO_FOURS, ROW = range(5)
MAKING = (0, 10**6, 5 * 10**8, 10**9, 10**10)
"""The value of each kind for the player that makes it."""
BREAKING = (0, 5 * 10**5, 5 * 10**7, 10**8, 5 * 10**9)
"""The value of preventing each kind."""


def random(view: View, chance: Chance) -> Raw:
    """Choose any free cell."""
    size, board, draw = view["size"], view["board"], chance.bits()
    for _ in range(TRIES):
        draw, cell = divmod(draw, size * size)
        x, y = cell % size, cell // size
        if board[y][x] == FREE:
            return {"x": x, "y": y}
    return move_to(chance.choice([points(size)[cell] for cell in _free("".join(board))]))


def threat(view: View, chance: Chance) -> Raw:
    """Look one stone ahead: win or prevent a win, make and block fours and threes, stay near other stones."""
    size, board = view["size"], "".join(view["board"])
    worth = dict(_worths(board, size, view["winLength"], view["you"]))
    best = max(worth.values())
    return move_to(points(size)[chance.choice([cell for cell in worth if worth[cell] == best])])


def move_to(point: Point) -> Raw:
    return {"x": point[0], "y": point[1]}


def _free(cells: str) -> Iterator[int]:
    return (cell for cell, mark in enumerate(cells) if mark == FREE)


def _worths(cells: str, size: int, win_length: int, you: int) -> Iterator[tuple[int, float]]:
    """Yield each free cell, and the value of a stone there."""
    lines, centre = _lines(size, win_length), nearness_to_centre(size)
    for cell in _free(cells):
        mine = theirs = 0
        for line, at in lines[cell]:
            promises = line_promises(cells[line], at, win_length)
            mine += promises[you]
            theirs += promises[1 - you]
        yield cell, threats_worth(mine, theirs) + mine % THREE + theirs % THREE + centre[cell]


@cache
def _lines(size: int, win_length: int) -> tuple[tuple[tuple[slice, int], ...], ...]:
    """Return the lines through each cell, and its position on them."""
    through = stretches(size, win_length)
    return tuple(tuple((line, (cell - line.start) // line.step) for line in through[cell]) for cell in range(size * size))


@cache
def nearness_to_centre(size: int) -> tuple[float, ...]:
    """Return a value from 0 to less than 1 per cell, which breaks ties between equal cells."""
    middle = (size - 1) / 2
    return tuple(1 - (abs(x - middle) + abs(y - middle) + 1) / size for x, y in points(size))


def threats_worth(mine: Promise, theirs: Promise) -> int:
    """Return the value of the threats that a stone makes and prevents."""
    return MAKING[_kind(mine)] + BREAKING[_kind(theirs)]


def _kind(promise: Promise) -> Kind:
    fours, threes = promise % WIN // FOUR, promise % FOUR // THREE
    if promise >= WIN:
        return ROW
    if fours > 1:
        return TWO_FOURS
    if fours and threes:
        return FOUR_AND_THREE
    return TWO_THREES if threes > 1 else NOTHING


@lru_cache(maxsize=2**17)
def line_promises(line: str, at: int, win_length: int, company: tuple[int, ...] = COMPANY) -> tuple[Promise, ...]:
    """Return, for each seat, the threats that its stone at this place would make on the line."""
    return tuple(_promise(line[:at] + mark + line[at + 1 :], mark, win_length, company) for mark in MARKS)


def _promise(line: str, mark: str, win_length: int, company: tuple[int, ...]) -> Promise:
    """Rate `line`, which already has the stone and is so short that every row on it includes the stone."""
    gaps = _gaps(line, mark, win_length)
    stones = sum(company[win_length - len(missing)] for missing in gaps)
    fours = {cell for missing in gaps if len(missing) == 1 for cell in missing}
    halves = [cell for missing in set(gaps) if len(missing) == 2 and fours.isdisjoint(missing) for cell in missing]
    three = len(set(halves)) < len(halves)
    return stones + THREE * three + FOUR * len(fours) + WIN * (() in gaps)


def _gaps(line: str, mark: str, win_length: int) -> list[tuple[int, ...]]:
    """Return the missing cells of each row that is still possible on the line."""
    windows = ((start, line[start : start + win_length]) for start in range(len(line) - win_length + 1))
    return [
        tuple(start + gap for gap in _free(window))
        for start, window in windows
        if window.count(mark) + window.count(FREE) == win_length
    ]
