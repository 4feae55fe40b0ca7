"""The stalker, a house bot for battlecube."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from botdrome.bots.battlecube import distance, own_cell, random, stalker, survivor, ways_from
from botdrome.bots.house import HouseBot, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import CRASHED, OUTSIDE, Battlecube
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
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


def duels(other: HouseBot, games: int, **options: int) -> tuple[int, int]:
    """How many were won and how many lost, the seats alternating; the others were ties."""
    won = lost = 0
    for seed in range(games):
        own = seed % 2
        by_seat = places(
            Battlecube(**options),  # type: ignore[arg-type]
            [stalker, other] if own == 0 else [other, stalker],
            seed,
        )
        won += by_seat[own] < by_seat[1 - own]
        lost += by_seat[own] > by_seat[1 - own]
    return won, lost


def tasks(position: Battlecube, seat: int = 0, count: int = 40) -> list[Any]:
    """Its possible first actions, each once."""
    chance = Chance(1)
    found: list[Any] = []
    for _ in range(count):
        task = stalker(position.view(seat), chance)[0]
        found += [] if task in found else [task]
    return found


def crashes(bots: Sequence[HouseBot], seed: int) -> tuple[int, int]:
    """The number of collisions between stalkers, and the ticks of the game."""
    chances = [Chance(100 * seed + at) for at in range(len(bots))]
    position = Battlecube().start(len(bots), Chance(seed))
    while not position.over:
        moves = {
            seat: position.parse(seat, bots[seat](position.view(seat), chances[seat]))
            for seat in position.to_move
        }
        position = position.play(moves, Chance(seed))
    return sum(
        bots[loss["seat"]] is stalker and loss["cause"] == CRASHED
        for loss in position.view(None)["lost"]
    ), position.tick


# Other players


def walker(view: View, chance: Chance) -> Raw:
    """Steps at random, in the cube and off bombs: also onto others."""
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    ways = [way for way, to in ways_from(own_cell(view), view["edge"]) if to not in bombs]
    return [step(chance.choice(ways)) if ways else STAY]


def hunter(view: View, chance: Chance) -> Raw:
    """Steps towards the other."""
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    (prey,) = (
        (player["x"], player["y"], player["z"])
        for player in view["players"]
        if player["seat"] != view["you"]
    )
    ways = {
        way: distance(to, prey)
        for way, to in ways_from(own_cell(view), view["edge"])
        if to not in bombs
    }
    return [
        step(chance.choice([way for way in ways if ways[way] == min(ways.values())]))
        if ways
        else STAY
    ]


def aimer(view: View, _chance: Chance) -> Raw:
    """The bot in JavaScript of docs/bots-over-http.md: stands still, and bombs the cell
    of another.
    """
    other = next(player for player in view["players"] if player["seat"] != view["you"])
    return [bomb(other["x"], other["y"], other["z"])] * view["tasks"]


def idler(_view: View, _chance: Chance) -> Raw:
    return [STAY]


# How good it is


def test_it_beats_random_in_nearly_all_duels() -> None:
    won, _ = duels(random, 40)
    assert won >= 38


@pytest.mark.no_cover
def test_it_beats_survivor_in_most_duels_and_loses_few() -> None:
    """Throws from afar win 78 % at most, as both may hit each other in one tick: nearly all the
    rest are ties.
    """
    won, lost = duels(survivor, 200)
    assert won >= 140
    assert lost <= 2


@pytest.mark.no_cover
def test_it_wins_four_of_five_games_against_both_of_the_first_set() -> None:
    seats: list[list[HouseBot]] = [
        [stalker, survivor, random],
        [random, stalker, survivor],
        [survivor, random, stalker],
    ]
    by_seat = [places(Battlecube(), seats[seed % 3], seed) for seed in range(500)]
    won = sum(of[seed % 3] == 1 and of.count(1) == 1 for seed, of in enumerate(by_seat))
    assert won >= 400


def test_it_beats_survivor_with_plans_of_several_ticks() -> None:
    won, _ = duels(survivor, 40, tasks=8)
    assert won >= 30


@pytest.mark.no_cover
@pytest.mark.parametrize("other", [random, survivor])
def test_it_outlives_three_others(other: HouseBot) -> None:
    ours = [places(Battlecube(), [stalker, other, other, other], seed)[0] for seed in range(20)]
    assert sum(ours) / len(ours) < 1.8, "one of four equal bots has a mean place of 2.5"


@pytest.mark.no_cover
def test_it_never_crashes_with_those_that_step_at_random_for_thousands_of_ticks() -> None:
    tables = [[stalker, walker]] * 60 + [[stalker, walker, walker, walker]] * 15
    met, ticks = zip(*(crashes(bots, seed) for seed, bots in enumerate(tables)), strict=True)
    assert sum(met) == 0
    assert sum(ticks) > 2000


@pytest.mark.no_cover
def test_it_hunts_down_those_that_step_at_random_or_come_after_it() -> None:
    assert duels(walker, 20) == (20, 0)
    won, lost = duels(hunter, 20, ticks=100)
    assert won >= 10
    assert lost == 0


@pytest.mark.no_cover
def test_stalkers_and_randoms_never_crash_with_a_stalker() -> None:
    assert [crashes([stalker, random] * 4, seed)[0] for seed in range(8)] == [0] * 8
    assert [crashes([stalker] * 4, seed)[0] for seed in range(20)] == [0] * 20


@pytest.mark.parametrize("edge", [3, 4, 8])
def test_it_hardly_ever_loses_to_one_that_bombs_its_cell_in_every_tick(edge: int) -> None:
    """Neither player wins that duel: a thrower does not move, so it is hit in the same tick."""
    assert duels(aimer, 60, edge=edge) == (0, 0)
    assert duels(aimer, 10, edge=edge, tasks=4)[1] <= 1


def test_it_bombs_those_that_do_not_move() -> None:
    assert duels(idler, 30, edge=6) == (30, 0)
    for seed in range(30):
        game = Battlecube(6)
        match = simulate(
            Match(game, 4, TERMS, seed),
            [seated(bot, seed) for bot in (stalker, survivor, random, idler)],
        )
        assert match.view(None)["tick"] < game.ticks, "somebody stood to the end and was not bombed"


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
    assert stalker(Battlecube(edge=1, tasks=2).start(1, Chance(0)).view(0), Chance(0)) == [
        STAY,
        STAY,
    ]


def test_it_reads_views_that_have_been_json() -> None:
    position = after(cube((0, 0, 0), (5, 5, 5), edge=8), bomb(5, 5, 4), bomb(1, 0, 0))
    view = position.view(0)
    assert stalker(view, Chance(3)) == stalker(
        msgspec.json.decode(msgspec.json.encode(view)), Chance(3)
    )


def test_it_is_not_asked_when_it_has_lost() -> None:
    view = after(cube((0, 0, 0), (3, 3, 3), (2, 2, 2)), step("-X"), STAY, STAY).view(0)
    with pytest.raises(ValueError, match="has lost"):
        stalker(view, Chance(0))


# Its actions


def test_it_throws_at_one_that_is_far_away() -> None:
    assert tasks(cube((3, 3, 3), (6, 6, 6), edge=8)) == [bomb(6, 6, 6)]


def test_it_throws_at_one_that_did_nothing_and_from_beside_steps_away_first() -> None:
    assert tasks(after(cube((3, 3, 3), (3, 3, 5), edge=8), STAY, STAY)) == [bomb(3, 3, 5)]
    beside = tasks(after(cube((3, 3, 3), (3, 3, 4), edge=8), STAY, STAY))
    assert {task["task"] for task in beside} == {"MOVE"}
    assert step("+Z") not in beside


def test_it_throws_at_the_one_that_threw_rather_than_at_a_wanderer() -> None:
    threw = after(cube((3, 3, 3), (3, 3, 7), (3, 7, 3), edge=8), STAY, bomb(2, 3, 3), step("+X"))
    assert tasks(threw) == [bomb(3, 3, 7)]


def test_it_throws_at_the_cell_that_one_who_comes_will_step_to() -> None:
    far = after(
        after(after(cube((3, 3, 1), (3, 3, 6), edge=8), STAY, STAY), STAY, step("-Z")),
        STAY,
        step("-Z"),
    )
    coming = after(far, STAY, step("-Z"))
    assert tasks(coming) == [bomb(3, 3, 2)]


def test_it_keeps_away_from_one_that_it_does_not_know() -> None:
    beside = cube((3, 3, 3), (4, 3, 3), edge=8)
    for task in tasks(beside):
        assert task["task"] == "MOVE"
        assert task["direction"] not in {"+X"}
    astray = after(cube((3, 3, 3), (3, 3, 5), edge=8), STAY, bomb(0, 7, 7))
    assert step("+Z") not in tasks(astray)


def test_where_all_cells_are_in_reach_it_takes_one_that_the_fewest_can_step_to() -> None:
    crowded = cube((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 2, 0), (0, 1, 1), (0, 0, 2), edge=3)
    assert "MOVE" not in [task["task"] for task in tasks(crowded)], (
        "one can step here, and two to each cell beside"
    )


def test_it_does_not_step_on_bombs() -> None:
    start = cube((0, 0, 0), (1, 0, 0), edge=8)
    mined = after(start, STAY, bomb(0, 1, 0))
    assert step("+Y") not in tasks(mined)


def test_a_plan_leads_away_first_and_then_throws() -> None:
    plan = stalker(cube((3, 3, 3), (6, 6, 6), edge=8, tasks=5).view(0), Chance(0))
    assert [task["task"] for task in plan] == ["MOVE", "MOVE", "BOMB", "BOMB", "BOMB"]
    assert plan[2] == bomb(6, 6, 6)
