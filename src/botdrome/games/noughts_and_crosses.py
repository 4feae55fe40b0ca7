"""Noughts and crosses: three in a row on a board of three by three."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar

from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw, Seat, View
from botdrome.games.reading import entries, shown, whole_within

Space = int
"""The number of a space, row by row, from 0 to 8."""
Rows = tuple[tuple[str, ...], ...]

MARKS = ("X", "O")
EMPTY: Rows = (("", "", ""),) * 3
SPACES = frozenset([divmod(space, 3) for space in range(9)])
FULL = 0b111_111_111
LINES = (0o700, 0o070, 0o007, 0o444, 0o222, 0o111, 0o421, 0o124)
WON = frozenset(taken for taken in range(FULL + 1) if any(taken & line == line for line in LINES))
TURNS = ((0,), (1,))
ROWS = {
    (crosses, noughts): tuple(
        [
            MARKS[0] if crosses >> space & 1 else MARKS[1] if noughts >> space & 1 else ""
            for space in range(3)
        ]
    )
    for crosses in range(8)
    for noughts in range(8)
}
"""The marks of a row, by the spaces of each seat in it, as bits."""


def _region(space: Space) -> str:
    return "the centre" if space == 4 else "an edge" if space % 2 else "a corner"


class NoughtsAndCrosses(Game[Space], frozen=True):
    name: ClassVar[str] = "noughts-and-crosses"
    players: ClassVar[range] = range(2, 3)
    opening_moves: ClassVar[int] = 2

    board: Rows = EMPTY
    taken: tuple[int, int] = (0, 0)
    """The spaces of each seat, as bits."""
    to_move: tuple[Seat, ...] = TURNS[0]
    scores: tuple[float, ...] = (0.0, 0.0)

    def start(self, players: int, chance: Chance) -> "NoughtsAndCrosses":
        return NoughtsAndCrosses()

    @property
    def over(self) -> bool:
        return not self.to_move

    def parse(self, seat: Seat, raw: Raw) -> Space:
        try:
            mark, space = raw["mark"], raw["space"]
        except (KeyError, TypeError, IndexError):
            mark, space = entries(raw, "mark", "space")
        if mark != MARKS[seat]:
            raise IllegalMove(f'your mark is "{MARKS[seat]}", not {shown(mark)}')
        if not isinstance(space, (list, tuple)) or len(space) != 2:
            raise IllegalMove(f"a space is [row, column], not {shown(space)}")
        row, column = space
        if type(row) is not int or type(column) is not int or (row, column) not in SPACES:
            row = whole_within(row, "a row", 0, 2)
            column = whole_within(column, "a column", 0, 2)
        if self.board[row][column]:
            raise IllegalMove(f"space [{row}, {column}] is taken")
        return 3 * row + column

    def play(self, moves: Mapping[Seat, Space], chance: Chance) -> "NoughtsAndCrosses":
        for seat, space in moves.items():
            crosses, noughts = self.taken
            return (
                _marked(crosses, noughts | 1 << space, 1)
                if seat
                else _marked(crosses | 1 << space, noughts, 0)
            )
        return NoughtsAndCrosses(self.board, self.taken, TURNS[1 - self.to_move[0]])

    def verdict(self, names: Sequence[str]) -> str:
        for name, taken in zip(names, self.taken, strict=True):
            for line in LINES:
                if taken & line == line:
                    spaces = (divmod(space, 3) for space in range(9) if line >> space & 1)
                    return f"{name} has three in a row: " + ", ".join(
                        str([*space]) for space in spaces
                    )
        return "the board is full, and nobody has three in a row"

    def opening_words(self, seat: Seat, raw: Raw) -> str:
        where, taken = _region(self.parse(seat, raw)), self.taken[0] | self.taken[1]
        if taken.bit_count() > 1:
            return ""
        first = f"answers {_region(taken.bit_length() - 1)}" if taken else "opens"
        return f"{first} with {where}"

    def view(self, seat: Seat | None) -> View:
        return {"you": seat, "toMove": self.to_move, "marks": MARKS, "board": self.board}

    def moves(self, seat: Seat) -> Iterator[Raw]:
        for space in range(9):
            row, column = divmod(space, 3)
            if not self.board[row][column]:
                yield {"mark": MARKS[seat], "space": [row, column]}


@cache
def _marked(crosses: int, noughts: int, seat: Seat) -> NoughtsAndCrosses:
    """Return the position after a mark of this seat.

    All 5,478 positions are made once and shared by all matches.
    """
    board = (
        ROWS[crosses & 7, noughts & 7],
        ROWS[crosses >> 3 & 7, noughts >> 3 & 7],
        ROWS[crosses >> 6, noughts >> 6],
    )
    taken = crosses, noughts
    if taken[seat] in WON:
        return NoughtsAndCrosses(board, taken, (), (0.0, 1.0) if seat else (1.0, 0.0))
    return NoughtsAndCrosses(board, taken, () if crosses | noughts == FULL else TURNS[1 - seat])
