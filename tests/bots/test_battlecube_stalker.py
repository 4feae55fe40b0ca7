"""The stalker, a house bot for battlecube."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from botdrome.bots.battlecube import random, survivor
from botdrome.bots.battlecube_stalker import stalker
from botdrome.bots.house import HouseBot, seated
from botdrome.formats import FORMATS
from botdrome.games.battlecube import CRASHED, OUTSIDE, Battlecube
from botdrome.games.chance import Chance
from botdrome.match.match import Match
from botdrome.match.simulate import simulate
from tests.games.cubes import STAY, after, bomb, cube, step

TERMS = FORMATS["battlecube"].terms


def places(game: Battlecube, bots: Sequence[HouseBot], seed: int) -> tuple[int, ...]:
    match = simulate(Match(game, len(bots), TERMS, seed), [seated(bot, 100 * seed + at) for at, bot in enumerate(bots)])
    assert match.result is not None
    assert set(match.result.causes) == {"complete"}
    assert OUTSIDE not in [loss["cause"] for loss in match.view(None)["lost"]]
    return match.result.places


def duels(other: HouseBot, games: int, **options: int) -> tuple[int, int]:
    """How many were won and how many lost, the seats alternating; the others were ties."""
    won = lost = 0
    for seed in range(games):
        own = seed % 2
        by_seat = places(Battlecube(**options), [stalker, other] if own == 0 else [other, stalker], seed)  # type: ignore[arg-type]
        won += by_seat[own] < by_seat[1 - own]
        lost += by_seat[own] > by_seat[1 - own]
    return won, lost


def tasks(position: Battlecube, seat: int = 0, count: int = 40) -> list[Any]:
    """What it may do first, each thing once."""
    chance = Chance(1)
    found: list[Any] = []
    for _ in range(count):
        task = stalker(position.view(seat), chance)[0]
        found += [] if task in found else [task]
    return found


def own_crashes(bots: Sequence[HouseBot], seed: int, ticks: int) -> tuple[int, int]:
    """How often a stalker stepped to where it met another, and the ticks that the game took."""
    chances = [Chance(100 * seed + at) for at in range(len(bots))]
    position = Battlecube(ticks=ticks).start(len(bots), Chance(seed))
    crashes = 0
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), chances[seat]) for seat in position.to_move}
        position = position.play({seat: position.parse(seat, raw) for seat, raw in raws.items()}, Chance(seed))
        crashed = [entry["seat"] for entry in position.happened if entry.get("lost") == CRASHED]
        crashes += sum(bots[seat] is stalker and raws[seat][0]["task"] == "MOVE" for seat in crashed)
    return crashes, position.tick


# How good it is


def test_it_beats_random_in_nearly_all_duels() -> None:
    won, _ = duels(random, 40)
    assert won >= 38


def test_it_beats_survivor_in_most_duels_and_loses_few() -> None:
    """The best that can be done from afar, value by value, is 78 % won; nearly all the rest are ties."""
    won, lost = duels(survivor, 60)
    assert won >= 40
    assert lost <= 6


def test_it_beats_survivor_with_plans_of_several_ticks() -> None:
    won, _ = duels(survivor, 40, tasks=8)
    assert won >= 30


@pytest.mark.parametrize("other", [random, survivor])
def test_it_outlives_three_others(other: HouseBot) -> None:
    ours = [places(Battlecube(), [stalker, other, other, other], seed)[0] for seed in range(20)]
    assert sum(ours) / len(ours) < 1.8, "one of four equal bots has a mean place of 2.5"


def test_stalkers_never_step_into_each_other_for_thousands_of_ticks() -> None:
    crashes, ticks = zip(*(own_crashes([stalker] * 4, seed, 1000) for seed in range(5)), strict=True)
    assert sum(crashes) == 0
    assert sum(ticks) > 4000


def test_stalkers_do_not_step_into_randoms() -> None:
    assert [own_crashes([stalker, random] * 4, seed, 100)[0] for seed in range(8)] == [0] * 8


# Every set-up


@pytest.mark.parametrize(
    "game",
    [
        Battlecube(8, 100, 3),
        Battlecube(2, 100, 2),
        Battlecube(3, 100),
        Battlecube(2, 100),
        Battlecube(40, 30),
        Battlecube(8, 60, 30),
    ],
)
def test_it_plays_every_set_up_to_the_end_inside_the_cube(game: Battlecube) -> None:
    for seed in range(3):
        places(game, [stalker] * 4, seed)


def test_it_plays_in_a_full_cube_and_alone() -> None:
    places(Battlecube(4, 10), [stalker] * 64, 1)
    assert tasks(Battlecube(edge=1).start(1, Chance(0))) == [STAY]
    assert stalker(Battlecube(edge=1, tasks=2).start(1, Chance(0)).view(0), Chance(0)) == [STAY, STAY]


def test_it_reads_views_that_have_been_json() -> None:
    position = after(cube((0, 0, 0), (5, 5, 5), edge=8), bomb(5, 5, 4), bomb(1, 0, 0))
    view = position.view(0)
    assert stalker(view, Chance(3)) == stalker(msgspec.json.decode(msgspec.json.encode(view)), Chance(3))


def test_it_is_not_asked_when_it_has_lost() -> None:
    view = after(cube((0, 0, 0), (3, 3, 3), (2, 2, 2)), step("-X"), STAY, STAY).view(0)
    with pytest.raises(ValueError, match="has lost"):
        stalker(view, Chance(0))


# What it does


def test_it_throws_at_one_that_is_far_away() -> None:
    assert tasks(cube((3, 3, 3), (6, 6, 6), edge=8)) == [bomb(6, 6, 6)]


def test_it_steps_up_to_one_that_throws_at_it() -> None:
    """Who throws carefully aims at nothing beside itself, and keeps away."""
    near = after(cube((3, 3, 3), (3, 3, 5), edge=8), STAY, bomb(2, 3, 3))
    assert tasks(near) == [step("+Z")]


def test_beside_a_careful_one_it_bombs_the_cells_to_flee_to() -> None:
    beside = after(cube((6, 7, 7), (7, 7, 7), edge=8), STAY, bomb(5, 7, 7))
    assert {(task["x"], task["y"], task["z"]) for task in tasks(beside)} == {(7, 6, 7), (7, 7, 6)}


def test_it_keeps_away_from_one_that_it_does_not_know() -> None:
    beside = cube((3, 3, 3), (4, 3, 3), edge=8)
    for task in tasks(beside):
        assert task["task"] == "MOVE"
        assert task["direction"] not in {"+X"}
    astray = after(cube((3, 3, 3), (3, 3, 5), edge=8), STAY, bomb(0, 7, 7))
    assert step("+Z") not in tasks(astray)


def test_it_does_not_step_up_to_one_that_comes() -> None:
    """Both would step to the same cell."""
    coming = after(after(cube((3, 3, 3), (3, 3, 6), edge=8), STAY, bomb(2, 3, 3)), STAY, step("-Z"))
    assert step("+Z") not in tasks(coming)
    leaving = after(after(cube((3, 3, 3), (3, 3, 4), edge=8), STAY, bomb(2, 3, 3)), STAY, step("+Z"))
    assert step("+Z") in tasks(leaving)


def test_it_does_not_step_on_bombs() -> None:
    start = cube((0, 0, 0), (1, 0, 0), edge=8)
    mined = after(start, STAY, bomb(0, 1, 0))
    assert step("+Y") not in tasks(mined)


def test_a_plan_leads_away_first_and_then_throws() -> None:
    plan = stalker(cube((3, 3, 3), (6, 6, 6), edge=8, tasks=5).view(0), Chance(0))
    assert [task["task"] for task in plan] == ["MOVE", "MOVE", "BOMB", "BOMB", "BOMB"]
    assert plan[2] == bomb(6, 6, 6)
