"""Squares by their names, and a fleet before the game: laid out by hand, random, or
given as text.
"""

from msgspec import Struct

from botdrome.client.terminal_text import shown
from botdrome.games.battleship import WATER, berths, check_fleet, check_room, random_fleet
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, IllegalMove
from botdrome.wire.boats.lines import COLUMNS, Offer, square_name

DRAFTS = 10
"""Fleets drawn until one has enough free border; after that many the best one is taken."""
MOVES = 200
"""Attempts to improve one of these fleets by moving a boat."""


class NotPossible(Exception):
    """A request of the player that the game does not allow now, with the reason."""


def square_in(text: str, width: int, height: int) -> tuple[int, int]:
    """Return column and row, from 0, of a square like e5, or raise NotPossible."""
    word = text.strip().lower()
    column, row = word[:1], word[1:].strip()
    x = COLUMNS.find(column) if column else -1
    y = int(row) - 1 if row.isascii() and row.isdecimal() and len(row) < 4 else -1
    if 0 <= x < width and 0 <= y < height:
        return x, y
    raise NotPossible(
        f"a square is from a1 to {square_name(width - 1, height - 1)}, not {shown(text)!r}"
    )


class FleetLayout:
    """A fleet that a person lays out boat by boat."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._steps = [WATER * offer.squares]

    def suits(self, game: Offer) -> bool:
        """Return whether that game has the same board size and boats."""
        mine = self._offer
        return (mine.width, mine.height, mine.boats) == (game.width, game.height, game.boats)

    @property
    def squares(self) -> str:
        return self._steps[-1]

    @property
    def next_boat(self) -> str | None:
        names = self._offer.boats.names
        return names[len(self._steps) - 1] if len(self._steps) <= len(names) else None

    def put(self, x: int, y: int, south: bool) -> None:
        """Place the next boat from this square on to the south or to the east, or raise
        NotPossible.
        """
        boat = self.next_boat
        if boat is None:
            raise NotPossible("all boats are placed")
        width, height, length = self._offer.width, self._offer.height, int(boat[1:])
        cells = [(x, y + at) if south else (x + at, y) for at in range(length)]
        if cells[-1][0] >= width or cells[-1][1] >= height:
            raise NotPossible(
                f"{boat} does not fit from {square_name(x, y)} to the "
                f"{'south' if south else 'east'}"
            )
        squares = list(self.squares)
        for column, row in cells:
            if squares[row * width + column] != WATER:
                raise NotPossible(
                    f"{boat} would lie over {squares[row * width + column]} at "
                    f"{square_name(column, row)}"
                )
            squares[row * width + column] = boat[0]
        self._steps.append("".join(squares))

    def undo(self) -> None:
        if len(self._steps) > 1:
            self._steps.pop()


class RandomFleets(Struct, frozen=True):
    """Random fleets with at least `border` percent of their border free (see `border_of`)."""

    offer: Offer
    border: int = 0

    def draw(self, chance: Chance) -> str:
        """Draw a fleet. NotPossible: the boats are too many for the board."""
        width, height, boats = self.offer.width, self.offer.height, self.offer.boats
        try:
            check_room(boats, width, height)
        except BadOption as problem:
            raise NotPossible(str(problem)) from None
        best, best_border = "", -1.0
        for _ in range(DRAFTS):
            squares = self._improved(
                "".join(random_fleet(width, height, boats.names, chance)), chance
            )
            found = border_of(squares, self.offer)
            if found > best_border:
                best, best_border = squares, found
            if best_border >= self.border:
                break
        return best

    def _improved(self, squares: str, chance: Chance) -> str:
        """Move boats one at a time, as long as the border is too small, to where it does not become
        smaller.
        """
        border = border_of(squares, self.offer)
        for _ in range(MOVES):
            if border >= self.border:
                break
            moved = self._moved(squares, chance.choice(self.offer.boats.names), chance)
            found = border_of(moved, self.offer)
            if found >= border:
                squares, border = moved, found
        return squares

    def _moved(self, squares: str, boat: str, chance: Chance) -> str:
        """Move this boat to a random free place."""
        others = squares.replace(boat[0], WATER)
        lying = berths(self.offer.width, self.offer.height, int(boat[1:])).values()
        marks = list(others)
        for square in chance.choice(
            [berth for berth in lying if all(others[square] == WATER for square in berth)]
        ):
            marks[square] = boat[0]
        return "".join(marks)


def border_of(squares: str, offer: Offer) -> float:
    """Return how many percent of their border the boats have free.

    The border of a boat is every square beside it, without corners: at most 2 * length + 2 squares.
    """
    beside: dict[str, set[int]] = {letter: set() for letter in offer.boats.lengths}
    for square, letter in enumerate(squares):
        if letter != WATER:
            beside[letter].update(
                other for other in _beside(square, offer.width, squares) if squares[other] == WATER
            )
    return (
        100
        * sum(map(len, beside.values()))
        / sum(2 * length + 2 for length in offer.boats.lengths.values())
    )


def _beside(square: int, width: int, squares: str) -> list[int]:
    x = square % width
    found = [square - width, square + width]
    found += [square - 1] if x else []
    found += [square + 1] if x < width - 1 else []
    return [other for other in found if 0 <= other < len(squares)]


def given_fleet(squares: str, offer: Offer) -> str:
    """Check a fleet given as one text, or raise NotPossible."""
    if len(squares) != offer.squares:
        raise NotPossible(f"this game's boards have {offer.squares} squares, not {len(squares)}")
    try:
        check_fleet(squares, offer.boats, offer.width)
    except IllegalMove as problem:
        raise NotPossible(str(problem)) from None
    return squares
