"""Battleship: find the other fleets by shooting at their boards.

Each hit is a point; all seats have the same number of turns.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.reading import an_object, entry, plural, shown, whole, whole_within

# Fleet: the boats of a battleship game, read from options and moves, or placed at random.

Rows = tuple[str, ...]
"""A board as one text per row, from the top."""
Square = int
"""The number of a square, row by row, from 0."""
Mask = int
"""A set of squares, one bit each."""

WATER: Final = "."
HIT: Final = "X"
MISS: Final = "0"
Squares = str
"""A board as one text, row by row."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVW"
LENGTHS = "2345678"
RESTARTS = 50


class Boats(Struct, frozen=True):
    """The boats of each player."""

    names: tuple[str, ...]
    """As in the option and the view: A5 is boat A, five squares long."""
    lengths: Mapping[str, int]
    squares: int
    """The number of squares of a fleet."""
    gone: Mapping[int, None]
    """A table for `translate` that deletes boats and water, so that only wrong letters remain."""


@cache
def boats_in(text: str) -> Boats:
    """Return the boats in a text such as "A5 B4". Raise BadOption if it is wrong."""
    names = tuple(text.split())
    lengths: dict[str, int] = {}
    for name in names:
        if len(name) != 2 or name[0] not in LETTERS or name[1] not in LENGTHS:
            raise BadOption(
                f"boats: {shown(name)} is not a boat; A5 is boat A of length 5, from A to W and "
                "from 2 to 8"
            )
        if name[0] in lengths:
            raise BadOption(f"boats: there are two boats {name[0]}")
        lengths[name[0]] = int(name[1])
    if not names:
        raise BadOption("boats: there is none")
    return Boats(names, lengths, sum(lengths.values()), dict.fromkeys(map(ord, (WATER, *lengths))))


def check_room(boats: Boats, width: int, height: int) -> None:
    """Raise BadOption if the boats are too long or too many for the board.

    Boats that cover at most half of the board always fit: see `_packed`.
    """
    for name, length in zip(boats.names, boats.lengths.values(), strict=True):
        if length > max(width, height):
            raise BadOption(f"boats: {name} is too long for a board of {width} by {height}")
    if 2 * boats.squares > width * height:
        raise BadOption(
            f"boats: they cover {boats.squares} squares, more than half of a board of {width} by "
            f"{height}"
        )


def squares_from(raw: Any, width: int, height: int) -> str:
    """Return the squares of a board sent as one text or as a list of rows.

    Raise IllegalMove if the size is wrong.
    """
    if isinstance(raw, str):
        if len(raw) != width * height:
            raise IllegalMove(
                f"a board has {width * height} squares ({height} rows of {width}), not {len(raw)}"
            )
        return raw
    if not isinstance(raw, list | tuple):
        raise IllegalMove(
            f"a board is a text of {width * height} squares or a list of {height} rows, not "
            f"{shown(raw)}"
        )
    if len(raw) != height:
        raise IllegalMove(f"a board has {height} rows, not {len(raw)}")
    for y, row in enumerate(raw):
        if not isinstance(row, str) or len(row) != width:
            raise IllegalMove(f"row {y} of a board is a text of {width} squares, not {shown(row)}")
    return "".join(raw)


def check_fleet(squares: str, boats: Boats, width: int) -> None:
    """Raise IllegalMove unless the board has every boat as one straight run, and nothing else."""
    if strange := squares.translate(boats.gone):
        square = squares.index(strange[0])
        raise IllegalMove(
            f"{shown(strange[0])} at {_place(square, width)} is neither a boat nor water, which is "
            "'.'"
        )
    for letter, length in boats.lengths.items():
        count, first = squares.count(letter), squares.find(letter)
        if not count:
            raise IllegalMove(f"boat {letter} is missing")
        if count != length:
            raise IllegalMove(
                f"boat {letter} is {count} long, it should be {length} (it begins at "
                f"{_place(first, width)})"
            )
        across = (
            first % width + length <= width and squares[first : first + length] == letter * length
        )
        if not across and squares[first : first + length * width : width] != letter * length:
            raise IllegalMove(
                f"boat {letter} is not one straight line (it begins at {_place(first, width)})"
            )


def _place(square: Square, width: int) -> str:
    y, x = divmod(square, width)
    return f"x {x}, y {y}"


@cache
def cutter(width: int, height: int) -> Callable[[str], Rows]:
    """Return a function that cuts the squares of a board into rows."""
    return itemgetter(*[slice(at, at + width) for at in range(0, width * height, width)])


def rows_of(squares: str, width: int) -> Rows:
    return cutter(width, len(squares) // width)(squares)


@cache
def berths(width: int, height: int, length: int) -> dict[Mask, tuple[Square, ...]]:
    """Return every place for a boat of this length, across first and then down."""
    across = [
        range(width * y + x, width * y + x + length)
        for y in range(height)
        for x in range(width - length + 1)
    ]
    down = [
        range(first, first + width * length, width)
        for first in range(width * (height - length + 1))
    ]
    return {sum(1 << square for square in berth): tuple(berth) for berth in (*across, *down)}


def random_fleet(width: int, height: int, boats: Sequence[str], chance: Chance) -> Rows:
    """Place the boats at random, the longest first, each on free squares.

    If a boat finds no room, start again. After some attempts, pack the boats row by row.
    """
    by_length = sorted(boats, key=lambda name: -int(name[1]))
    for _ in range(RESTARTS):
        if squares := _scattered(width, height, by_length, chance):
            return rows_of(squares, width)
    return _packed(width, height, by_length)


def _scattered(width: int, height: int, boats: Iterable[str], chance: Chance) -> str | None:
    squares = [WATER] * (width * height)
    taken = 0
    for name in boats:
        places = berths(width, height, int(name[1]))
        free = [mask for mask in places if not mask & taken]
        if not free:
            return None
        mask = chance.choice(free)
        taken |= mask
        for square in places[mask]:
            squares[square] = name[0]
    return "".join(squares)


def _packed(width: int, height: int, boats: Iterable[str]) -> Rows:
    """Put each boat on the first line along the longer side that has room for it.

    Two consecutive lines together hold more squares than one line is long, or the later boats would
    be on the earlier line. So boats that cover at most half of the board never need more lines than
    it has.
    """
    long, lines = max(width, height), [""] * min(width, height)
    for name in boats:
        first = next(at for at, line in enumerate(lines) if len(line) + int(name[1]) <= long)
        lines[first] += name[0] * int(name[1])
    full = tuple(line.ljust(long, WATER) for line in lines)
    return full if width >= height else tuple("".join(column) for column in zip(*full, strict=True))


# Shots of battleship: reading them, and their effect. On a busy server most moves are shots.

Sea = tuple[Squares, ...]
"""One board per seat."""
Counts = tuple[int, ...]
"""One number per seat."""
TURNS: Final = tuple([(seat,) for seat in range(9)])
MARKS: Final = bytes.maketrans(
    f"{WATER}{HIT}{MISS}".encode(), bytes((0, ord("a") ^ ord("A"), ord(WATER) ^ ord(MISS)))
)
"""What a square of a board changes in its fleet, by exclusive or: a hit makes a letter lower case.
"""


def read_shot(
    words: dict[str, Any], seat: Seat, boards: Sea, width: int, height: int
) -> tuple[Seat, int, int] | None:
    """Return target, x and y; None for a skip. Raise IllegalMove for a shot that is not allowed."""
    if "skip" in words and _skips(words["skip"]):
        return None
    target, x, y = words.get("target"), words.get("x"), words.get("y")
    if type(target) is not int or target == seat or not 0 <= target < len(boards):
        target = _read_target(words, seat, len(boards))
    if type(x) is not int or not 0 <= x < width:
        x = whole_within(entry(words, "x"), "x", 0, width - 1)
    if type(y) is not int or not 0 <= y < height:
        y = whole_within(entry(words, "y"), "y", 0, height - 1)
    if boards[target][y * width + x] != WATER:
        raise IllegalMove(f"x {x}, y {y} of seat {target} has already been shot at")
    return target, x, y


def _skips(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise IllegalMove(f"skip is true or false, not {shown(value)}")


def _read_target(words: dict[str, Any], seat: Seat, seats: int) -> Seat:
    if seats == 2 and "target" not in words:
        return 1 - seat
    target = whole(entry(words, "target"), "target")
    if target == seat:
        raise IllegalMove("don't shoot at yourself")
    if not 0 <= target < seats:
        raise IllegalMove(f"there is no seat {shown(target)}; seats are from 0 to {seats - 1}")
    return target


def raised(counts: Counts, seat: Seat) -> Counts:
    """Return the counts with one more for this seat."""
    return (*counts[:seat], counts[seat] + 1, *counts[seat + 1 :])


def _marked(fleet: Squares, board: Squares) -> Squares:
    marks = int.from_bytes(board.encode().translate(MARKS))
    return (int.from_bytes(fleet.encode()) ^ marks).to_bytes(len(fleet)).decode()


EXAMPLES = 8
"""The number of example fleets that `moves` lists."""


class Shot(Struct, frozen=True):
    target: Seat
    x: int
    y: int


class KnownShot(dict[str, int]):
    """A parsed move that matches share: do not change it."""

    __slots__ = ("shot", "square")

    def __init__(self, shot: Shot, width: int) -> None:
        super().__init__(target=shot.target, x=shot.x, y=shot.y)
        self.shot, self.square = shot, shot.y * width + shot.x


Act = Squares | Shot | None
"""A fleet in the first step; after that a shot, or None for a skip."""


class Battleship(Game[Act], frozen=True):
    name: ClassVar[str] = "battleship"
    players: ClassVar[range] = range(2, 10)

    width: Annotated[int, Meta(ge=5, le=26, description="columns of each board")] = 10
    height: Annotated[int, Meta(ge=5, le=26, description="rows of each board")] = 10
    boats: Annotated[str, Meta(description="each boat's letter (A to W) and length (2 to 8)")] = (
        "A5 B4 C3 D3 E2"
    )
    goal: Annotated[
        int,
        Meta(
            ge=0, description="hits that end the game with the round; 0: all squares of one fleet"
        ),
    ] = 0
    rounds: Annotated[
        int, Meta(ge=0, description="the number of rounds after which the game ends; 0: no limit")
    ] = 1000

    placed: tuple[Squares, ...] = ()
    """One text per seat: its boats as they were placed; empty until then."""
    boards: tuple[Squares, ...] = ()
    """One text per seat: only hits and misses."""
    secret: bool = True
    """True until the fleets are placed."""
    to_move: tuple[Seat, ...] = ()
    scores: tuple[int, ...] = ()
    skips: tuple[int, ...] = ()
    turn: int = 0
    """The number of turns that all seats together have had."""
    shot: Shot | None = None
    """The shot of the last turn; None if it was skipped."""
    hit: bool = False
    """Whether the last shot hit."""

    def check(self, players: int) -> None:
        boats = boats_in(self.boats)
        check_room(boats, self.width, self.height)
        if self.goal > boats.squares:
            raise BadOption(
                f"goal: {shown(self.goal)} is more than the {boats.squares} squares of a fleet"
            )

    def start(self, players: int, chance: Chance) -> "Battleship":
        self.check(players)
        blank = WATER * (self.width * self.height)
        nothing = (0,) * players
        return replace(
            self,
            boards=(blank,) * players,
            to_move=tuple(range(players)),
            scores=nothing,
            skips=nothing,
        )

    @property
    def over(self) -> bool:
        return not self.to_move

    def parse(self, seat: Seat, raw: Raw) -> Act:
        if not self.placed:
            squares = squares_from(entry(an_object(raw), "board"), self.width, self.height)
            check_fleet(squares, boats_in(self.boats), self.width)
            return squares
        if type(raw) is KnownShot and self.boards[raw.shot.target][raw.square] == WATER:
            return raw.shot
        words = raw if type(raw) is dict else an_object(raw)
        shot = read_shot(words, seat, self.boards, self.width, self.height)
        return None if shot is None else Shot(*shot)

    def play(self, moves: Mapping[Seat, Act], chance: Chance) -> "Battleship":
        if not self.placed:
            return self._place(moves, chance)
        seat = self.to_move[0]
        shot = moves.get(seat)
        if not isinstance(shot, Shot):
            return self._skipped(seat)
        target, at, turn = shot.target, shot.y * self.width + shot.x, self.turn + 1
        scores, boards, mark = self.scores, self.boards, MISS
        if hit := self.placed[target][at] != WATER:
            mark, scores = HIT, raised(scores, seat)
        board = boards[target]
        board = f"{board[:at]}{mark}{board[at + 1 :]}"
        if (seats := len(scores)) > 2:
            boards = (*boards[:target], board, *boards[target + 1 :])
        else:
            boards = (boards[0], board) if target else (board, boards[1])
        up = turn % seats
        return replace(
            self,
            boards=boards,
            to_move=TURNS[up] if up else self._first_up(turn, scores),
            scores=scores,
            turn=turn,
            shot=shot,
            hit=hit,
        )

    def _skipped(self, seat: Seat) -> "Battleship":
        turn, scores = self.turn + 1, self.scores
        up = turn % len(scores)
        return replace(
            self,
            to_move=TURNS[up] if up else self._first_up(turn, scores),
            skips=raised(self.skips, seat),
            turn=turn,
            shot=None,
            hit=False,
        )

    def _first_up(self, turn: int, scores: Counts) -> tuple[Seat, ...]:
        """Return the first seat of the round that begins with this turn, or no seat if the game is
        over before it.

        The goal is at most the number of squares of a fleet, so a seat has reached it when nothing
        is left to hit. A round adds at most 1 to a score, so no seat passes it.
        """
        goal = self.goal or boats_in(self.boats).squares
        over = goal in scores or turn == self.rounds * len(scores)
        return () if over else TURNS[0]

    def _place(self, moves: Mapping[Seat, Act], chance: Chance) -> "Battleship":
        """Place the fleets. A seat that passed gets a random fleet."""
        fleets = []
        for seat in self.to_move:
            sent = moves.get(seat)
            fleets.append(sent if isinstance(sent, str) else "".join(self._drawn(chance)))
        return replace(self, placed=tuple(fleets), secret=False, to_move=TURNS[0])

    def _drawn(self, chance: Chance) -> Rows:
        return random_fleet(self.width, self.height, boats_in(self.boats).names, chance)

    @property
    def fleets(self) -> Sea:
        """Boat letters, lower case where hit, and misses; empty until the fleets are placed."""
        return tuple(map(_marked, self.placed, self.boards))

    def decided(self, absent: Collection[Seat]) -> bool:
        """Return True if every fleet is sunk or its player absent.

        Xterm Boat Sinker then ends the game, even within a round.
        """
        return bool(self.placed) and all(
            seat in absent or fleet == fleet.lower() for seat, fleet in enumerate(self.fleets)
        )

    @property
    def turns(self) -> tuple[int, ...]:
        """Return the number of turns that each seat has had."""
        rounds, ahead = divmod(self.turn, len(self.boards))
        return (rounds + 1,) * ahead + (rounds,) * (len(self.boards) - ahead)

    def opening_words(self, seat: Seat, raw: Raw) -> str:
        """The first shot."""
        shot = self.parse(seat, raw)
        if not isinstance(shot, Shot):
            return ""
        outer = [
            min(at, size - 1 - at) < size / 4
            for at, size in ((shot.x, self.width), (shot.y, self.height))
        ]
        return f"fires first {('in the middle', 'near an edge', 'in a corner')[sum(outer)]}"

    def verdict(self, names: Sequence[str]) -> str:
        sunk = [seat for seat, fleet in enumerate(self.fleets) if fleet == fleet.lower()]
        hits = ", ".join(
            f"{name} {plural(score, 'hit')}" for name, score in zip(names, self.scores, strict=True)
        )
        if sunk and len(names) == 2:
            end = ", and ".join(
                f"{names[1 - seat]} sank the last boat of {names[seat]}" for seat in sunk
            )
        elif sunk:
            end = f"all boats of {' and '.join(names[seat] for seat in sunk)} are sunk"
        elif self.goal and max(self.scores) >= self.goal:
            end = f"the goal of {plural(self.goal, 'hit')} is reached"
        else:
            end = f"the game ended after {plural(self.turns[-1], 'round')}"
        return f"{end}; {hits}"

    def view(self, seat: Seat | None) -> View:
        boats, turns, over = boats_in(self.boats), self.turns, not self.to_move
        placed, rows = bool(self.placed), cutter(self.width, self.height)
        return {
            "you": seat,
            "toMove": self.to_move,
            "phase": "over" if over else "shooting" if placed else "placement",
            "width": self.width,
            "height": self.height,
            "boats": boats.names,
            "goal": self.goal or boats.squares,
            "round": turns[-1],
            "rounds": self.rounds,
            "boards": tuple([rows(board) for board in self.boards]),
            "own": rows(self._own(seat)) if placed and seat is not None else None,
            "fleets": tuple([rows(fleet) for fleet in self.fleets]) if over else None,
            "placed": (placed,) * len(turns),
            "scores": self.scores,
            "skips": self.skips,
            "turns": turns,
            "last": self._last() if self.turn else None,
        }

    def _own(self, seat: Seat) -> Squares:
        return _marked(self.placed[seat], self.boards[seat])

    def _last(self) -> View:
        shooter, shot = (self.turn - 1) % len(self.boards), self.shot
        if shot is None:
            return {"shooter": shooter, "skip": True}
        target, x, y = shot.target, shot.x, shot.y
        return {"shooter": shooter, "target": target, "x": x, "y": y, "hit": self.hit}

    @property
    def lists_all_moves(self) -> bool:
        return bool(self.placed)

    def moves(self, seat: Seat) -> Iterator[Raw]:
        """List all shots and the skip; for fleets, list a few examples, since there are
        too many.
        """
        if not self.placed:
            for seed in range(EXAMPLES):
                yield {"board": list(self._drawn(Chance(seed)))}
            return
        for target, board in enumerate(self.boards):
            for at, mark in enumerate(board):
                if mark == WATER and target != seat:
                    yield {"target": target, "x": at % self.width, "y": at // self.width}
        yield {"skip": True}
