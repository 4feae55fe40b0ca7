"""The rows of the resolutions that speak of the map."""

import pytest

from botdrome.games.bomberman import Bomberman
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.wire.bomber.request import Shape
from tests.games.bombermen import drawn
from tests.wire.bomber.test_rows import OPEN, answer, told


def test_row_08_maps_are_five_by_five_at_least_and_usually_thirteen_by_thirteen() -> None:
    assert told(Bomberman().start(4, Chance(1)))["map_size"] == [13, 13]
    assert told(Bomberman(height=5, width=5).start(4, Chance(1)))["map_size"] == [5, 5]
    with pytest.raises(BadOption):
        Bomberman(height=5, width=5).start(8, Chance(1))


def test_row_09_pillars_stand_where_row_and_column_are_odd_and_sizes_are_odd() -> None:
    tiles = told(Bomberman().start(4, Chance(1)))["actual_state"].values()
    walls = {tuple(one["position"]) for one in tiles if one["field_type"] == "INDESTRUCTIBLE"}
    assert walls == {(row, column) for row in range(1, 13, 2) for column in range(1, 13, 2)}
    assert answer(drawn(OPEN), 0, "UP") == ("CANNOT_MOVE", "CANNOT_MOVE"), "the edge stops moves"
    with pytest.raises(BadOption, match="height: an odd number"):
        Bomberman(height=6).start(2, Chance(1))


@pytest.mark.parametrize("players", range(2, 9))
def test_row_10_every_user_can_step_up_or_down_and_to_a_side(players: int) -> None:
    for seed in range(20):
        position = Bomberman().start(players, Chance(seed))
        for seat in range(players):
            ways = {
                word
                for word in ("UP", "DOWN", "LEFT", "RIGHT")
                if answer(position, seat, word)[0] == "ACCEPTED"
            }
            assert ways & {"UP", "DOWN"}
            assert ways & {"LEFT", "RIGHT"}


def test_row_11_a_map_has_at_least_30_percent_crates_usually_45_and_is_symmetric() -> None:
    for seed in range(20):
        grid = told(Bomberman().start(4, Chance(seed)), Shape(state="grid"))["actual_state"]
        kinds = [
            ["D" if one["field_type"] == "DESTRUCTIBLE" else "." for one in row] for row in grid
        ]
        assert sum(row.count("D") for row in kinds) >= 0.45 * 169
        assert kinds == kinds[::-1] == [row[::-1] for row in kinds]


def test_row_12_users_start_on_even_tiles_far_apart_and_who_starts_where_is_drawn() -> None:
    starts = [
        tuple(
            map(
                tuple,
                (user["position"] for user in told(Bomberman().start(4, Chance(seed)))["users"]),
            )
        )
        for seed in range(9)
    ]
    assert all(set(each) == {(0, 0), (0, 12), (12, 0), (12, 12)} for each in starts)
    assert len(set(starts)) > 1


def test_row_13_upgrades_are_drawn_with_the_map_and_hidden() -> None:
    position = Bomberman(upgrades=100).start(2, Chance(5))
    assert position.hidden == Bomberman(upgrades=100).start(2, Chance(5)).hidden
    assert not [one for one in told(position)["actual_state"].values() if "upgrade_type" in one]
    letters = "".join(position.hidden).replace(".", "")
    assert 0.25 < letters.count("b") / len(letters) < 0.75
