"""Bombs and flames of Bomberman, and their effects."""

from typing import Any

import pytest

from botdrome.games.bomberman import Bomberman, Upgrade
from tests.games.bombermen import after, drawing, drawn, lined

FAR = ".............B"
"""A row with a rival out of reach."""


def burned(position: Bomberman) -> list[tuple[int, int]]:
    return list(position.view(None)["explosions"])


def users(position: Bomberman) -> list[dict[str, Any]]:
    return list(position.view(None)["users"])


def test_row_17_four_states_show_the_turns_left_and_four_actions_are_there_to_flee() -> None:
    placed_in = drawn("A...... .#.#.#. B......")
    states = [placed_in]
    for orders in ("A BOMB", "A RIGHT", "A RIGHT", "A DOWN", "A DOWN"):
        states.append(after(states[-1], orders))
    assert [drawing(state) for state in states] == [
        lined("A...... .#.#.#. B......"),
        lined("A...... .#.#.#. B......"),
        lined("3A..... .#.#.#. B......"),
        lined("2.A.... .#.#.#. B......"),
        lined("1...... .#A#.#. B......"),
        lined("....... .#.#.#. ..A...."),
    ]
    assert [[bomb["turnsLeft"] for bomb in state.view(1)["bombs"]] for state in states] == [
        [],
        [4],
        [3],
        [2],
        [1],
        [],
    ]
    assert [state.round for state in states] == [0, 1, 2, 3, 4, 5]
    assert [bool(burned(state)) for state in states] == [False] * 5 + [True]
    assert states[-1].at == ((2, 2), None)


def test_row_17_it_goes_off_after_the_moves() -> None:
    """B walks into the flames in the last round, A out of them."""
    fled = after(
        drawn("A...B... .#.#.#.# ........"), "A BOMB", "A RIGHT", "A RIGHT", "", "A DOWN, B LEFT"
    )
    assert fled.at == ((1, 2), None)


@pytest.mark.parametrize("fuse", [1, 2, 7])
def test_the_fuse_is_an_option(fuse: int) -> None:
    position = after(drawn("A....... .#.#.#.# .......B", fuse=fuse), "A BOMB")
    for turns in range(fuse, 0, -1):
        assert [bomb["turnsLeft"] for bomb in position.view(None)["bombs"]] == [turns]
        position = after(position, "")
    assert burned(position)


def test_row_18_own_tile_and_three_in_each_direction() -> None:
    hall = "......... .#.#.#.#. " * 2 + "....A.... .#.#.#.#. ......... .#.#.#.#. ........B"
    position = after(drawn(hall), "A BOMB", *[""] * 4)
    column, row = [(r, 4) for r in range(1, 8)], [(4, c) for c in range(1, 8)]
    assert burned(position) == sorted({*column, *row})


def test_row_18_and_9_pillars_and_the_edge_stop_the_flame() -> None:
    position = after(drawn(f".A............ .#.#.#.#.#.#.# {FAR}"), "A BOMB", *[""] * 4)
    assert burned(position) == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]


def test_the_radius_is_an_option() -> None:
    position = after(drawn(f"A............. .#.#.#.#.#.#.# {FAR}", radius=1), "A BOMB", *[""] * 4)
    assert burned(position) == [(0, 0), (0, 1), (1, 0)]


def test_row_19_the_first_crate_burns_and_stops_the_flame() -> None:
    position = after(drawn(f"A.++.......... .#.#.#.#.#.#.# {FAR}"), "A BOMB", *[""] * 4)
    assert position.tiles[0] == "...+.........."
    assert (0, 3) not in burned(position)


def test_row_19_flame_pierces_is_a_switch() -> None:
    position = after(
        drawn(f"A+++++........ .#.#.#.#.#.#.# {FAR}", flame_pierces=True), "A BOMB", *[""] * 4
    )
    assert position.tiles[0] == "....++........"


def test_row_20_users_bombs_and_upgrades_do_not_stop_the_flame() -> None:
    """A's flames run over an upgrade, a user and a bomb, and on to the crate behind them."""
    start = drawn("ArBC+........ .#.#.#.#.#.#. ............D", radius=4)
    position = after(start, "A BOMB", "", "", "C BOMB", "")
    assert (position.tiles[0], position.found, position.lying) == ("." * 13, (), ())
    assert position.at == (None, None, None, (2, 12))


def test_row_21_a_chain_goes_off_in_the_same_round() -> None:
    """A's bomb sets off B's, B's sets off C's, each with its own time left."""
    start = drawn("A..B..C....... .#.#.#.#.#.#.# .............D")
    chained = after(start, "A BOMB", "B BOMB", "C BOMB", "", "")
    assert chained.lying == ()
    assert burned(chained)[:10] == [(0, column) for column in range(10)]
    assert [user["bombsLeft"] for user in users(chained)] == [1, 1, 1, 1]
    assert chained.at == (None, None, None, (2, 13))


def test_row_21_one_bomb_is_not_hit_twice() -> None:
    start = drawn("A..B..C....... .#.#.#.#.#.#.# .............D")
    assert [
        user["bombsLeft"] for user in users(after(start, "A BOMB, B BOMB, C BOMB", *[""] * 4))
    ] == [1, 1, 1, 1]


def test_row_21_two_bombs_do_not_dig_two_tiles_deep() -> None:
    start = drawn("AB++.......... .#.#.#.#.#.#.# .............C")
    both = after(start, "A BOMB, B BOMB", *[""] * 4)
    assert both.tiles[0] == "...+.........."
    assert (0, 3) not in burned(both)


def test_row_21_a_crate_that_burns_still_shelters_in_that_round() -> None:
    position = after(drawn("A+B........... .#.#.#.#.#.#.# .............C"), "A BOMB", *[""] * 4)
    assert position.at == (None, (0, 2), (2, 13))


def test_row_22_nothing_lingers() -> None:
    start = drawn("A....... .#.#.#.# .......B")
    blown = after(start, "A BOMB", "A RIGHT", "A RIGHT", "A DOWN", "")
    assert (0, 2) in burned(blown)
    back = after(blown, "A UP")
    assert back.at[0] == (0, 2)
    assert burned(back) == []


def test_row_14_the_flame_that_opens_a_crate_spares_what_is_in_it() -> None:
    start = drawn("A.+..... .#.#.#.# .......B", {(0, 2): "r"})
    opened = after(start, "A BOMB", *[""] * 4)
    assert opened.view(None)["upgrades"] == [{"at": (0, 2), "type": "EXPLOSION_RANGE"}]


def test_row_14_and_20_an_upgrade_that_is_to_be_seen_burns() -> None:
    assert after(drawn("A.r.b... .#.#.#.# .......B"), "A BOMB", *[""] * 4).found == (
        Upgrade((0, 4), "ADDITIONAL_BOMB"),
    )


def test_row_14_the_next_blast_burns_what_the_last_has_opened() -> None:
    start = drawn("A.+.B... .#.#.#.# .......C", {(0, 2): "r"})
    opened = after(start, "A BOMB", "B BOMB", "", "", "")
    assert drawing(opened) == lined("..r.B... .#.#.#.# .......C")
    assert after(opened, "").found == ()


def test_row_14_the_piercing_flame_spares_all_that_it_opens() -> None:
    start = drawn("A++..... .#.#.#.# .......B", {(0, 1): "r", (0, 2): "b"}, flame_pierces=True)
    assert [upgrade.at for upgrade in after(start, "A BOMB", *[""] * 4).found] == [(0, 1), (0, 2)]


# Upgrades.


def test_row_15_and_16_an_additional_bomb_may_lie_at_the_same_time() -> None:
    taken = after(drawn("Ab...... .#.#.#.# .......B"), "A RIGHT")
    assert users(taken)[0] | {"bombsLeft": 2, "upgrades": 1} == users(taken)[0]
    assert taken.found == ()
    two = after(taken, "A BOMB", "A RIGHT", "A BOMB")
    assert drawing(two) == lined(".2A..... .#.#.#.# .......B")
    assert users(two)[0]["bombsLeft"] == 0


def test_row_16_a_bomb_comes_back_when_it_explodes() -> None:
    position = drawn("A....... .#.#.#.# .......B")
    left = []
    for orders in ("A BOMB", "A RIGHT", "A RIGHT", "A DOWN", "A DOWN", ""):
        left.append(users(position)[0]["bombsLeft"])
        position = after(position, orders)
    assert [*left, users(position)[0]["bombsLeft"]] == [1, 0, 0, 0, 0, 1, 1]


def test_explosion_range_counts_for_the_bombs_placed_from_then_on() -> None:
    start = drawn("Ar.......... .#.#.#.#.#.# ...........B", bombs=2)
    position = after(start, "A BOMB", "A RIGHT", "A BOMB")
    assert [bomb["range"] for bomb in position.view(None)["bombs"]] == [3, 4]
    assert users(position)[0] | {"range": 4, "upgrades": 1} == users(position)[0]


def test_row_27_an_upgrade_is_taken_before_the_explosions_of_the_round() -> None:
    """B steps onto the upgrade in the round in which it would burn, and burns with it in hand."""
    position = after(drawn("A.rB.... .#.#.#.# .......C"), "A BOMB", "", "", "", "B LEFT")
    assert (
        users(position)[1] | {"range": 4, "upgrades": 1, "alive": False, "at": None}
        == users(position)[1]
    )


def test_row_28_who_is_stopped_takes_nothing() -> None:
    position = after(drawn("ArB..... .#.#.#.# .......C"), "A RIGHT, B LEFT")
    assert [upgrade.at for upgrade in position.found] == [(0, 1)]


# Statistics for display.


def test_row_46_kills_and_crates_count_for_all_whose_flames_reach_them() -> None:
    start = drawn("A.C.B.....D .#.#.#.#.#. ..+........")
    position = after(
        start, "A BOMB, B BOMB", "A DOWN, B DOWN", "A DOWN, B DOWN", "A RIGHT", "B RIGHT"
    )
    assert [(user["alive"], user["kills"], user["crates"]) for user in users(position)] == [
        (True, 1, 0), (True, 1, 0), (False, 0, 0), (True, 0, 0)
    ]  # fmt: skip


def test_row_46_nobody_is_its_own_kill_and_the_dead_still_score_kills() -> None:
    start = drawn("A.++......D .#.#.#.#.#. C..........")
    position = after(start, "A BOMB", *[""] * 4)
    assert [(user["alive"], user["kills"], user["crates"]) for user in users(position)] == [
        (False, 1, 1), (False, 0, 0), (True, 0, 0)
    ]  # fmt: skip


def test_one_crate_that_two_bombs_of_one_user_reach_is_one_crate() -> None:
    start = drawn("A.+.....B .#.#.#.#. .........", bombs=2)
    position = after(start, "A BOMB", "A RIGHT", "A BOMB", "", "")
    assert users(position)[0]["crates"] == 1
