"""The rules of battlecube: start, one tick, end, and views."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from botdrome.bots.battlecube import random
from botdrome.bots.house import seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import BOMBED, CRASHED, OUTSIDE, Battlecube, Cell
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.match.match import Match
from tests.games.cubes import STAY, Starts, after, bomb, cube, happened, step, where

# How it starts.


def test_players_start_on_different_cells_of_the_cube() -> None:
    position = Battlecube(edge=4).start(64, Chance(5))
    assert len(set(position.cells)) == 64
    assert all(0 <= coordinate < 4 for cell in position.cells for coordinate in cell)
    assert position.to_move == position.seats == tuple(range(64))
    assert Battlecube(edge=4).start(64, Chance(6)).cells != position.cells


def test_a_vast_cube_is_no_harder_to_start_in() -> None:
    assert len(set(Battlecube(edge=1000).start(64, Chance(5)).cells)) == 64


def test_start_cells_may_be_given() -> None:
    assert where(cube((0, 0, 0), (3, 3, 3))) == {0: (0, 0, 0), 1: (3, 3, 3)}


def test_there_must_be_room() -> None:
    with pytest.raises(BadOption) as caught:
        Battlecube(edge=1).start(2, Chance(0))
    assert (
        str(caught.value)
        == "Too many players for the selected game area size: edge 1 has room for 1, not 2"
    )


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        (
            ((0, 0, 0),),
            "There are no player start positions for all players in the game: starts has 1, not 2",
        ),
        (
            ((0, 0, 0),) * 3,
            "There are no player start positions for all players in the game: starts has 3, not 2",
        ),
        (((0, 0, 0), (0, 4, 0)), "starts: [0, 4, 0] is outside a cube of edge 4"),
        (((1, 2, 3), (1, 2, 3)), "starts: [1, 2, 3] is given twice"),
    ],
)
def test_start_cells_must_fit(starts: Starts, words: str) -> None:
    with pytest.raises(BadOption) as caught:
        Battlecube(edge=4, starts=starts).start(2, Chance(0))
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edge": 0}, "edge: expected `int` >= 1"),
        ({"edge": 1001}, "edge: expected `int` <= 1000"),
        ({"ticks": 0}, "ticks: expected `int` >= 1"),
        ({"tasks": 0}, "tasks: expected `int` >= 1"),
        ({"starts": [[0, 0, -1]]}, "expected `int` >= 0"),
        ({"speed": 10}, "battlecube has no option 'speed'; it has edge, ticks, tasks, starts"),
    ],
)
def test_options_have_bounds(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption) as caught:
        with_options(Battlecube(), options)
    assert words in str(caught.value)


# One tick.


@pytest.mark.parametrize(
    ("direction", "cell"),
    [
        ("+X", (2, 1, 1)),
        ("-X", (0, 1, 1)),
        ("+Y", (1, 2, 1)),
        ("-Y", (1, 0, 1)),
        ("+Z", (1, 1, 2)),
        ("-Z", (1, 1, 0)),
    ],
)
def test_a_step_leads_to_the_next_cell(direction: str, cell: Cell) -> None:
    position = after(cube((1, 1, 1), (3, 3, 3)), step(direction), STAY)
    assert where(position) == {0: cell, 1: (3, 3, 3)}
    assert happened(position) == [(0, direction, cell), (1, "nothing", (3, 3, 3))]


@pytest.mark.parametrize(
    ("direction", "cell"),
    [
        ("+X", (4, 3, 0)),
        ("-X", (-1, 3, 0)),
        ("+Y", (3, 4, 0)),
        ("-Y", (0, -1, 0)),
        ("+Z", (0, 0, 4)),
        ("-Z", (0, 0, -1)),
    ],
)
def test_who_leaves_the_cube_loses(direction: str, cell: Cell) -> None:
    start = tuple(min(max(coordinate, 0), 3) for coordinate in cell)
    position = after(cube(start, (1, 1, 1), (2, 2, 2)), step(direction), STAY, STAY)  # type: ignore[arg-type]
    assert happened(position)[:3] == [(0, direction, cell), (0, OUTSIDE), (1, "nothing", (1, 1, 1))]
    assert position.lost == ((0, 0, OUTSIDE),)
    assert position.seats == (1, 2)


def test_who_moves_in_crashes_and_so_does_who_stands_there() -> None:
    position = after(cube((0, 0, 0), (1, 0, 0), (3, 3, 3)), STAY, step("-X"), STAY)
    assert happened(position)[3:] == [(0, CRASHED), (1, CRASHED)]
    assert position.seats == (2,)


def test_three_in_one_cell_all_lose() -> None:
    position = after(
        cube((0, 1, 1), (2, 1, 1), (1, 0, 1), (3, 3, 3)), step("+X"), step("-X"), step("+Y"), STAY
    )
    assert happened(position)[4:] == [(0, CRASHED), (1, CRASHED), (2, CRASHED)]


def test_swapping_and_following_is_no_crash() -> None:
    position = after(cube((0, 0, 0), (1, 0, 0), (2, 0, 0)), step("+X"), step("+X"), step("+X"))
    assert where(position) == {0: (1, 0, 0), 1: (2, 0, 0), 2: (3, 0, 0)}
    position = after(cube((0, 0, 0), (1, 0, 0)), step("+X"), step("-X"))
    assert where(position) == {0: (1, 0, 0), 1: (0, 0, 0)}


@pytest.mark.parametrize("thrower", [0, 1])
def test_a_bomb_on_a_player_kills_at_once_whoever_acts_first(thrower: int) -> None:
    tasks = [bomb(1, 1, 1), STAY] if thrower == 0 else [STAY, bomb(1, 1, 1)]
    starts = [(0, 0, 0), (1, 1, 1)] if thrower == 0 else [(1, 1, 1), (0, 0, 0)]
    position = after(cube(*starts), *tasks)
    assert position.lost == ((1 - thrower, 0, BOMBED),)
    assert position.bombs == ()


def test_a_bomb_on_the_own_cell_kills_its_owner() -> None:
    assert after(cube((0, 0, 0), (3, 3, 3)), bomb(0, 0, 0), STAY).lost == ((0, 0, BOMBED),)


def test_a_bomb_on_a_cell_that_is_left_does_not_kill_but_one_on_the_goal_does() -> None:
    start = cube((0, 0, 0), (3, 3, 3))
    assert after(start, step("+X"), bomb(0, 0, 0)).lost == ()
    assert after(start, step("+X"), bomb(1, 0, 0)).lost == ((0, 0, BOMBED),)


def test_bombs_lie_in_order_until_somebody_steps_on_them() -> None:
    position = after(
        cube((0, 0, 0), (3, 3, 3), (0, 3, 0)), bomb(1, 0, 0), bomb(2, 2, 2), bomb(1, 1, 1)
    )
    assert position.view(None)["bombs"] == ((1, 0, 0), (2, 2, 2), (1, 1, 1))
    position = after(position, step("+X"), bomb(0, 0, 3), STAY)
    assert position.lost == ((0, 1, BOMBED),)
    assert position.view(None)["bombs"] == ((2, 2, 2), (1, 1, 1), (0, 0, 3))
    position = after(position, bomb(1, 0, 0), STAY)
    assert position.bombs[-1] == (1, 0, 0), "a cell whose bomb is gone can be mined again"


def test_a_second_bomb_on_a_cell_is_told_but_lies_there_once() -> None:
    position = after(cube((0, 0, 0), (3, 3, 3)), bomb(2, 2, 2), bomb(2, 2, 2))
    assert happened(position) == [(0, "bomb", (2, 2, 2)), (1, "bomb", (2, 2, 2))]
    position = after(position, bomb(2, 2, 2), STAY)
    assert happened(position) == [(0, "bomb", (2, 2, 2)), (1, "nothing", (3, 3, 3))]
    assert position.bombs == ((2, 2, 2),)


def test_a_crash_on_a_bomb_is_the_bombs() -> None:
    position = after(cube((0, 0, 0), (2, 0, 0), (3, 3, 3)), step("+X"), step("-X"), bomb(1, 0, 0))
    assert position.lost == ((0, 0, BOMBED), (1, 0, BOMBED))


def test_a_bomb_outside_goes_off_under_who_leaves_and_that_is_one_loss() -> None:
    position = after(cube((3, 0, 0), (0, 3, 3), (0, 0, 3)), STAY, bomb(4, 0, 0), STAY)
    assert position.bombs == ((4, 0, 0),)
    position = after(position, step("+X"), STAY, STAY)
    assert [entry for entry in happened(position) if entry[0] == 0] == [
        (0, "+X", (4, 0, 0)),
        (0, OUTSIDE),
    ]
    assert position.lost == ((0, 1, OUTSIDE),)
    assert position.bombs == ()


def test_losses_come_cell_by_cell_in_the_order_of_the_first_seat_there() -> None:
    start = cube((0, 0, 0), (3, 3, 3), (3, 2, 3), (1, 0, 0), (0, 3, 0), (2, 0, 2), edge=4)
    position = after(start, STAY, STAY, step("+Y"), step("-X"), step("-X"), bomb(0, 0, 3))
    losses = [entry for entry in happened(position) if len(entry) == 2]
    assert losses == [(4, OUTSIDE), (0, CRASHED), (3, CRASHED), (1, CRASHED), (2, CRASHED)]
    assert [seat for seat, _, _ in position.lost] == [4, 0, 3, 1, 2]


# How it ends.


def played(
    *rounds: Sequence[Any], starts: Starts = ((0, 0, 0), (3, 3, 3)), ticks: int = 20
) -> Battlecube:
    position = cube(*starts, ticks=ticks)
    for answers in rounds:
        assert not position.over
        position = after(position, *answers)
    return position


def test_the_last_one_wins() -> None:
    position = played([STAY, STAY], [STAY, STAY], [step("-Y"), STAY])
    assert position.over
    assert position.to_move == ()
    assert position.scores == (2, 3)


def test_the_last_ones_that_die_together_tie() -> None:
    position = played([STAY, STAY], [step("-Y"), step("+Y")])
    assert position.over
    assert position.scores == (1, 1)


def test_those_alive_after_the_last_tick_tie() -> None:
    position = played(
        [STAY, STAY, step("+X")], [STAY, STAY], starts=((0, 0, 0), (1, 1, 1), (3, 3, 3)), ticks=2
    )
    assert position.over
    assert position.scores == (2, 2, 0)


def test_the_game_may_end_in_the_middle_of_a_round() -> None:
    position = after(after(cube((0, 0, 0), (3, 3, 3), ticks=2, tasks=3), [STAY] * 3, [STAY] * 3))
    assert position.over
    assert position.to_move == ()


def test_one_player_alone_wins_after_a_tick() -> None:
    assert played([STAY], starts=((0, 0, 0),)).scores == (1,)
    assert played([step("-X")], starts=((0, 0, 0),)).scores == (0,)


# Views.


def test_the_view_tells_it_all() -> None:
    position = after(cube((0, 0, 0), (3, 3, 3), (3, 0, 3)), step("-X"), step("-X"), bomb(9, 9, 9))
    assert msgspec.json.decode(msgspec.json.encode(position.view(1))) == {
        "you": 1,
        "toMove": [1, 2],
        "edge": 4,
        "tasks": 1,
        "tick": 1,
        "ticks": 20,
        "players": [{"seat": 1, "x": 2, "y": 3, "z": 3}, {"seat": 2, "x": 3, "y": 0, "z": 3}],
        "bombs": [[9, 9, 9]],
        "happened": [
            {"seat": 0, "did": "move", "direction": "-X", "x": -1, "y": 0, "z": 0},
            {"seat": 0, "lost": OUTSIDE},
            {"seat": 1, "did": "move", "direction": "-X", "x": 2, "y": 3, "z": 3},
            {"seat": 2, "did": "bomb", "x": 9, "y": 9, "z": 9},
        ],
        "lost": [{"seat": 0, "tick": 0, "cause": OUTSIDE}],
    }


def test_the_page_for_authors_shows_a_view_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "games" / "battlecube.md"
    start = cube((7, 0, 0), (2, 3, 3), (5, 5, 5), (0, 7, 7), edge=8, ticks=1000).without(3)
    position = after(start, step("+X"), step("-X"), bomb(2, 3, 3))
    example = page.read_text().partition("```json\n")[2].partition("```")[0]
    assert msgspec.json.decode(example) == msgspec.json.decode(
        msgspec.json.encode(position.view(1))
    )


def test_who_scribbles_on_a_view_spoils_no_other() -> None:
    position = after(cube((0, 0, 0), (3, 3, 3)), STAY, STAY)
    before = msgspec.json.encode(position.view(None))
    view = position.view(0)
    for entry in (*view["players"], *view["happened"]):
        entry.clear()
    assert msgspec.json.encode(position.view(None)) == before


def test_single_tasks_are_listed() -> None:
    assert [plan[0] for plan in cube((0, 0, 0), (1, 1, 1), edge=2).moves(0)] == [
        *(step(direction) for direction in ("+X", "-X", "+Y", "-Y", "+Z", "-Z")),
        STAY,
        *(bomb(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)),
    ]
    assert list(cube((0, 0, 0), (1, 1, 1), tasks=2).moves(0)) == []


def test_a_seed_always_gives_the_same_game() -> None:
    row = CATALOGUE["battlecube"]
    match = simulate(
        Match(row.game, 8, row.terms, seed=11), [seated(random, seat) for seat in range(8)]
    )
    assert match.result is not None
    assert match.result.places == (2, 7, 5, 4, 6, 1, 3, 7)
    assert match.result.scores == (61, 1, 30, 43, 19, 62, 52, 1)
    view = match.view(None)
    assert [(loss["seat"], loss["tick"], loss["cause"]) for loss in view["lost"]] == [
        (1, 1, CRASHED),
        (7, 1, CRASHED),
        (4, 19, BOMBED),
        (2, 30, BOMBED),
        (3, 43, BOMBED),
        (6, 52, BOMBED),
        (0, 61, BOMBED),
    ]
    assert view["players"] == [{"seat": 5, "x": 5, "y": 5, "z": 6}]
    assert len(view["bombs"]) == 35
