"""The rounds of Bomberman, one after the other: orders, moves, bombs, flames."""

import pytest

from botdrome.games.bomberman import Bomberman
from botdrome.games.game import IllegalMove
from tests.games.bombermen import CHANCE, after, drawing, drawn, lined

HALL = """
A....
.#.#.
.....
.#.#.
....B
"""


def refusal(position: Bomberman, raw: object, seat: int = 0) -> str:
    with pytest.raises(IllegalMove) as fault:
        position.parse(seat, raw)
    return str(fault.value)


# Orders.


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["MOVE_UP", "UP", "move_up", "Up"], (1, 2)),
        (["MOVE_DOWN", "DOWN", "move_down", "dOWN"], (3, 2)),
        (["MOVE_LEFT", "LEFT", "move_left", "left"], (2, 1)),
        (["MOVE_RIGHT", "RIGHT", "move_right", "right"], (2, 3)),
        (["WAIT", "STAY", "NOOP", "wait", "stay", "noop"], (2, 2)),
    ],
)
def test_row_30_and_43_the_words_for_moves_and_for_waiting(
    words: list[str], place: tuple[int, int]
) -> None:
    start = drawn("..... .#.#. ..A.. .#.#. ....B")
    for word in words:
        for raw in (word, {"action": word}, {"action": word, "user_id": "f00"}):
            assert start.play({0: start.parse(0, raw)}, CHANCE).at[0] == place


@pytest.mark.parametrize("word", ["PLACE_BOMB", "BOMB", "place_bomb", "bomb"])
def test_row_43_the_words_for_placing_a_bomb(word: str) -> None:
    start = drawn(HALL)
    assert drawing(start.play({1: start.parse(1, word)}, CHANCE)) == drawing(start)
    assert [bomb.at for bomb in start.play({1: start.parse(1, word)}, CHANCE).lying] == [(4, 4)]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        1,
        True,
        float("nan"),
        [],
        ["UP"],
        "",
        "STATE",
        "JUMP",
        "UP ",
        {"action": None},
        {"action": []},
    ],
)
def test_row_43_anything_else_is_an_unknown_action(raw: object) -> None:
    assert refusal(drawn(HALL), raw).startswith(
        "UNKNOWN_ACTION: an action is one of MOVE_UP, MOVE_DOWN, MOVE_LEFT, MOVE_RIGHT, "
    )


def test_row_43_words_of_a_refusal_stay_short() -> None:
    assert refusal(drawn(HALL), {"action": "x" * 5000}).endswith(
        "PLACE_BOMB, WAIT, not 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    )
    assert refusal(drawn(HALL), {"Action": "UP"}) == 'MISSING_FIELD: the key "action" is missing'


def test_row_31_a_move_is_refused_if_it_cannot_come_true() -> None:
    position = after(drawn("A+... .#.#. ..... .#.#. ....B"), "A BOMB", "A DOWN", "A DOWN")
    assert refusal(position, "LEFT") == "CANNOT_MOVE: the map ends at [2, 0]"
    assert refusal(drawn(HALL), "UP") == "CANNOT_MOVE: the map ends at [0, 0]"
    assert (
        refusal(drawn("A+... .#.#. ..... .#.#. ....B"), "RIGHT")
        == "CANNOT_MOVE: there is a crate on [0, 1]"
    )
    assert refusal(after(position, "A UP"), "RIGHT") == "CANNOT_MOVE: there is a wall on [1, 1]"
    assert refusal(after(position, "A UP"), "UP") == "CANNOT_MOVE: there is a bomb on [0, 0]"


def test_row_31_a_tile_with_a_user_on_it_is_no_reason_to_refuse() -> None:
    assert drawn("AB... .#.#. ..... .#.#. .....").parse(0, "RIGHT") == ((0, 1), False)


def test_row_24_a_bomb_is_refused_where_one_lies_or_if_none_is_left() -> None:
    placed = after(drawn(HALL), "A BOMB")
    assert refusal(placed, "BOMB") == "TILE_HAS_BOMB: there is a bomb on [0, 0] already"
    assert (
        refusal(after(placed, "A RIGHT"), "BOMB")
        == "NO_BOMBS_LEFT: all your bombs are lying on the map"
    )
    assert refusal(after(drawn(HALL, bombs=2), "A BOMB"), "BOMB").startswith("TILE_HAS_BOMB")


def test_the_dead_are_told_so() -> None:
    assert refusal(drawn(HALL).without(0), "WAIT") == "DEAD: your user is dead"


def test_moves_that_are_listed_are_those_that_are_not_refused() -> None:
    assert list(drawn(HALL).moves(0)) == [
        {"action": word} for word in ("MOVE_DOWN", "MOVE_RIGHT", "PLACE_BOMB", "WAIT")
    ]


# Moves.


def test_row_30_who_says_nothing_stands_still() -> None:
    assert after(drawn(HALL), "").at == ((0, 0), (4, 4))


@pytest.mark.parametrize(
    ("before", "orders", "expected"),
    [
        ("A.B.. .....", "A RIGHT, B LEFT", "A.B.. ....."),  # same target
        ("A.B.. .C...", "A RIGHT, B LEFT, C UP", "A.B.. .C..."),  # same target for three
        (".A.B. .....", "A RIGHT, B LEFT", ".A.B. ....."),
        (".AB.. .....", "A RIGHT, B LEFT", ".AB.. ....."),  # swap
        (".AB.. .....", "A RIGHT", ".AB.. ....."),  # into one that stays
        (".AB.. .....", "A RIGHT, B BOMB", ".AB.. ....."),  # into one that places a bomb
        (".AB.. .....", "A RIGHT, B RIGHT", "..AB. ....."),  # into a tile that is being left
        (".AB.. .....", "A RIGHT, B DOWN", "..A.. ..B.."),
        (
            "ABCD. .....",
            "A RIGHT, B RIGHT, C RIGHT, D RIGHT",
            ".ABCD .....",
        ),  # a chain goes through
        (
            "ABCD. .....",
            "D RIGHT, C RIGHT, B RIGHT, A RIGHT",
            ".ABCD .....",
        ),  # in any order of arrival
        (
            "ABC.D .....",
            "A RIGHT, B RIGHT, C RIGHT, D LEFT",
            "ABC.D .....",
        ),  # a blocked head blocks those behind
        ("ABCD. .....", "A RIGHT, B RIGHT, C RIGHT", "ABCD. ....."),
        (".AB.. .CD..", "A RIGHT, B DOWN, D LEFT, C UP", ".CA.. .DB.."),  # a ring goes round
        (".AB.. .CD..", "A RIGHT, B DOWN, D LEFT", ".AB.. .CD.."),  # a ring with a gap does not
        (
            ".AB.. .CD..",
            "A LEFT, B LEFT, C UP, D LEFT",
            "A.B.. .CD..",
        ),  # two want the tile that is being left
        (".ABC. .....", "A RIGHT, B RIGHT, C LEFT", ".ABC. ....."),  # behind a swap
    ],
)
def test_row_25_27_28_moves_at_once(before: str, orders: str, expected: str) -> None:
    assert drawing(after(drawn(before), orders)) == lined(expected)


def test_row_23_and_26_a_bomb_can_be_left_but_not_entered() -> None:
    left = after(drawn("AB... .#.#. ....."), "A BOMB", "A DOWN")
    assert drawing(left) == lined("3B... A#.#. .....")
    assert refusal(left, "LEFT", seat=1).startswith("CANNOT_MOVE: there is a bomb")
    assert refusal(left, "UP").startswith("CANNOT_MOVE: there is a bomb")


def test_row_27_bombs_are_placed_before_the_moves() -> None:
    """B sets off for A's tile in the round in which A places a bomb there: A stays, so B does."""
    assert drawing(after(drawn("AB... .#.#. ....."), "A BOMB, B LEFT", "A DOWN")) == lined(
        "3B... A#.#. ....."
    )
