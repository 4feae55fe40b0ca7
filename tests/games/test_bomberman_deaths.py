"""How users of Bomberman die: by whose bombs, by walls, or because they left."""

from botdrome.games.bomberman import Bomb, Death
from tests.games.bombermen import after, drawn


def test_a_user_dies_by_the_bomb_whose_flames_reach_it() -> None:
    position = after(drawn("A..B.... .#.#.#.# ........", fuse=1), "A BOMB", "A DOWN")
    assert position.deaths == (
        Death(1, "bombs", (Bomb((0, 0), 1, 3, 0),)),
        Death(1, "bombs", (Bomb((0, 0), 1, 3, 0),)),
    )


def test_a_bomb_that_another_sets_off_kills_by_itself() -> None:
    position = after(drawn("A..C...B .#.#.#.# ........", fuse=2), "A BOMB", "C BOMB", "")
    both = Death(2, "bombs", (Bomb((0, 0), 2, 3, 0), Bomb((0, 3), 3, 3, 2)))
    assert position.deaths == (both, None, both)


def test_walls_and_those_who_leave_kill_nobody() -> None:
    position = drawn("A.... .#.#. ..B.. .#.#. ....C", closing=1, rounds=10)
    closed = after(position, "", "")
    assert {death.fate for death in closed.deaths if death} == {"walls"}
    left = position.without(1)
    assert left.deaths == (None, Death(0, "left"), None)
