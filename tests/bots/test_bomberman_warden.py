"""The warden, a house bot of Bomberman."""

import pytest

from botdrome.bots.bomberman import bombardier, warden
from botdrome.games.bomberman import Bomberman
from tests.bots.test_bomberman import action, played
from tests.games.bombermen import after, drawn

OPEN = ["........." if row % 2 == 0 else ".#.#.#.#." for row in range(9)]


def on_open_ground(**users: tuple[int, int]) -> Bomberman:
    """A map of nine by nine without crates, with these users. Walls close in from round 100 on."""
    rows = [list(row) for row in OPEN]
    for letter, (row, column) in users.items():
        rows[row][column] = letter
    return drawn(" ".join(map("".join, rows)), closing=100, rounds=200)


def actions(position: Bomberman, seat: int = 0) -> set[str]:
    return {action(warden, position, seat, seed) for seed in range(12)}


def test_it_plays_like_the_bombardier_while_walls_are_far() -> None:
    rows = " ".join(["A+.......", *OPEN[1:8], "........B"])
    for position in (drawn(rows), drawn(rows, closing=200, rounds=300)):
        for seed in range(4):
            assert action(warden, position, 0, seed) == action(bombardier, position, 0, seed)


def test_it_goes_to_the_middle_early() -> None:
    assert actions(on_open_ground(A=(0, 4), B=(8, 8))) == {"MOVE_DOWN"}


def test_it_waits_in_the_middle() -> None:
    assert actions(on_open_ground(A=(4, 4), B=(8, 8))) == {"WAIT"}


def test_it_steps_aside_in_the_last_round_only_and_returns() -> None:
    position = after(on_open_ground(A=(4, 4), B=(2, 4)), "B BOMB", "B RIGHT", "B RIGHT")
    assert actions(position) == {"WAIT"}
    position = after(position, "")
    assert actions(position) == {"MOVE_LEFT", "MOVE_RIGHT"}
    assert actions(after(position, "A LEFT")) == {"MOVE_RIGHT"}


def test_it_takes_a_risk_now_and_then_to_be_first_in_the_middle() -> None:
    """A bomb of B could trap it there, if B places one at once."""
    position = on_open_ground(A=(3, 4), B=(5, 4))
    assert actions(position) == {"WAIT", "MOVE_DOWN"}


def test_it_opens_crates_on_its_way_and_bombs_a_rival_in_the_middle_like_the_bombardier() -> None:
    rows = [*OPEN]
    rows[0] = "A+......."
    rows[1] = "+#.#.#.#."
    rows[8] = "........B"
    closed = drawn(" ".join(rows), closing=100, rounds=200)
    held = on_open_ground(A=(4, 2), B=(4, 4))
    for position in (closed, held):
        for seed in range(4):
            assert action(warden, position, 0, seed) == action(bombardier, position, 0, seed)


def test_it_bombs_a_rival_that_cannot_get_away() -> None:
    assert actions(
        drawn("B.A.... ##.#.#. ....... .#.#.#. ....... .#.#.#. .......", closing=100, rounds=200)
    ) == {"PLACE_BOMB"}


@pytest.mark.no_cover
def test_it_beats_the_bombardier() -> None:
    """In short games, so that it does not take long."""
    setup = Bomberman(crates=30, closing=110, rounds=190)
    assert [played([warden, bombardier], seed, setup).scores for seed in range(2)] == [
        (2.0, 0.0)
    ] * 2
    assert [played([bombardier, warden], seed, setup).scores for seed in range(2)] == [
        (0.0, 2.0)
    ] * 2
