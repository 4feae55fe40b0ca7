"""Shots of battleship: reading them, and their effect. On a busy server most moves are shots."""

from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from botdrome.games.fleet import HIT, MISS, WATER, Squares, boats_in
from botdrome.games.game import IllegalMove, Seat
from botdrome.games.reading import entry, shown, whole, whole_within

Sea = tuple[Squares, ...]
"""One board per seat."""
Counts = tuple[int, ...]
"""One number per seat."""
TURNS: Final = tuple([(seat,) for seat in range(9)])

P = TypeVar("P", bound=Struct)
"""The position, whose class is in `battleship.py`."""


def read_shot(words: dict[str, Any], seat: Seat, boards: Sea, width: int, height: int) -> tuple[Seat, int, int] | None:
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


def fired(position: P, seat: Seat, shot: Any) -> P:
    """Return the position after a shot at a new square."""
    before: Any = position
    fleets, boards, hit = struck(before.fleets, before.boards, shot.target, shot.y * before.width + shot.x)
    turn, scores = before.turn + 1, raised(before.scores, seat) if hit else before.scores
    to_move = next_seat(before, turn, scores)
    return replace(position, fleets=fleets, boards=boards, to_move=to_move, scores=scores, turn=turn, shot=shot, hit=hit)


def next_seat(position: Any, turn: int, scores: Counts) -> tuple[Seat, ...]:
    """Return the seat that has this turn, or no seat if the game is over before it.

    The goal is at most the number of squares of a fleet, so a seat has reached it when nothing is left to hit.
    """
    rounds, seat = divmod(turn, len(scores))
    if not seat and (rounds == position.rounds or max(scores) >= (position.goal or boats_in(position.boats).squares)):
        return ()
    return TURNS[seat]


def raised(counts: Counts, seat: Seat) -> Counts:
    """Return the counts with one more for this seat."""
    return tuple([count + (at == seat) for at, count in enumerate(counts)])


def struck(fleets: Sea, boards: Sea, target: int, at: int) -> tuple[Sea, Sea, bool]:
    """Return the fleets and the boards after a shot at a new square, and whether it hit."""
    fleet, board = fleets[target], boards[target]
    square = fleet[at]
    hit = square != WATER
    after = f"{fleet[:at]}{square.lower() if hit else MISS}{fleet[at + 1 :]}"
    seen = f"{board[:at]}{HIT if hit else MISS}{board[at + 1 :]}"
    return _changed(fleets, target, after), _changed(boards, target, seen), hit


def _changed(sea: Sea, target: int, squares: Squares) -> Sea:
    if len(sea) == 2:
        return (sea[0], squares) if target else (squares, sea[1])
    return (*sea[:target], squares, *sea[target + 1 :])
