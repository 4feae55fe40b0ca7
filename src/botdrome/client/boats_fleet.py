"""A fleet before the game: laid out boat by boat, drawn by chance, or given as one text."""

from msgspec import Struct

from botdrome.client.boats_lines import Summary, Unsuited, place
from botdrome.games.chance import Chance
from botdrome.games.fleet import WATER, berths, check_fleet, check_room, random_fleet
from botdrome.games.game import BadOption, IllegalMove

DRAFTS = 10
"""So many fleets are drawn at most until one has the border that was asked for; then the best of them is taken."""
MOVES = 200
"""So many times a boat of each of them is moved."""


class Layout:
    """A fleet that somebody lays out by hand: the next boat, one step back, done."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._steps = [WATER * summary.squares]

    def suits(self, game: Summary) -> bool:
        """Whether that game has the same board and the same boats."""
        mine = self._summary
        return (mine.width, mine.height, mine.boats) == (game.width, game.height, game.boats)

    @property
    def squares(self) -> str:
        return self._steps[-1]

    @property
    def next_boat(self) -> str | None:
        names = self._summary.boats.names
        return names[len(self._steps) - 1] if len(self._steps) <= len(names) else None

    def put(self, x: int, y: int, south: bool) -> None:
        """The next boat from this square on to the south or to the east, or Unsuited."""
        boat = self.next_boat
        if boat is None:
            raise Unsuited("all boats are placed")
        width, height, length = self._summary.width, self._summary.height, int(boat[1:])
        cells = [(x, y + at) if south else (x + at, y) for at in range(length)]
        if cells[-1][0] >= width or cells[-1][1] >= height:
            raise Unsuited(f"{boat} does not fit from {place(x, y)} to the {'south' if south else 'east'}")
        squares = list(self.squares)
        for column, row in cells:
            if squares[row * width + column] != WATER:
                raise Unsuited(f"{boat} would lie over {squares[row * width + column]} at {place(column, row)}")
            squares[row * width + column] = boat[0]
        self._steps.append("".join(squares))

    def undo(self) -> None:
        if len(self._steps) > 1:
            self._steps.pop()


class Draft(Struct, frozen=True):
    """Fleets by chance that reach so many percent of the border that boats could have at most."""

    summary: Summary
    border: int = 0

    def draw(self, chance: Chance) -> str:
        """Or Unsuited, where the boats leave too little room for chance."""
        width, height, boats = self.summary.width, self.summary.height, self.summary.boats
        try:
            check_room(boats, width, height)
        except BadOption as problem:
            raise Unsuited(str(problem)) from None
        best, best_border = "", -1.0
        for _ in range(DRAFTS):
            squares = self._improved("".join(random_fleet(width, height, boats.names, chance)), chance)
            found = border_of(squares, self.summary)
            if found > best_border:
                best, best_border = squares, found
            if best_border >= self.border:
                break
        return best

    def _improved(self, squares: str, chance: Chance) -> str:
        """Boats move one at a time, as long as the border is too small, to where it does not become smaller."""
        border = border_of(squares, self.summary)
        for _ in range(MOVES):
            if border >= self.border:
                break
            moved = self._moved(squares, chance.choice(self.summary.boats.names), chance)
            found = border_of(moved, self.summary)
            if found >= border:
                squares, border = moved, found
        return squares

    def _moved(self, squares: str, boat: str, chance: Chance) -> str:
        """This boat in any place that the others leave free."""
        others = squares.replace(boat[0], WATER)
        lying = berths(self.summary.width, self.summary.height, int(boat[1:])).values()
        marks = list(others)
        for square in chance.choice([berth for berth in lying if all(others[square] == WATER for square in berth)]):
            marks[square] = boat[0]
        return "".join(marks)


def border_of(squares: str, summary: Summary) -> float:
    """How much of their border the boats have free, in percent.

    The border of a boat is every square beside it, without corners: 2 * length + 2 where neither wall nor another boat is near.
    """
    beside: dict[str, set[int]] = {letter: set() for letter in summary.boats.lengths}
    for square, letter in enumerate(squares):
        if letter != WATER:
            beside[letter].update(other for other in _beside(square, summary.width, squares) if squares[other] == WATER)
    return 100 * sum(map(len, beside.values())) / sum(2 * length + 2 for length in summary.boats.lengths.values())


def _beside(square: int, width: int, squares: str) -> list[int]:
    x = square % width
    found = [square - width, square + width]
    found += [square - 1] if x else []
    found += [square + 1] if x < width - 1 else []
    return [other for other in found if 0 <= other < len(squares)]


def given_fleet(squares: str, summary: Summary) -> str:
    """A fleet that was given as one text, or Unsuited."""
    if len(squares) != summary.squares:
        raise Unsuited(f"this game's boards have {summary.squares} squares, not {len(squares)}")
    try:
        check_fleet(squares, summary.boats, summary.width)
    except IllegalMove as problem:
        raise Unsuited(str(problem)) from None
    return squares
