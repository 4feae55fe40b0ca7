"""The rules of battlecube between ticks: rounds, seats that are put out, and options
that change.
"""

from typing import Any

import msgspec
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import CRASHED, Battlecube
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.match.match import Match
from tests.games.cubes import STAY, after, bomb, cube, happened, step, where

# Rounds.


def test_a_plan_is_played_tick_by_tick_and_nobody_is_asked_meanwhile() -> None:
    position = cube((0, 0, 0), (3, 3, 3), tasks=3)
    position = after(position, [step("+X"), bomb(2, 2, 2), step("+Y")], [STAY, step("-X"), STAY])
    assert (position.tick, position.to_move, where(position)) == (
        1,
        (),
        {0: (1, 0, 0), 1: (3, 3, 3)},
    )
    position = after(position)
    assert (position.tick, position.to_move, where(position)) == (
        2,
        (),
        {0: (1, 0, 0), 1: (2, 3, 3)},
    )
    position = after(position)
    assert (position.tick, position.to_move, where(position)) == (
        3,
        (0, 1),
        {0: (1, 1, 0), 1: (2, 3, 3)},
    )


def test_what_a_loser_planned_is_dropped() -> None:
    position = cube((0, 0, 0), (3, 3, 3), (3, 0, 3), tasks=2)
    position = after(after(position, [step("-X"), bomb(3, 3, 3)], [STAY, STAY], [STAY, STAY]))
    assert happened(position) == [(1, "nothing", (3, 3, 3)), (2, "nothing", (3, 0, 3))]
    assert position.to_move == (1, 2)


def test_a_seat_without_a_plan_does_nothing() -> None:
    position = cube((0, 0, 0), (3, 3, 3), tasks=2)
    position = position.play({1: position.parse(1, [STAY, step("-X")])}, Chance(0))
    position = position.play({}, Chance(0))
    assert happened(position) == [(0, "nothing", (0, 0, 0)), (1, "-X", (2, 3, 3))]


def test_what_is_planned_shows_to_nobody_before_it_is_done() -> None:
    start = cube((0, 0, 0), (3, 3, 3), tasks=2)
    one = after(start, [STAY, STAY], [STAY, STAY])
    two = after(start, [STAY, step("+X")], [STAY, bomb(1, 1, 1)])
    for seat in (None, 0, 1):
        assert msgspec.json.encode(one.view(seat)) == msgspec.json.encode(two.view(seat))
    assert start.secret, "nor does the match tell the answers"
    assert not cube((0, 0, 0), (3, 3, 3)).secret


# Seats put out by the match.


def test_a_seat_that_is_out_loses_this_tick_and_blocks_its_cell_for_it() -> None:
    start = cube((1, 1, 1), (0, 1, 1), (3, 3, 3), (3, 0, 0)).without(0)
    assert start.to_move == (1, 2, 3)
    assert start.view(None)["lost"] == [{"seat": 0, "tick": 0, "cause": None}]
    position = after(start, step("+X"), STAY, STAY)
    assert position.lost == ((0, 0, None), (1, 0, CRASHED))
    assert (1, CRASHED) in happened(position)
    assert not [entry for entry in happened(position) if entry[0] == 0]
    position = after(position, bomb(1, 1, 1), step("+X"))
    assert position.bombs == ((1, 1, 1),), "its cell is free in the tick after"


def test_a_bomb_on_a_seat_that_is_out_goes_off() -> None:
    position = after(cube((1, 1, 1), (0, 1, 1), (3, 3, 3)).without(0), bomb(1, 1, 1), STAY)
    assert position.bombs == ()
    assert position.lost == ((0, 0, None),)


def test_losses_beside_a_seat_that_is_out_keep_its_place_in_the_list() -> None:
    start = cube((0, 0, 0), (3, 3, 2), (3, 3, 3), (1, 0, 0), (0, 3, 0)).without(0)
    position = after(start, step("+Z"), STAY, step("-X"), STAY)
    assert [entry for entry in happened(position) if len(entry) == 2] == [
        (3, CRASHED),
        (1, CRASHED),
        (2, CRASHED),
    ]


def test_the_last_one_still_plays_the_tick_in_which_the_others_are_put_out() -> None:
    start = cube((0, 0, 0), (3, 3, 3), (3, 0, 0)).without(1).without(2)
    assert not start.over
    position = after(start, STAY)
    assert position.over
    assert position.scores == (1, 0, 0)
    assert after(start, step("-X")).scores == (0, 0, 0)


def test_when_all_are_put_out_the_tick_awaits_nobody() -> None:
    start = cube((0, 0, 0), (3, 3, 3)).without(0).without(1)
    assert (start.to_move, start.over) == ((), False)
    position = after(start)
    assert position.over
    assert position.scores == (0, 0)


def test_a_seat_that_has_lost_cannot_be_put_out_nor_can_a_winner() -> None:
    position = after(cube((0, 0, 0), (3, 3, 3)), step("-X"), STAY)
    assert position.without(0) is position
    assert position.without(1) is position
    start = cube((0, 0, 0), (3, 3, 3), (3, 0, 0)).without(0)
    assert start.without(0) is start


def test_the_match_puts_out_whoever_answers_badly_and_goes_on_with_the_others() -> None:
    row = CATALOGUE["battlecube"]
    game = Battlecube(edge=4, starts=((1, 1, 1), (0, 1, 1), (3, 3, 3), (3, 0, 0)))
    match = Match(game, 4, row.terms, seed=1)
    match.start()
    for player, answer in enumerate(([STAY, STAY], [step("+X")], [STAY], [])):
        match.submit(player, answer, now=0)
    assert match.result is not None
    assert match.result.scores == (0, 0, 1, 0)
    assert match.result.winner == 2
    assert match.result.causes == ("illegal moves", "complete", "complete", "illegal moves")


# Options that change.


def test_another_edge_drops_everybody_somewhere_and_clears_the_bombs_after_the_round() -> None:
    position = after(
        cube((0, 0, 0), (3, 3, 3), tasks=2), [bomb(1, 1, 1), STAY], [STAY, STAY]
    ).amend({"edge": 2})
    assert (position.edge, position.bombs, where(position)) == (
        4,
        ((1, 1, 1),),
        {0: (0, 0, 0), 1: (3, 3, 3)},
    )
    position = after(position)
    assert position.to_move == (0, 1)
    assert (position.view(0)["edge"], position.view(0)["bombs"]) == (2, ())
    assert len(set(position.cells)) == 2
    assert all(coordinate in (0, 1) for cell in position.cells for coordinate in cell)
    after(position, [bomb(0, 0, 0), STAY], [bomb(1, 1, 1), STAY])


def test_where_they_drop_is_the_chance_of_that_step() -> None:
    position = cube((0, 0, 0), (3, 3, 3)).amend({"edge": 900})
    plans = {seat: position.parse(seat, [STAY]) for seat in position.to_move}
    assert position.play(plans, Chance(1, 5)).cells == position.play(plans, Chance(1, 5)).cells
    assert position.play(plans, Chance(1, 5)).cells != position.play(plans, Chance(1, 6)).cells


def test_a_change_at_the_start_of_a_round_waits_for_its_end() -> None:
    position = cube((0, 0, 0), (3, 3, 3)).amend({"tasks": 3})
    assert position.view(0)["tasks"] == 1
    position = after(position, STAY, STAY)
    assert position.view(0)["tasks"] == 3
    position = after(position, [STAY, STAY, step("+X")], [STAY, STAY, STAY])
    assert position.to_move == ()
    assert where(after(after(position))) == {0: (1, 0, 0), 1: (3, 3, 3)}


def test_the_same_edge_leaves_everything_where_it_is() -> None:
    position = cube((0, 0, 0), (3, 3, 3)).amend({"edge": 4, "ticks": 30, "tasks": 2})
    position = after(position, bomb(1, 1, 1), step("-X"))
    assert (where(position), position.bombs) == ({0: (0, 0, 0), 1: (2, 3, 3)}, ((1, 1, 1),))
    assert (position.ticks, position.tasks) == (30, 2)


def test_changes_add_up() -> None:
    position = (
        cube((0, 0, 0), (3, 3, 3)).amend({"ticks": 9}).amend({"tasks": 2}).amend({"ticks": "8"})
    )
    position = after(position, STAY, STAY)
    assert (position.edge, position.ticks, position.tasks) == (4, 8, 2)


def test_ticks_that_are_past_end_the_game_with_the_tick() -> None:
    position = after(after(cube((0, 0, 0), (3, 3, 3)), STAY, STAY), STAY, STAY).amend({"ticks": 2})
    assert not position.over
    position = after(position, STAY, STAY)
    assert position.over
    assert position.scores == (3, 3)


def test_more_ticks_prolong_the_game_unless_its_last_tick_runs() -> None:
    longer = after(cube((0, 0, 0), (3, 3, 3), ticks=2).amend({"ticks": 3}), STAY, STAY)
    assert not after(longer, STAY, STAY).over
    too_late = after(cube((0, 0, 0), (3, 3, 3), ticks=2), STAY, STAY).amend({"ticks": 3})
    assert after(too_late, STAY, STAY).over


def test_start_cells_are_of_the_past() -> None:
    position = after(
        cube((0, 0, 0), (3, 3, 3)).amend({"starts": [[1, 1, 1], [2, 2, 2]]}), STAY, STAY
    )
    assert where(position) == {0: (0, 0, 0), 1: (3, 3, 3)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"edge": 1},
            "Too many players for the selected game area size: edge 1 has room for 1, not 2",
        ),
        ({"edge": 0}, "battlecube: edge: expected `int` >= 1"),
        ({"ticks": "many"}, "battlecube: ticks: expected `int`, got `str`"),
        ({"starts": 5}, "battlecube: starts: expected `array`, got `int`"),
        ({"speed": 5}, "battlecube has no option 'speed'; it has edge, ticks, tasks, starts"),
    ],
)
def test_a_change_that_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption) as caught:
        cube((0, 0, 0), (3, 3, 3)).amend(options)
    assert str(caught.value) == words


def test_room_is_needed_only_for_those_that_live() -> None:
    position = Battlecube(edge=3).start(9, Chance(2))
    with pytest.raises(BadOption):
        position.amend({"edge": 2})
    position = position.without(4).amend({"edge": 2}).play({}, Chance(3))
    assert len(set(position.cells)) == 8


def test_a_match_can_be_changed_while_it_runs() -> None:
    match = Match(
        Battlecube(starts=((0, 0, 0), (7, 7, 7))), 2, CATALOGUE["battlecube"].terms, seed=1
    )
    match.start()
    match.amend({"edge": 3}, now=0)
    for player in (0, 1):
        match.submit(player, [STAY], now=1)
    assert match.view(None)["edge"] == 3
    assert max(match.view(0)["players"][1].values()) < 3
