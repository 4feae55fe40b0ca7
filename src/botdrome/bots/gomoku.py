"""House bots for gomoku."""

from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import product

from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View
from botdrome.games.gomoku import FREE, MARKS, Point, points, stretches

TRIES = 6
"""The number of cells of the largest board that the 64 bits of one draw provide."""

Promise = int
"""The value of a stone as one number, which can be added over the lines through it. It counts the
stones that it may form a row with, and these threats: a four is a cell that would win next; a three
is a line where one more stone would make two fours.
"""
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
    """Look one stone ahead: win or prevent a win, make and block fours and threes, stay near other
    stones.
    """
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
    return tuple(
        tuple((line, (cell - line.start) // line.step) for line in through[cell])
        for cell in range(size * size)
    )


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
def line_promises(
    line: str, at: int, win_length: int, company: tuple[int, ...] = COMPANY
) -> tuple[Promise, ...]:
    """Return, for each seat, the threats that its stone at this place would make on the line."""
    return tuple(
        _promise(line[:at] + mark + line[at + 1 :], mark, win_length, company) for mark in MARKS
    )


def _promise(line: str, mark: str, win_length: int, company: tuple[int, ...]) -> Promise:
    """Rate `line`, which already has the stone and is so short that every row on it includes the
    stone.
    """
    gaps = _gaps(line, mark, win_length)
    stones = sum(company[win_length - len(missing)] for missing in gaps)
    fours = {cell for missing in gaps if len(missing) == 1 for cell in missing}
    halves = [
        cell
        for missing in set(gaps)
        if len(missing) == 2 and fours.isdisjoint(missing)
        for cell in missing
    ]
    three = len(set(halves)) < len(halves)
    return stones + THREE * three + FOUR * len(fours) + WIN * (() in gaps)


def _gaps(line: str, mark: str, win_length: int) -> list[tuple[int, ...]]:
    """Return the missing cells of each row that is still possible on the line."""
    windows = (
        (start, line[start : start + win_length]) for start in range(len(line) - win_length + 1)
    )
    return [
        tuple(start + gap for gap in _free(window))
        for start, window in windows
        if window.count(mark) + window.count(FREE) == win_length
    ]


# A gomoku board for bots that look ahead: it knows the cells where a stone of either player would
# make a threat.
#
# The line through a cell in one direction is coded as one number: two bits for each other cell
# that can share a row with it.

Cell = int
Code = int
Promises = tuple[Promise, ...]
"""The promises of both players."""
Threats = dict[Cell, Promise]
"""The promise of a stone on each free cell where it makes a three, a four or a row."""
SIGNS = FREE + "".join(MARKS) + "#"
"""The signs of the codes 0 to 3; the last means that the board ends there."""
EDGE = 3
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""The four directions of a line, as steps down and right."""
STRATEGIST_COMPANY = (0, 1, 6, 18, 20, 20, 20)
"""The value of a row that is still possible, by the number of its stones."""
SEARCHED = range(4, len(STRATEGIST_COMPANY))
"""The lengths of a row for which this board is of use: longer lines have too many codes, and with 3
any stone is a threat.
"""
NO_THREATS: Promises = (0, 0)


class LineTable(dict[Code, Promises]):
    """The promises of both players for the middle of a line, by its code.

    A line is rated when it is first met.
    """

    def __init__(self, win_length: int) -> None:
        self._win_length = win_length

    def __missing__(self, code: Code) -> Promises:
        reach = self._win_length - 1
        signs = [SIGNS[code >> 2 * place & 3] for place in range(2 * reach)]
        line = "".join([*signs[:reach], FREE, *signs[reach:]])
        self[code] = found = line_promises(line, reach, self._win_length, STRATEGIST_COMPANY)
        return found


class ThreatTable(dict[Code, Promises]):
    """The same for the threats only.

    Lines without threats share one value, so that a search skips them quickly.
    """

    def __init__(self, lines: LineTable, taken: Code) -> None:
        self._lines, self._taken = lines, taken

    def __missing__(self, code: Code) -> Promises:
        promises = NO_THREATS if code >= self._taken else self._lines[code]
        threats = tuple(promise - promise % THREE for promise in promises)
        self[code] = found = threats if any(threats) else NO_THREATS
        return found


class Ground:
    """The tables that all boards of one size and length of a row share."""

    def __init__(self, size: int, win_length: int) -> None:
        self.taken: Code = 1 << 4 * (win_length - 1)
        """The bit that marks a line with a stone in the middle."""
        self.lines = LineTable(win_length)
        self.threats = ThreatTable(self.lines, self.taken)
        self.codes: list[Code] = [0] * (4 * size * size)
        """The codes of the lines of an empty board, four for each cell."""
        self.touched: list[list[list[tuple[int, Cell, Code]]]] = [
            [[] for _ in range(size * size)] for _ in MARKS
        ]
        """For a stone of each player on each cell: the lines that it changes, their cells, and what
        it adds to their codes.
        """
        offsets = [offset for offset in range(1 - win_length, win_length) if offset]
        for cell, (way, (down, right)) in product(range(size * size), enumerate(WAYS)):
            for place, offset in enumerate(offsets):
                row, column = cell // size + offset * down, cell % size + offset * right
                if 0 <= row < size and 0 <= column < size:
                    for seat, touched in enumerate(self.touched):
                        touched[row * size + column].append(
                            (4 * cell + way, cell, seat + 1 << 2 * place)
                        )
                else:
                    self.codes[4 * cell + way] |= EDGE << 2 * place


ground = cache(Ground)


class Stones:
    """The stones on a board. They never change: `with_stone` returns new ones."""

    __slots__ = ("_codes", "_ground", "key", "threats")

    def __init__(
        self, shared: Ground, codes: list[Code], threats: tuple[Threats, Threats], key: int
    ) -> None:
        self._ground, self._codes, self.threats = shared, codes, threats
        self.key = key
        """The bit set of the stones, which is equal for equal boards."""

    def key_with(self, cell: Cell, seat: Seat) -> int:
        return self.key | 1 << 2 * cell + seat

    def with_stone(self, cell: Cell, seat: Seat) -> "Stones":
        codes, crosses, noughts = self._codes.copy(), self.threats[0].copy(), self.threats[1].copy()
        table = self._ground.threats
        crosses.pop(cell, None)
        noughts.pop(cell, None)
        for line in range(4 * cell, 4 * cell + 4):
            codes[line] |= self._ground.taken
        for line, near, change in self._ground.touched[seat][cell]:
            code = codes[line]
            codes[line] = changed = code + change
            if (old := table[code]) is not (new := table[changed]):
                _add(crosses, near, new[0] - old[0])
                _add(noughts, near, new[1] - old[1])
        return Stones(self._ground, codes, (crosses, noughts), self.key_with(cell, seat))

    def promises(self, cells: Iterable[Cell] | None = None) -> Iterator[tuple[Cell, Promises]]:
        """Yield each free cell (of these cells), and the promises of both players for it."""
        lines, codes, taken = self._ground.lines, self._codes, self._ground.taken
        for cell in range(len(codes) // 4) if cells is None else cells:
            first = 4 * cell
            if codes[first] < taken:
                (a, b), (c, d), (e, f), (g, h) = [lines[code] for code in codes[first : first + 4]]
                yield cell, (a + c + e + g, b + d + f + h)

    def near(self, cell: Cell) -> Iterator[Cell]:
        """Yield the cells whose promises a stone on this cell may change."""
        return (near for _, near, _ in self._ground.touched[0][cell])


def _add(threats: Threats, cell: Cell, change: Promise) -> None:
    if change:
        threats[cell] = threats.get(cell, 0) + change
        if not threats[cell]:
            del threats[cell]


def stones_on(board: str, size: int, win_length: int) -> Stones:
    shared = ground(size, win_length)
    stones = Stones(shared, shared.codes, ({}, {}), 0)
    for cell, mark in enumerate(board):
        if mark != FREE:
            stones = stones.with_stone(cell, MARKS.index(mark))
    return stones


# Threat-space search for gomoku: wins by a sequence of fours and threes that the opponent must
# answer.

TWICE_FOUR = 2 * FOUR
MOST_FOURS = 20
"""The largest number of fours in an attack with fours only."""
DEEPEST = 4
"""The largest number of forced answers in an attack with threes."""


class Nodes:
    """The boards that the searches for one move have visited, and the number that they may still
    visit.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self._visited: dict[int, Stones] = {}

    def with_stone(self, stones: Stones, cell: Cell, seat: Seat) -> Stones:
        """Return the board with one more stone.

        A board that two orders of stones lead to counts once.
        """
        key = stones.key_with(cell, seat)
        after = self._visited.get(key)
        if after is None:
            self.left -= 1
            self._visited[key] = after = stones.with_stone(cell, seat)
        return after


def find_attack(stones: Stones, attacker: Seat, nodes: Nodes, share: int) -> Cell | None:
    """Return the first stone of an attack that wins, or None if none was found with this share of
    the nodes.

    Attacks with fours only come first, since they can be deep; then those with threes, the shortest
    ones first.
    """
    cell = Attack(attacker, FOUR, nodes, share // 4).winning_cell(stones, MOST_FOURS)
    attack = Attack(attacker, THREE, nodes, share)
    for depth in range(1, DEEPEST + 1):
        if cell is None:
            cell = attack.winning_cell(stones, depth)
    return cell


class Attack:
    """A search for the attacks of one player."""

    def __init__(self, attacker: Seat, least: Promise, nodes: Nodes, share: int) -> None:
        self._attacker, self._least, self._nodes = attacker, least, nodes
        self._last = max(0, nodes.left - share)
        self._known: dict[tuple[int, int], Cell | None] = {}

    def winning_cell(self, stones: Stones, depth: int) -> Cell | None:
        """Return the first stone of an attack with at most `depth` forced answers, or None if none
        was found.
        """
        place = stones.key, depth
        if place not in self._known:
            self._known[place] = self._searched(stones, depth)
        return self._known[place]

    def _searched(self, stones: Stones, depth: int) -> Cell | None:
        mine, theirs = self._threats(stones)
        best = max(mine, key=mine.__getitem__, default=None)
        if best is None or mine[best] >= WIN:
            return best
        blocks = cells_from(theirs, WIN)
        if not blocks and mine[best] >= TWICE_FOUR:
            return best
        if depth == 0 or len(blocks) > 1:
            return None
        for cell in self._attacks(mine, blocks):
            if self._nodes.left <= self._last:
                return None
            if not self._holds(self._nodes.with_stone(stones, cell, self._attacker), depth - 1):
                return cell
        return None

    def _threats(self, stones: Stones) -> tuple[Threats, Threats]:
        return stones.threats[self._attacker], stones.threats[1 - self._attacker]

    def _attacks(self, mine: Threats, blocks: Iterable[Cell]) -> list[Cell]:
        cells = [cell for cell in blocks or mine if mine.get(cell, 0) >= self._least]
        return sorted(cells, key=lambda cell: (-mine[cell], cell))

    def _holds(self, stones: Stones, depth: int) -> bool:
        """Return True if the defender, who is to move, has an answer."""
        mine, theirs = self._threats(stones)
        answers = cells_from(mine, WIN)
        if len(answers) > 1:
            return False
        for cell in answers or _answers(mine, theirs):
            if (
                self.winning_cell(self._nodes.with_stone(stones, cell, 1 - self._attacker), depth)
                is None
            ):
                return True
        return False


def _answers(mine: Threats, theirs: Threats) -> list[Cell]:
    """Return the answers to a three: cells where the attacker would make a four, and where the
    defender would, the best first.
    """
    cells = {*cells_from(mine, FOUR), *cells_from(theirs, FOUR)}
    return sorted(cells, key=lambda cell: (-mine.get(cell, 0) - theirs.get(cell, 0), cell))


def cells_from(threats: Threats, least: Promise) -> list[Cell]:
    return [cell for cell, promise in threats.items() if promise >= least]


# The strategist: a house bot for gomoku that searches for attacks that cannot be stopped, its own
# and its opponent's.

NODES = 700
"""The number of boards that the bot visits for one move."""
ATTACK, DANGER, CHOICE = 250, 200, 60
"""The shares of the nodes: for an attack of its own, one of the opponent, and to look into one
choice.
"""
CHOICES = 12
"""The number of cells that the bot looks into."""
OWN, OTHER = 3, 2
"""The weights of its own stones and of the opponent's stones around a cell."""


def strategist(view: View, chance: Chance) -> Raw:
    """Win by force if possible, prevent such wins, and otherwise build rows."""
    size, win_length, board = view["size"], view["winLength"], "".join(view["board"])
    if win_length not in SEARCHED or board.count(FREE) < CHOICES:
        return threat(view, chance)
    stones = stones_on(board, size, win_length)
    return move_to(points(size)[_Thought(stones, view["you"], size, chance).choice()])


class _Thought:
    """The bot's thought about one move."""

    def __init__(self, stones: Stones, you: Seat, size: int, chance: Chance) -> None:
        self._stones, self._you, self._chance = stones, you, chance
        self._centre, self._nodes = nearness_to_centre(size), Nodes(NODES)

    def choice(self) -> Cell:
        mine, theirs = self._stones.threats[self._you], self._stones.threats[1 - self._you]
        if max(theirs.values(), default=0) >= WIN > max(mine.values(), default=0):
            return max(theirs, key=theirs.__getitem__)
        attack = find_attack(self._stones, self._you, self._nodes, ATTACK)
        return self._without_attack() if attack is None else attack

    def _without_attack(self) -> Cell:
        worths = self._worths(self._stones, self._you)
        cells = list(worths)
        self._chance.shuffle(cells)
        cells.sort(key=worths.__getitem__, reverse=True)
        danger = find_attack(self._stones, 1 - self._you, self._nodes, DANGER)
        if danger is None:
            return next(filter(self._prepares, cells[:CHOICES]), cells[0])
        return next(filter(self._defends, [*cells[:CHOICES], danger]), cells[0])

    def _prepares(self, cell: Cell) -> bool:
        """Return True if the bot has an attack after the most likely answer to a stone on this
        cell.
        """
        after = self._stones.with_stone(cell, self._you)
        worths = self._answers | self._worths(after, 1 - self._you, after.near(cell))
        del worths[cell]
        after = after.with_stone(max(worths, key=worths.__getitem__), 1 - self._you)
        return find_attack(after, self._you, self._nodes, CHOICE) is not None

    def _defends(self, cell: Cell) -> bool:
        """Return True if the opponent has no attack after a stone on this cell."""
        return (
            find_attack(
                self._stones.with_stone(cell, self._you), 1 - self._you, self._nodes, CHOICE
            )
            is None
        )

    @cached_property
    def _answers(self) -> dict[Cell, float]:
        """The value of each free cell for the opponent."""
        return self._worths(self._stones, 1 - self._you)

    def _worths(
        self, stones: Stones, you: Seat, cells: Iterable[Cell] | None = None
    ) -> dict[Cell, float]:
        """Return the value of each free cell (of these cells) for the player to move."""
        found = {}
        for cell, promises in stones.promises(cells):
            mine, theirs = promises[you], promises[1 - you]
            threats = threats_worth(mine, theirs) if mine >= THREE or theirs >= THREE else 0
            found[cell] = (
                threats + OWN * (mine % THREE) + OTHER * (theirs % THREE) + self._centre[cell]
            )
        return found
