"""A tick of bumblebots: moves, claims, new flowers, new drones, and the last one."""

import pytest
from msgspec.structs import replace

from botdrome.games.bumblebots import EMPTY, FLOWER, FORENAMES, KIND, UNKIND, WALL, Bumblebots, Hex
from botdrome.games.chance import Chance
from tests.games.bumblebots.arranged import (
    LEFT,
    MIDDLE,
    RIGHT,
    START,
    Scripted,
    at,
    drawing,
    position,
    tick,
    with_cells,
)

NEVER, SURELY = 0.5, 0.05
"""Draws that let no flower grow, and one."""

# Moves.


def test_two_drones_that_want_one_hex_both_stay() -> None:
    before = position({"Ann": LEFT}, {"Bob": RIGHT})
    assert tick(before, {"Ann": "R", "Bob": "L"}).swarms == before.swarms


def test_a_drone_does_not_move_onto_one_that_stays() -> None:
    before = position({"Ann": LEFT, "Bea": MIDDLE})
    assert tick(before, {"Ann": "R"}).swarms == before.swarms


def test_drones_move_in_a_line() -> None:
    after = tick(
        position({"Ann": LEFT, "Bea": RIGHT}, {"Bob": MIDDLE}), {"Ann": "R", "Bob": "R", "Bea": "R"}
    )
    assert after.swarms == ({"Ann": MIDDLE, "Bea": (7, 9)}, {"Bob": RIGHT})


def test_a_line_stays_when_its_head_is_stopped() -> None:
    before = position({"Ann": LEFT, "Bea": RIGHT}, {"Bob": MIDDLE, "Bud": (7, 10)})
    assert tick(before, {"Ann": "R", "Bob": "R", "Bea": "R", "Bud": "L"}).swarms == before.swarms


def test_drones_move_in_a_ring_of_three() -> None:
    after = tick(
        position({"Ann": (7, 7), "Bea": (7, 8)}, {"Bob": (8, 8)}),
        {"Ann": "R", "Bea": "DL", "Bob": "UL"},
    )
    assert after.swarms == ({"Ann": (7, 8), "Bea": (8, 8)}, {"Bob": (7, 7)})


def test_two_drones_do_not_swap_and_stop_who_follows() -> None:
    before = position({"Ann": LEFT, "Bea": (7, 5)}, {"Bob": MIDDLE})
    assert tick(before, {"Ann": "R", "Bob": "L", "Bea": "R"}).swarms == before.swarms


def test_who_wants_a_contested_hex_stops_who_follows() -> None:
    before = position({"Ann": LEFT, "Bea": (7, 5)}, {"Bob": RIGHT})
    assert tick(before, {"Ann": "R", "Bob": "L", "Bea": "R"}).swarms == before.swarms


def test_a_drone_that_is_caught_in_a_zone_of_the_other_may_walk_out() -> None:
    after = tick(position({"Ann": MIDDLE}, cells={MIDDLE: 6}), {"Ann": "R"})
    assert after.swarms[0] == {"Ann": RIGHT}


# Claims.


def test_a_flower_is_claimed() -> None:
    after = tick(position({"Ann": LEFT, "Bea": (1, 1)}, cells={MIDDLE: FLOWER}), {"Ann": "R"})
    assert after.swarms[0] == {"Bea": (1, 1)}
    assert after.scores == (1, 0)
    assert at(after, MIDDLE) == WALL
    assert [at(after, spot) for spot in [(6, 6), (6, 7), (7, 8), (8, 8), (8, 7), (7, 6)]] == [5] * 6
    assert after.due == ((6,), ())


def test_only_empty_hexes_become_a_zone() -> None:
    cells = {MIDDLE: FLOWER, (6, 6): WALL, (6, 7): FLOWER, (7, 8): 5, (8, 8): 6}
    after = tick(position({}, {"Bob": MIDDLE}, cells), {})
    assert after.scores == (0, 1)
    assert [at(after, spot) for spot in [(6, 6), (6, 7), (7, 8), (8, 8), (8, 7), (7, 6)]] == [
        WALL,
        FLOWER,
        5,
        6,
        6,
        6,
    ]


def test_the_first_seat_fences_first() -> None:
    """Two flowers side by side: the hexes beside both go to the first seat."""
    after = tick(position({"Ann": MIDDLE}, {"Bob": RIGHT}, {MIDDLE: FLOWER, RIGHT: FLOWER}), {})
    assert after.scores == (1, 1)
    assert (at(after, MIDDLE), at(after, RIGHT)) == (WALL, WALL)
    assert [at(after, spot) for spot in [(6, 7), (8, 8), (6, 6), (6, 8), (8, 9), (7, 9)]] == [
        5,
        5,
        5,
        6,
        6,
        6,
    ]


# New flowers.


def test_no_new_flowers_at_the_beginning_and_at_the_end() -> None:
    grown = []
    for turn in range(100):
        chance = Scripted(SURELY, 0.5)
        after = replace(START, turn=turn).play({}, chance)
        if after.board != START.board:
            grown.append(after.turn)
        assert len(chance.left) == (0 if after.board != START.board else 2)
    assert grown == list(range(17, 86))


@pytest.mark.parametrize(("ticks", "first", "last"), [(40, 17, 25), (200, 17, 185)])
def test_the_quiet_time_follows_the_length_of_the_game(ticks: int, first: int, last: int) -> None:
    grown = [
        turn + 1
        for turn in range(ticks)
        if replace(START, ticks=ticks, turn=turn).play({}, Scripted(SURELY, 0.5)).board
        != START.board
    ]
    assert (grown[0], grown[-1], len(grown)) == (first, last, last - first + 1)


@pytest.mark.parametrize(
    ("draw", "grows"), [(0.0, True), (0.0999, True), (0.1001, False), (0.9, False)]
)
def test_a_flower_grows_one_time_in_ten(draw: float, grows: bool) -> None:
    after = replace(START, turn=16).play({}, Scripted(draw, 0.5))
    assert (after.board != START.board) == grows


def meadow(position: Bumblebots) -> list[Hex]:
    taken = [spot for swarm in position.swarms for spot in swarm.values()]
    hexes = [
        (row, column) for row, cells in enumerate(position.board) for column in range(len(cells))
    ]
    return [spot for spot in hexes if at(position, spot) == EMPTY and spot not in taken]


@pytest.mark.parametrize("spot", [(1, 1), (13, 13), (9, 4)])
def test_a_flower_grows_on_any_empty_hex(spot: Hex) -> None:
    before = replace(START, turn=16)
    after = before.play({}, Scripted(SURELY, drawing(spot, meadow(before))))
    assert after.board == with_cells(before.board, {spot: FLOWER})


def test_a_flower_does_not_grow_where_a_drone_was() -> None:
    before = position({"Ann": MIDDLE}, turn=16)
    hexes = meadow(before)
    assert MIDDLE not in hexes
    for count in range(len(hexes)):
        after = before.play({}, Scripted(SURELY, (count + 0.5) / len(hexes)))
        assert after.board == with_cells(before.board, {hexes[count]: FLOWER})


def test_a_flower_may_grow_under_a_drone_that_has_just_come() -> None:
    before = position({"Ann": LEFT}, turn=16)
    after = tick(before, {"Ann": "R"}, Scripted(SURELY, drawing(MIDDLE, meadow(before))))
    assert (at(after, MIDDLE), after.swarms[0], after.scores) == (FLOWER, {"Ann": MIDDLE}, (0, 0))
    assert after.play({}, Scripted(NEVER)).scores == (1, 0)


def test_a_flower_does_not_grow_in_a_zone_of_this_very_tick() -> None:
    before = position({"Ann": LEFT}, cells={MIDDLE: FLOWER}, turn=16)
    hexes = meadow(before)
    left = [spot for spot in hexes if spot not in {(6, 6), (6, 7), (7, 8), (8, 8), (8, 7)}]
    after = tick(
        before, {"Ann": "R"}, Scripted(SURELY, drawing(RIGHT, hexes), drawing((9, 4), left))
    )
    assert at(after, RIGHT) == 5
    assert at(after, (9, 4)) == FLOWER


def test_no_flower_grows_where_nothing_is_empty() -> None:
    fenced = dict.fromkeys(meadow(replace(START, swarms=({}, {}))), 5)
    full = position({"Ann": (5, 5)}, cells=fenced, turn=16)
    chance = Scripted(SURELY)
    assert full.play({}, chance).board == full.board
    assert not chance.left


# New drones.


def later(position: Bumblebots, ticks: int) -> Bumblebots:
    for _ in range(ticks):
        position = position.play({}, Chance(3))
    return position


def test_a_drone_is_replaced_six_ticks_after_its_claim() -> None:
    claimed = tick(position({"Ann": LEFT}, cells={MIDDLE: FLOWER}), {"Ann": "R"})
    assert later(claimed, 5).swarms[0] == {}
    after = later(claimed, 6)
    [(name, spot)] = after.swarms[0].items()
    assert spot in START.spawn_points[0]
    assert name.startswith(tuple(KIND))
    assert after.due == ((), ())


def test_at_most_one_new_drone_a_tick_for_each_seat() -> None:
    before = replace(position({}), due=((3, 3), (3, 4)), turn=4)
    after = before.play({}, Chance(0))
    assert [len(swarm) for swarm in after.swarms] == [1, 1]
    assert after.due == ((3,), (4,))
    assert [len(swarm) for swarm in after.play({}, Chance(1)).swarms] == [2, 2]


@pytest.mark.parametrize("point", START.spawn_points[1])
def test_a_new_drone_comes_to_any_free_spawn_point(point: Hex) -> None:
    before = replace(position({}), due=((), (0,)))
    chance = Scripted(0.0, 0.0, drawing(point, START.spawn_points[1]))
    assert before.play({}, chance).swarms[1] == {UNKIND[0] + FORENAMES[0]: point}


def test_a_new_drone_waits_for_a_free_spawn_point() -> None:
    crowd = {"Ann": (1, 3), "Bea": (1, 4), "Cat": (1, 5)}
    before = replace(position(crowd), due=((0,), ()))
    after = before.play({}, Scripted())
    assert (after.swarms[0], after.due[0]) == (crowd, (0,))
    left = tick(after, {"Bea": "DL"}, Scripted(0.0, 0.0, 0.5, 0.5))
    assert left.swarms[0] == {**crowd, "Bea": (2, 4), KIND[0] + FORENAMES[0]: (1, 4)}


def test_a_new_drone_does_not_come_to_a_spawn_point_just_entered() -> None:
    before = replace(position({"Ann": (2, 3), "Bea": (1, 5)}), due=((0,), ()))
    onto_ann, other = drawing((1, 3), [(1, 3), (1, 4)]), drawing((1, 4), [(1, 4)])
    after = tick(before, {"Ann": "UR"}, Scripted(0.0, 0.0, onto_ann, other))
    assert after.swarms[0] == {"Ann": (1, 3), "Bea": (1, 5), KIND[0] + FORENAMES[0]: (1, 4)}


# The end.


@pytest.mark.parametrize("ticks", [1, 5, 100])
def test_the_game_ends_with_its_last_tick(ticks: int) -> None:
    before = later(Bumblebots(ticks=ticks).start(2, Chance(0)), ticks - 1)
    assert (before.over, before.to_move) == (False, (0, 1))
    after = before.play({}, Chance(0))
    assert (after.over, after.to_move, after.turn) == (True, (), ticks)


def test_the_score_is_the_number_of_flowers() -> None:
    cells = {MIDDLE: FLOWER, (9, 9): FLOWER}
    after = tick(position({"Ann": MIDDLE}, {"Bob": (9, 9)}, cells), {})
    assert after.scores == (1, 1)
    assert after.without(0) == after
