"""The odds by which the best battleship bot shoots."""

from itertools import product

import pytest

from botdrome.bots import battleship
from botdrome.bots.battleship import CERTAIN, odds
from botdrome.games.battleship import berths


def likely(board: list[str], boats: str) -> list[float]:
    """The odds without the squares at the ends of the rows, which are never open."""
    width = len(board[0])
    found = odds(tuple(board), tuple(boats.split()))
    assert not any(found[width :: width + 1])
    return [odd / CERTAIN for at, odd in enumerate(found) if (at + 1) % (width + 1)]


def counted(board: list[str], boats: str) -> list[float]:
    """The same by looking at every fleet that there can be."""
    width, height = len(board[0]), len(board)
    text = "".join(board)
    hits, misses = (
        sum(1 << at for at, mark in enumerate(text) if mark == wanted) for wanted in "X0"
    )
    fleets = 0
    found = [0] * len(text)
    for masks in product(*(berths(width, height, int(name[1])) for name in boats.split())):
        union = 0
        for mask in masks:
            union |= mask
        apart = sum(mask.bit_count() for mask in masks) == union.bit_count()
        if apart and union & hits == hits and not union & misses:
            fleets += 1
            for at in range(len(text)):
                found[at] += union >> at & 1
    return [count / fleets if mark == "." else 0 for count, mark in zip(found, text, strict=True)]


@pytest.mark.parametrize(
    ("board", "boats"),
    [
        ([".....", ".....", ".....", ".....", "....."], "A3"),
        ([".....", ".X...", ".....", "..0..", "....."], "A3"),
        (["0000", "0X..", "0000"], "A3"),
        ([".....", ".X...", "0X...", "0....", "....."], "A4"),
    ],
)
def test_odds_of_one_boat_are_exact(board: list[str], boats: str) -> None:
    assert likely(board, boats) == pytest.approx(counted(board, boats), abs=1e-5)


@pytest.mark.parametrize(
    ("board", "boats"),
    [
        (["......", "......", "......", "......", "......", "......"], "A3 B2"),
        (["......", "..X...", "......", "..0...", "......", "......"], "A3 B2"),
        (["......", "..XX..", "......", "..0...", ".....0", "......"], "A3 B2"),
        (["......", "..XX..", "...X..", "..0...", ".....0", "......"], "A3 B3 C2"),
        (["..X...", "......", "0.....", "..0...", "....X0", "......"], "A4 B3"),
        ([".0.0..", "0.0.0.", ".0X0..", "0...0.", ".0.0..", "......"], "A3 B2"),
    ],
)
def test_odds_of_several_boats_are_close_to_what_counting_gives(
    board: list[str], boats: str
) -> None:
    """They leave out of account that boats may want the same square, so that some are more than
    certain.
    """
    reckoned, true = [min(odd, 1.0) for odd in likely(board, boats)], counted(board, boats)
    assert reckoned == pytest.approx(true, abs=0.12)
    assert true[reckoned.index(max(reckoned))] > max(true) - 0.06


def test_odds_add_up_to_what_is_afloat() -> None:
    assert sum(likely([".....", ".X...", ".....", "..0..", "....."], "A3 B2")) == pytest.approx(
        4, abs=1e-3
    )


def test_a_boat_that_is_sunk_and_the_squares_around_it() -> None:
    """Two hits with no room on for the longer boat: it lies elsewhere."""
    board = ["00000", "0XX00", "00000", ".....", "00000"]
    assert likely(board, "A2 B5") == pytest.approx([0] * 15 + [1] * 5 + [0] * 5, abs=1e-5)


def test_hits_that_no_boat_explains_do_not_stop_it() -> None:
    """Such a board is impossible, but other servers may send it."""
    board = ["X.X..", ".....", "X.X..", ".....", "....."]
    found = likely(board, "A2")
    assert max(found) > 0
    assert all(odd == 0 for odd, mark in zip(found, "".join(board), strict=True) if mark != ".")


def test_more_ways_than_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the likeliest go on: near the truth, and never at a loss."""
    board = ["......", "..XX..", ".X.XX.", "..0...", "..X..0", "......"]
    whole = likely(board, "A4 B3 C3 D2")
    odds.cache_clear()
    monkeypatch.setattr(battleship, "EFFORT", 1)
    hurried = likely(board, "A4 B3 C3 D2")
    odds.cache_clear()
    assert hurried != whole
    assert max(hurried) > 0
    assert abs(whole[hurried.index(max(hurried))] - max(whole)) < 0.3


def test_a_great_fleet_takes_no_more_than_a_moment() -> None:
    """Counted in steps, not in time: 23 boats, most of them hit, on the largest board."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVW"
    boats = tuple(f"{letter}{2 + at % 7}" for at, letter in enumerate(letters))
    row = "X.XX.XX0.XX.X.XXX..X0."
    board = tuple((row[at:] + row[:at]) if at % 3 else "." * 22 for at in range(22))
    steps = 0
    walked = battleship._steps

    def counting(*given: object) -> object:
        nonlocal steps
        found = walked(*given)  # type: ignore[arg-type]
        steps += len(found[0])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(battleship, "_steps", counting)
        found = odds(board, boats)
    assert max(found) > 0
    assert steps < 100_000
