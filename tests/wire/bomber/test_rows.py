"""The rows of the resolutions that speak of the map and the rules, in the words of a Bomberman
state.
"""

import ast
import json
from itertools import pairwise
from typing import Any

from botdrome.games.bomberman import Bomberman
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove
from botdrome.wire.bomber.conversation import refusal
from botdrome.wire.bomber.request import DEFAULT, LITERAL, Shape
from botdrome.wire.bomber.state import PLAYING, State, beginning
from tests.games.bombermen import after, drawn

NAMES = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Guy", "Hal")


def state_of(position: Bomberman) -> State:
    names = NAMES[: len(position.at)]
    return State(
        PLAYING,
        position.round + 1,
        (position.height, position.width),
        names,
        "an id",
        position,
    )


def told(position: Bomberman, shape: Shape = DEFAULT, **own: Any) -> dict[str, Any]:
    """The state as a client reads it."""
    text = (beginning(shape, 190, own) + state_of(position).spelled(shape)).decode()
    found: dict[str, Any] = ast.literal_eval(text) if shape.python else json.loads(text)
    return found


def tile(position: Bomberman, row: int, column: int) -> dict[str, Any]:
    found: dict[str, Any] = told(position)["actual_state"][f"({row}, {column})"]
    return found


def answer(position: Bomberman, seat: int, word: str) -> tuple[str, str]:
    """The response and the information for an action."""
    try:
        position.parse(seat, {"action": word})
    except IllegalMove as fault:
        response = refusal(str(fault))
        return response.word, response.information
    return "ACCEPTED", ""


OPEN = """
A....
.#.#.
.....
.#.#.
....B
"""


def test_row_04_keys_are_spelled_as_in_the_document_and_there_are_other_shapes() -> None:
    position = drawn(OPEN)
    plain = told(position)["actual_state"]
    assert [ast.literal_eval(key) for key in plain] == [
        tuple(one["position"]) for one in plain.values()
    ]
    assert list(plain)[:2] == ["(0, 0)", "(0, 1)"]
    assert told(position, Shape(state="list"))["actual_state"] == list(plain.values())
    grid = told(position, Shape(state="grid"))["actual_state"]
    assert [len(row) for row in grid] == [5] * 5
    assert [one for row in grid for one in row] == list(plain.values())
    assert list(told(position, Shape(keys="comma"))["actual_state"])[:2] == ["0,0", "0,1"]
    literal = told(position, LITERAL)["actual_state"]
    assert literal[0, 0] == {
        "field_type": "OCCUPIED_USER",
        "user_name": "Ada",
        "bombs_left": 1,
        "position": (0, 0),
    }
    assert next(iter(told(position, Shape(keys="comma", python=True))["actual_state"])) == "0,0"
    assert (
        told(position, Shape(state="grid", python=True))["actual_state"][4][4]["user_name"] == "Bob"
    )


def test_row_05_sizes_and_positions_are_lists_in_json_and_tuples_in_python() -> None:
    position = drawn(OPEN)
    assert told(position, user_position=(0, 1))["map_size"] == [5, 5]
    assert told(position, user_position=(0, 1))["user_position"] == [0, 1]
    assert told(position, LITERAL, user_position=(0, 1))["map_size"] == (5, 5)
    assert told(position, LITERAL, user_position=(0, 1))["user_position"] == (0, 1)


def test_row_06_all_tiles_are_there_unless_sparse_is_asked_for() -> None:
    position = drawn("A.+..\n.#.#.\n.....\n.#.#.\n....B")
    whole = told(position)["actual_state"]
    assert len(whole) == 25
    sparse = told(position, Shape(sparse=True))["actual_state"]
    assert sparse == {key: one for key, one in whole.items() if one["field_type"] != "FREE"}
    assert len(told(position, Shape(state="list", sparse=True))["actual_state"]) == 25


def test_row_07_a_user_is_where_its_position_says() -> None:
    position = after(drawn(OPEN), "A RIGHT, B UP")
    for seat, name in enumerate(NAMES[:2]):
        place = state_of(position).place(seat)
        assert place is not None
        assert tile(position, *place)["user_name"] == name


BOMB_AT_A_CRATE = after(
    drawn("+A...\n.#.#.\n.....\n.#.#.\n....B", {(0, 0): "b"}),
    "A BOMB",
    "A RIGHT",
    "A RIGHT",
    "A RIGHT",
)


def test_row_14_a_flame_burns_visible_upgrades_but_not_one_that_it_uncovers() -> None:
    uncovered = after(BOMB_AT_A_CRATE, "A DOWN")
    assert tile(uncovered, 0, 0) == {
        "field_type": "OCCUPIED_UPGRADE",
        "upgrade_type": "ADDITIONAL_BOMB",
        "position": [0, 0],
    }
    again = after(
        drawn("bA...\n.#.#.\n.....\n.#.#.\n....B"),
        "A BOMB",
        "A RIGHT",
        "A RIGHT",
        "A RIGHT",
        "A DOWN",
    )
    assert tile(again, 0, 0)["field_type"] == "FREE"


def test_row_15_an_additional_bomb_is_one_bomb_more() -> None:
    position = after(drawn("Ab...\n.#.#.\n.....\n.#.#.\n....B"), "A RIGHT")
    assert tile(position, 0, 1)["bombs_left"] == 2
    ranged = after(drawn("Ar...\n.#.#.\n.....\n.#.#.\n....B"), "A RIGHT")
    assert told(ranged)["users"][0]["bomb_range"] == 4


def test_row_16_bombs_left_is_what_may_be_placed_now() -> None:
    position = after(drawn(OPEN), "A BOMB")
    assert told(position)["users"][0]["bombs_left"] == 0
    exploded = after(position, "A DOWN", "A DOWN", "A RIGHT", "A RIGHT")
    assert told(exploded)["users"][0]["bombs_left"] == 1


def test_row_17_a_bomb_shows_4_3_2_1_and_leaves_four_actions_to_flee() -> None:
    position, shown = after(drawn(OPEN), "A BOMB"), []
    placed = told(position)["state_number"] - 1
    for way in ("DOWN", "DOWN", "RIGHT", "RIGHT"):
        one = tile(position, 0, 0)
        shown.append(
            (told(position)["state_number"] - placed, one["field_type"], one["bomb_turns_left"])
        )
        position = after(position, f"A {way}")
    assert shown == [(number, "OCCUPIED_BOMB", 5 - number) for number in (1, 2, 3, 4)]
    assert tile(position, 0, 0)["field_type"] == "FREE"
    assert told(position)["users"][0]["alive"]


def test_row_18_a_bomb_burns_its_tile_and_three_each_way() -> None:
    lane = drawn("A.....B\n.#.#.#.\n.......\n.#.#.#.\n.......\n.#.#.#.\n.......")
    burned = told(after(lane, "A BOMB", "", "", "", ""))["explosions"]
    assert sorted(burned) == sorted([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [2, 0], [3, 0]])


def test_row_19_the_first_crate_stops_the_flame_unless_flames_pierce() -> None:
    lane = "A.++.\n.#.#.\n.....\n.#.#.\n....B"
    blown = after(drawn(lane), "A BOMB", "", "", "", "")
    assert [tile(blown, 0, column)["field_type"] for column in (2, 3)] == ["FREE", "DESTRUCTIBLE"]
    pierced = after(drawn(lane, flame_pierces=True), "A BOMB", "", "", "", "")
    assert [tile(pierced, 0, column)["field_type"] for column in (2, 3)] == ["FREE", "FREE"]


def test_row_20_bombs_users_and_upgrades_do_not_stop_the_flame() -> None:
    position = drawn("AbBC...\n.#.#.#.\n.......\n.#.#.#.\n.......\n.#.#.#.\n......D")
    blown = told(after(position, "A BOMB, B BOMB", "", "", "", ""))
    assert [user["alive"] for user in blown["users"]] == [False, False, False, True]
    assert [0, 3] in blown["explosions"]
    assert blown["actual_state"]["(0, 1)"]["field_type"] == "FREE"


def test_row_21_a_chain_goes_off_in_one_round_on_the_map_as_it_was() -> None:
    position = drawn("A.B++..\n.#.#.#.\n.......\n.#.#.#.\n.......\n.#.#.#.\n......C")
    blown = after(position, "A BOMB", "B BOMB", "", "", "")
    assert told(blown)["explosions"].count([0, 2]) == 1
    assert not [
        one for one in told(blown)["actual_state"].values() if one["field_type"] == "OCCUPIED_BOMB"
    ]
    assert [tile(blown, 0, column)["field_type"] for column in (3, 4)] == ["FREE", "DESTRUCTIBLE"]


def test_row_22_flames_are_listed_once_and_do_not_last() -> None:
    before = after(drawn(OPEN), "A BOMB", "A DOWN", "A DOWN", "A RIGHT")
    blown = after(before, "A RIGHT")
    assert told(before)["explosions"] == []
    assert [0, 0] in told(blown)["explosions"]
    safe = after(blown, "A UP")
    assert told(safe)["explosions"] == []
    assert told(after(blown, "A LEFT"))["users"][0]["alive"]


def test_row_23_a_user_on_a_bomb_is_in_the_bombs_tile() -> None:
    position = after(drawn(OPEN), "A BOMB")
    assert tile(position, 0, 0) == {
        "field_type": "OCCUPIED_BOMB",
        "bomb_turns_left": 4,
        "bomb_range": 3,
        "user_name": "Ada",
        "bombs_left": 0,
        "position": [0, 0],
    }
    left = after(position, "A RIGHT")
    assert answer(left, 0, "LEFT") == ("CANNOT_MOVE", "CANNOT_MOVE")


def test_row_24_a_bomb_that_cannot_be_placed() -> None:
    two = after(drawn(OPEN, bombs=2), "A BOMB")
    assert answer(two, 0, "PLACE_BOMB") == ("CANNOT_MOVE", "TILE_HAS_BOMB")
    one = after(drawn(OPEN), "A BOMB", "A RIGHT")
    assert answer(one, 0, "PLACE_BOMB") == ("CANNOT_MOVE", "NO_BOMBS_LEFT")


def test_row_25_one_user_a_tile() -> None:
    beside = drawn("AB...\n.#.#.\n.....\n.#.#.\n.....")
    stayed = after(beside, "A RIGHT")
    assert [user["position"] for user in told(stayed)["users"]] == [[0, 0], [0, 1]]


def test_row_26_bombs_cannot_be_walked_over() -> None:
    position = after(drawn("A.B..\n.#.#.\n.....\n.#.#.\n....."), "B BOMB", "B RIGHT, A RIGHT")
    assert answer(position, 0, "RIGHT") == ("CANNOT_MOVE", "CANNOT_MOVE")


def test_row_27_bombs_are_placed_before_moves_and_explode_after_them() -> None:
    position = after(drawn("A.B..\n.#.#.\n.....\n.#.#.\n....."), "A BOMB, B LEFT")
    assert tile(position, 0, 0)["field_type"] == "OCCUPIED_BOMB"
    assert tile(position, 0, 1)["user_name"] == "Bob"
    late = after(BOMB_AT_A_CRATE, "A DOWN")
    assert told(late)["users"][0]["alive"], "it left the road in the round of the explosion"
    upgraded = after(drawn("Ab...\n.#.#.\n.....\n.#.#.\n....B"), "A BOMB", "A RIGHT", "", "", "")
    assert told(upgraded)["users"][0]["upgrades"] == 1, "upgrades are taken before the flames come"


def test_row_28_moves_in_conflict() -> None:
    def moved(drawing: str, *orders: str) -> list[Any]:
        return [user["position"] for user in told(after(drawn(drawing), *orders))["users"]]

    rest = "\n.#.#.\n.....\n.#.#.\n....."
    assert moved("A.B.." + rest, "A RIGHT, B LEFT") == [[0, 0], [0, 2]], "the same target"
    assert moved("AB..." + rest, "A RIGHT, B LEFT") == [[0, 0], [0, 1]], "a swap"
    assert moved("AB..." + rest, "A RIGHT, B RIGHT") == [[0, 1], [0, 2]], "into a tile that is left"
    assert moved("AB+.." + rest, "A RIGHT") == [[0, 0], [0, 1]], "the other did not leave"


def test_row_30_wait_stay_and_noop_do_nothing_and_so_does_silence() -> None:
    position = drawn(OPEN)
    for orders in ("A WAIT", "A STAY", "A NOOP", ""):
        assert told(after(position, orders))["users"][0]["position"] == [0, 0]


def test_row_31_only_what_is_certain_is_refused() -> None:
    position = drawn("AB+..\n.#.#.\n.....\n.#.#.\n.....")
    assert answer(position, 0, "RIGHT") == ("ACCEPTED", ""), "the user there may leave"
    assert (
        answer(position, 0, "LEFT")
        == answer(position, 1, "RIGHT")
        == ("CANNOT_MOVE", "CANNOT_MOVE")
    ), "edge and crate"
    assert answer(position, 1, "DOWN") == ("CANNOT_MOVE", "CANNOT_MOVE"), "a wall"
    assert answer(after(position, "B BOMB"), 0, "RIGHT") == ("CANNOT_MOVE", "CANNOT_MOVE"), "a bomb"


def test_row_46_a_point_for_everyone_outlived_and_one_for_the_last_alone() -> None:
    position = Bomberman(closing=0, rounds=50).start(4, Chance(3))
    scores = [position.scores]
    for seat in (2, 0, 1):
        position = after(position.without(seat), "")
        scores.append(position.scores)
    assert scores[-1] == (1.0, 2.0, 0.0, 4.0)
    together = drawn("A.B..\n.#.#.\n.....\n.#.#.\n....C")
    blown = after(together, "A BOMB", "", "", "", "")
    assert blown.scores == (0.0, 0.0, 3.0), "who dies in the same round is not outlived"
    assert told(blown)["users"][0]["kills"] == 1
    assert all(later >= earlier for earlier, later in pairwise(score[3] for score in scores))
