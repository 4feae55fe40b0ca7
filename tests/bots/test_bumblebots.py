"""The house bots of bumblebots."""

from typing import Any

import msgspec
import pytest

from botdrome.bots.bumblebots import forager, random
from botdrome.bots.house import HouseBot
from botdrome.games.bumblebots import FLOWER, WALL, Bumblebots, around
from botdrome.games.chance import Chance
from tests.games.bumblebots.arranged import LEFT, MIDDLE, RIGHT, START, Scripted, position, tick

BARE = dict.fromkeys([(4, 4), (7, 12), (11, 5)], WALL)
"""No flowers."""


def play(bots: tuple[HouseBot, HouseBot], seed: int, setup: Bumblebots) -> Bumblebots:
    """A game between two bots, each with chance of its own."""
    chance, own = Chance(seed), (Chance(1000 + seed), Chance(2000 + seed))
    position = setup.start(2, chance)
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), own[seat]) for seat in position.to_move}
        position = position.play(
            {seat: position.parse(seat, raw) for seat, raw in raws.items()},
            chance.turn_to(position.turn),
        )
    return position


def given(bot: HouseBot, position: Bumblebots, seat: int = 0) -> dict[str, Any]:
    orders: dict[str, Any] = bot(position.view(seat), Chance(0))["orders"]
    return orders


# random


def test_random_orders_every_drone_any_way_that_is_open() -> None:
    before = position({"Ann": (1, 1)}, {"Bob": (13, 13)})
    seen = {random(before.view(0), Chance(seed))["orders"]["Ann"] for seed in range(100)}
    assert seen == {"R", "DR", "DL"}
    assert all(before.parse(1, random(before.view(1), Chance(seed))).targets for seed in range(20))


def test_random_lets_a_drone_stay_that_is_walled_in() -> None:
    assert given(random, position({"Ann": MIDDLE}, cells=dict.fromkeys(around(MIDDLE), WALL))) == {}


# forager


def test_the_forager_takes_the_shortest_way() -> None:
    before = position({"Ann": (5, 1)})
    for left in (3, 2, 1, 0):
        before = tick(before, given(forager, before))
        assert before.scores == (int(left == 0), 0)


def test_the_forager_goes_round_who_stands_in_the_way() -> None:
    walls = dict.fromkeys([(6, 6), (6, 7), (8, 7), (8, 8)], WALL)
    before = position({"Ann": LEFT}, {"Bob": MIDDLE}, {**BARE, **walls, RIGHT: FLOWER})
    assert given(forager, before)["Ann"] in ("UL", "DL")


def test_the_forager_sends_one_drone_to_each_flower() -> None:
    cells = {**BARE, (5, 8): FLOWER, (9, 8): FLOWER}
    before = position({"Ann": (6, 8), "Bea": (6, 7), "Cat": (8, 8)}, cells=cells)
    after = tick(before, given(forager, before))
    assert after.scores == (2, 0)
    assert "Bea" in after.swarms[0]


def test_the_forager_looks_first_for_a_flower_that_no_rival_is_nearer_to() -> None:
    cells = {**BARE, RIGHT: FLOWER, (4, 5): FLOWER}
    rival_beside = position({"Ann": (7, 6)}, {"Bob": (7, 9)}, cells)
    assert given(forager, rival_beside)["Ann"] in ("UL", "UR")
    assert given(forager, position({"Ann": (7, 6)}, {}, cells)) == {"Ann": "R"}


def test_the_forager_stays_on_a_flower_that_grew_under_a_drone() -> None:
    assert given(forager, position({"Ann": MIDDLE}, cells={MIDDLE: FLOWER})) == {}


def test_the_forager_does_not_block_itself() -> None:
    alone = position(dict(START.swarms[0]))
    for step in range(60):
        alone = tick(alone, given(forager, alone), Chance(7, step))
    assert alone.scores[0] > 3
    assert alone.record[0] == (0, 0, 0)


def test_the_forager_stays_where_it_cannot_go_anywhere() -> None:
    assert (
        given(forager, position({"Ann": MIDDLE}, cells=dict.fromkeys(around(MIDDLE), WALL))) == {}
    )


def test_the_forager_spreads_out_while_there_is_no_flower() -> None:
    bare = position({"Ann": (1, 3), "Bea": (1, 4), "Cat": (1, 5)}, cells=BARE)
    for _ in range(14):
        bare = tick(bare, given(forager, bare), Scripted())
    spots = sorted(bare.swarms[0].values())
    assert all(
        abs(one[0] - two[0]) + abs(one[1] - two[1]) >= 4
        for one in spots
        for two in spots
        if one < two
    )
    assert spots[-1][0] >= 7


def test_the_forager_reads_a_view_that_came_over_the_wire() -> None:
    wire = msgspec.json.decode(msgspec.json.encode(START.view(0)))
    assert forager(wire, Chance(0)) == forager(START.view(0), Chance(0))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "setup",
    [
        Bumblebots(),
        Bumblebots(arena="drawn", side=6, walls=20, starts="drawn", drones=2, flowers=4),
    ],
    ids=["documented", "drawn"],
)
def test_the_forager_beats_random(setup: Bumblebots) -> None:
    """It wins at least 15 of 16 games, 8 from either seat, with more than twice the flowers."""
    finals = [play((forager, random), seed, setup).scores for seed in range(8)]
    finals += [play((random, forager), seed, setup).scores[::-1] for seed in range(8)]
    assert sum(mine > theirs for mine, theirs in finals) >= 15
    assert sum(mine for mine, _ in finals) > 2 * sum(theirs for _, theirs in finals)
