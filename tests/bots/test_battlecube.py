"""The house bots for battlecube."""

from collections.abc import Sequence
from typing import Any

import pytest

from botdrome.bots.battlecube import dodger, random, survivor
from botdrome.bots.house import HouseBot, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import OUTSIDE, Battlecube
from botdrome.games.chance import Chance
from botdrome.match.match import Match
from tests.games.cubes import STAY, after, bomb, cube, step

TERMS = CATALOGUE["battlecube"].terms


def places(game: Battlecube, bots: Sequence[HouseBot], seed: int) -> tuple[int, ...]:
    match = simulate(
        Match(game, len(bots), TERMS, seed),
        [seated(bot, 100 * seed + at) for at, bot in enumerate(bots)],
    )
    assert match.result is not None
    assert set(match.result.causes) == {"complete"}
    assert OUTSIDE not in [loss["cause"] for loss in match.view(None)["lost"]]
    return match.result.places


def answers(bot: HouseBot, view: dict[str, Any], count: int = 60) -> list[Any]:
    chance = Chance(1)
    return [bot(view, chance) for _ in range(count)]


def test_random_does_all_that_stays_in_the_cube() -> None:
    view = cube((0, 0, 0), (3, 3, 3)).view(0)
    tasks = [answer[0] for answer in answers(random, view)]
    assert {task.get("direction") for task in tasks if task["task"] == "MOVE"} == {"+X", "+Y", "+Z"}
    assert {task["task"] for task in tasks} == {"MOVE", "NOOP", "BOMB"}
    bombs = [task for (task,) in answers(random, view, 2000) if task["task"] == "BOMB"]
    for axis in "xyz":
        assert {task[axis] for task in bombs} == {0, 1, 2, 3}


@pytest.mark.parametrize("bot", [random, dodger, survivor])
@pytest.mark.parametrize("game", [Battlecube(8, 100, 3), Battlecube(2, 100, 2), Battlecube(3, 100)])
def test_it_plays_every_set_up_to_the_end_inside_the_cube(bot: HouseBot, game: Battlecube) -> None:
    for seed in range(5):
        places(game, [bot] * 4, seed)


@pytest.mark.parametrize("bot", [random, dodger, survivor])
def test_a_bot_that_has_lost_is_not_asked(bot: HouseBot) -> None:
    view = after(cube((0, 0, 0), (3, 3, 3), (2, 2, 2)), step("-X"), STAY, STAY).view(0)
    with pytest.raises(ValueError, match="has lost"):
        bot(view, Chance(0))


def test_dodger_keeps_off_bombs_and_bots_and_throws_beside_others() -> None:
    start = cube((0, 0, 0), (3, 3, 3), (0, 0, 1))
    view = after(start, STAY, bomb(1, 0, 0), STAY).view(0)
    tasks = [task for (task,) in answers(dodger, view, 300)]
    assert {task["direction"] for task in tasks if task["task"] == "MOVE"} == {"+Y"}
    bombs = {(task["x"], task["y"], task["z"]) for task in tasks if task["task"] == "BOMB"}
    assert bombs == {(2, 3, 3), (3, 2, 3), (3, 3, 2), (1, 0, 1), (0, 1, 1), (0, 0, 2)}
    assert {"task": "NOOP"} in tasks


def test_survivor_keeps_off_bombs() -> None:
    start = cube((0, 0, 0), (3, 3, 3), (2, 0, 0))
    view = after(start, STAY, bomb(1, 0, 0), bomb(0, 1, 0)).view(0)
    assert {task["direction"] for (task,) in answers(survivor, view) if task["task"] == "MOVE"} <= {
        "+Z"
    }


def test_survivor_steps_out_of_reach() -> None:
    view = cube((0, 0, 0), (1, 0, 0)).view(0)
    assert {task["direction"] for (task,) in answers(survivor, view)} == {"+Y", "+Z"}


def test_survivor_bombs_its_victim_or_a_cell_beside_it_but_never_one_beside_itself() -> None:
    view = cube((2, 2, 2), (0, 0, 0), (3, 3, 0)).view(0)
    bombs = [
        (task["x"], task["y"], task["z"])
        for (task,) in answers(survivor, view, 300)
        if task["task"] == "BOMB"
    ]
    assert set(bombs) == {
        (0, 0, 0),
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (3, 3, 0),
        (2, 3, 0),
        (3, 2, 0),
        (3, 3, 1),
    }
    view = cube((0, 0, 0), (2, 0, 0), edge=3).view(0)
    assert (1, 0, 0) not in [
        (task["x"], task["y"], task["z"]) for (task,) in answers(survivor, view, 300) if "x" in task
    ]


def test_survivor_has_nobody_to_bomb_when_alone_or_too_close() -> None:
    assert answers(survivor, Battlecube(edge=1).start(1, Chance(0)).view(0), 9) == [[STAY]] * 9
    crowded = Battlecube(edge=2, starts=((0, 0, 0), (1, 0, 0))).start(2, Chance(0)).view(0)
    assert "BOMB" not in [task["task"] for (task,) in answers(survivor, crowded)]


def test_survivor_beats_random_in_nearly_all_duels() -> None:
    won = 0
    for seed in range(200):
        own = seed % 2
        bots = [survivor, random] if own == 0 else [random, survivor]
        won += places(Battlecube(), bots, seed)[own] == 1
    assert won >= 190


@pytest.mark.no_cover
def test_survivors_outlive_randoms_in_a_crowd() -> None:
    """Four against four: equal bots would have equal mean places; here they are about two apart."""
    ours = theirs = 0
    for seed in range(30):
        by_seat = places(Battlecube(), [survivor, random] * 4, seed)
        ours += sum(by_seat[0::2])
        theirs += sum(by_seat[1::2])
    assert ours / 120 + 1 < theirs / 120
