"""The bombs in Battlecube's state of play."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.games.battlecube import Battlecube, Cell
from botdrome.games.chance import Chance
from botdrome.wire import cube as cube_bombs
from botdrome.wire.cube import ENCODER, MOST_OUTSIDE, BombPile, CubeWriter, shown_bombs


def test_bombs_outside_the_cube_are_shown_and_not_without_end() -> None:
    inside, outside = (
        [(x, y, 0) for x in range(40) for y in range(40)],
        [(40, 0, z) for z in range(MOST_OUTSIDE)],
    )
    assert shown_bombs(outside, 40) == outside
    assert shown_bombs(inside, 40) == inside
    assert shown_bombs([*inside, *outside], 40) == [*inside, *outside]
    assert shown_bombs([(99, 9, 9), (98, 9, 9), *inside, *outside], 40) == [*inside, *outside], (
        "the oldest are left out"
    )


def items(bombs: tuple[Cell, ...], edge: int) -> list[Any]:
    return [{"x": x, "y": y, "z": z, "type": "BOMB"} for x, y, z in shown_bombs(bombs, edge)]


def test_a_pile_writes_the_same_as_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bombs come in and outside of the cube, some are gone again, and now and then it is another
    cube.
    """
    monkeypatch.setattr(cube_bombs, "MOST_OUTSIDE", 5)
    pile, chance, bombs, edge = BombPile(), Chance(5), dict[Cell, None](), 4
    for _ in range(500):
        for _ in range(chance.below(4)):
            bombs[chance.below(8), chance.below(8), chance.below(8)] = None
        for cell in list(bombs):
            if chance.below(200) == 0:
                del bombs[cell]
        if chance.below(50) == 0:
            edge = 2 + chance.below(8)
        shown = tuple(bombs)
        assert json.loads(bytes(pile.written(shown, edge))) == items(shown, edge)
    assert len(bombs) > 100


def test_of_a_great_many_bombs_only_the_new_ones_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Cell] = []

    class Pen(bytes):
        def __mod__(self, cell: Any) -> bytes:
            written.append(cell)
            return super().__mod__(cell)

    monkeypatch.setattr(cube_bombs, "A_BOMB", Pen(cube_bombs.A_BOMB))
    bombs = tuple((x, y, 1) for x in range(40) for y in range(40))
    game = replace(Battlecube(edge=40).start(2, Chance(1)), bombs=bombs, mined=frozenset(bombs))
    writer = CubeWriter("abc", ("Ann", "Bob"), (), game)
    assert json.loads(ENCODER.encode(writer.state(game)))["items"] == items(bombs, 40)
    assert len(written) == 1600
    after = game.play({0: ((39, 39, 39),), 1: ((38, 39, 39),)}, Chance(1))
    assert json.loads(ENCODER.encode(writer.state(after)))["items"] == items(after.bombs, 40)
    assert writer.state(after) is writer.state(after), "what several are told is made once"
    assert written[1600:] == [(39, 39, 39), (38, 39, 39)]
