"""Bumblebots as the original played it: every line that was recorded holds here too."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from botdrome.games.bumblebots import (
    DOCUMENTED,
    FLOWER,
    STEPS,
    Bumblebots,
    Hex,
    Orders,
    Rows,
    Swarm,
    unhindered,
)
from tests.games.bumblebots.arranged import Scripted, with_cells

FOLDER = Path(__file__).parent / "bumblebots"
Swarms = tuple[Swarm, ...]


def recorded(name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in (FOLDER / name).read_bytes().splitlines()]


def rows(board: list[list[int | None]]) -> Rows:
    return tuple(tuple(row) for row in board)


def by_seat(players: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(players.values())


def swarms_in(drones: dict[str, dict[str, dict[str, list[int]]]]) -> Swarms:
    return tuple(
        {name: (at["position"][0], at["position"][1]) for name, at in swarm.items()}
        for swarm in drones.values()
    )


def position_in(state: dict[str, Any]) -> Bumblebots:
    return Bumblebots(
        turn=state["turnNumber"],
        board=rows(state["board"]),
        spawn_points=DOCUMENTED.spawn_points,
        swarms=swarms_in(state["drones"]),
        due=tuple(tuple(ticks) for ticks in state["spawnDue"].values()),
        scores=by_seat(state["score"]),
    )


def parsed(position: Bumblebots, orders: dict[str, dict[str, Any]]) -> dict[int, Orders]:
    return {
        seat: position.parse(seat, {"orders": given}) for seat, given in enumerate(orders.values())
    }


def targets(swarm: Swarm, directions: dict[str, str]) -> dict[str, Hex]:
    return {
        drone: (swarm[drone][0] + STEPS[way][0], swarm[drone][1] + STEPS[way][1])
        for drone, way in directions.items()
    }


def spots(position: Bumblebots) -> list[list[Hex]]:
    """The places of the drones; their names may differ."""
    return [list(swarm.values()) for swarm in position.swarms]


MOVES = recorded("moves.jsonl")


@pytest.mark.no_cover
@pytest.mark.parametrize("line", MOVES, ids=range(len(MOVES)))
def test_moves(line: dict[str, Any]) -> None:
    position = Bumblebots(board=rows(line["board"]), swarms=swarms_in(line["drones"]))
    orders = parsed(position, line["orders"])
    for seat, accepted in enumerate(line["accepted"].values()):
        assert orders[seat].targets == targets(position.swarms[seat], accepted)
        assert orders[seat].invalid == len(by_seat(line["orders"])[seat]) - len(accepted)
    going = unhindered(position.swarms, orders.values())
    assert tuple(
        {**swarm, **{drone: going[drone] for drone in swarm if drone in going}}
        for swarm in position.swarms
    ) == swarms_in(line["dronesAfter"])


START, *TICKS = recorded("ticks.jsonl")
BEFORE = [START["start"], *(line["after"] for line in TICKS[:-1])]


def test_the_start() -> None:
    chance = Scripted(*START["draws"])
    position, expected = Bumblebots().start(2, chance), position_in(START["start"])
    assert not chance.left
    assert (position.board, position.spawn_points) == (expected.board, expected.spawn_points)
    assert spots(position) == spots(expected)


@pytest.mark.parametrize(
    ("before", "line"), list(zip(BEFORE, TICKS, strict=True)), ids=[line["tick"] for line in TICKS]
)
def test_ticks(before: dict[str, Any], line: dict[str, Any]) -> None:
    position, chance = position_in(before), Scripted(*line["draws"])
    orders = parsed(position, line["orders"])
    for seat, accepted in enumerate(line["accepted"].values()):
        assert orders[seat].targets == targets(position.swarms[seat], accepted)
    after, expected = position.play(orders, chance), position_in(line["after"])
    assert not chance.left
    assert (after.turn, after.board, after.due, after.scores) == (
        expected.turn,
        expected.board,
        expected.due,
        expected.scores,
    )
    assert spots(after) == spots(expected)
    assert after.over == (line["after"]["result"] is not None)


def test_a_whole_game_of_ticks_in_one_go() -> None:
    """From start to end on our own positions: names differ, so drones are told apart by where they
    are.
    """
    position = Bumblebots().start(2, Scripted(*START["draws"]))
    for before, line in zip(BEFORE, TICKS, strict=True):
        names = {at: name for swarm in position.swarms for name, at in swarm.items()}
        given = [
            {names[swarm[drone]]: way for drone, way in orders.items()}
            for swarm, orders in zip(
                swarms_in(before["drones"]), line["orders"].values(), strict=True
            )
        ]
        orders = {seat: position.parse(seat, mapping) for seat, mapping in enumerate(given)}
        position = position.play(orders, Scripted(*line["draws"]))
        assert position.board == rows(line["after"]["board"])
        assert spots(position) == spots(position_in(line["after"]))
    assert position.over
    assert position.scores == (5, 5)


UPDATES = recorded("updates.jsonl")


def new_flowers(before: Rows, after: Rows) -> dict[Hex, int]:
    cells = (
        (row, column)
        for row, values in enumerate(after)
        for column, value in enumerate(values)
        if value == FLOWER
    )
    return {(row, column): FLOWER for row, column in cells if before[row][column] != FLOWER}


def test_updates_over_the_wire() -> None:
    """A match as the bots saw it.

    Its draws were not recorded, so it may differ in where new flowers and new drones come.
    """
    position = Bumblebots().start(2, Scripted(*[n / 100 for n in range(12)]))
    for line, following in pairwise(UPDATES):
        update, after = line["update"], following["update"]
        seen, board = swarms_in(update["drones"]), rows(update["board"])
        position = replace(position, swarms=seen, board=board)
        position = position.play(parsed(position, line["orders"]), Scripted(*[0.99] * 7))
        flowers = new_flowers(board, rows(after["board"]))
        assert len(flowers) <= (after["turnNumber"] > 16)
        assert (position.turn, with_cells(position.board, flowers)) == (
            after["turnNumber"],
            rows(after["board"]),
        )
        assert position.scores == by_seat(after["score"])
        for before, ours, theirs in zip(
            seen, position.swarms, swarms_in(after["drones"]), strict=True
        ):
            assert len(ours) == len(theirs)
            assert known(ours, before) == known(theirs, before)


def known(swarm: Swarm, before: Swarm) -> Swarm:
    return {name: at for name, at in swarm.items() if name in before}


def test_an_update_has_the_keys_of_the_view() -> None:
    """Besides these a dialect adds the players and the result, and turns seats into names."""
    update, view = (
        UPDATES[0]["update"],
        Bumblebots().start(2, Scripted(*[n / 100 for n in range(12)])).view(None),
    )
    shared = update.keys() - {"bots", "result"}
    assert shared <= view.keys()
    seen = msgspec.json.decode(msgspec.json.encode(view))
    for key in ("board", "maxDrones", "turnNumber"):
        assert seen[key] == update[key]
    for key in ("spawnPoints", "territory", "score"):
        assert seen[key] == list(update[key].values())
    assert [list(swarm.values()) for swarm in seen["drones"]] == [
        list(swarm.values()) for swarm in update["drones"].values()
    ]
