"""The end of Bomberman, its scores, and its views."""

from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from botdrome.bots.bomberman import random
from botdrome.games.bomberman import CRATE, FREE, Bomberman
from botdrome.games.chance import Chance, SplitMix
from tests.games.bombermen import CHANCE, after, drawing, drawn, lined

FOUR = "A.....B .#.#.#. ....... .#.#.#. C.....D"


def random_round(position: Bomberman, chance: Chance) -> dict[int, Any]:
    return {
        seat: position.parse(seat, random(position.view(seat), chance)) for seat in position.to_move
    }


# The end and the scores.


def test_row_45_it_ends_when_one_is_left() -> None:
    position = after(drawn("A.....B .#.#.#. ......."), "A BOMB", *[""] * 4)
    assert (position.over, position.to_move, position.round) == (True, (), 5)
    assert position.scores == (0.0, 2.0)


def test_row_45_it_ends_when_nobody_is_left() -> None:
    position = after(drawn("A.B.... .#.#.#. ......."), "A BOMB", *[""] * 4)
    assert position.over
    assert position.scores == (0.0, 0.0)


def test_row_45_it_ends_after_the_last_round() -> None:
    last = after(drawn(FOUR, rounds=3), "", "")
    assert (last.over, last.to_move) == (False, (0, 1, 2, 3))
    assert (after(last, "").over, after(last, "").to_move) == (True, ())
    assert after(last, "").scores == (0.0, 0.0, 0.0, 0.0), (
        "nobody has outlived anybody, and nobody is alone"
    )


def test_row_46_a_point_for_everyone_that_one_outlives_and_one_for_the_last_alone() -> None:
    position = after(drawn(FOUR), "A BOMB", "B BOMB", "C BOMB", *[""] * 4)
    assert position.over
    assert position.scores == (0.0, 1.0, 2.0, 4.0)


def test_row_46_who_dies_in_the_same_round_gets_nothing_for_it() -> None:
    position = after(drawn(FOUR), "A BOMB, B BOMB", "C BOMB", *[""] * 4)
    assert position.scores == (0.0, 0.0, 2.0, 4.0)
    together = after(drawn(FOUR), "A BOMB", "C BOMB, B BOMB, D BOMB", *[""] * 4)
    assert together.scores == (0.0, 1.0, 1.0, 1.0)


def test_row_46_survivors_of_the_last_round_share() -> None:
    assert after(drawn(FOUR, rounds=5), "A BOMB", *[""] * 4).scores == (0.0, 1.0, 1.0, 1.0)


def test_bombs_of_the_dead_go_on() -> None:
    dead = after(
        drawn("A..B...C .#.#.#.# ........", bombs=2), "A BOMB", "B BOMB", "B RIGHT"
    ).without(1)
    assert drawing(dead) == lined("A..3...C .#.#.#.# ........")
    assert [user.bombs_left for user in after(dead, "", "").users] == [2, 2, 2]


# Leaving.


def test_who_leaves_dies_at_once_and_nobody_is_credited() -> None:
    position = drawn(FOUR).without(1)
    assert (position.to_move, position.round, position.at[1]) == ((0, 2, 3), 0, None)
    assert position.scores == (1.0, 0.0, 1.0, 1.0)
    assert [user.kills for user in position.users] == [0, 0, 0, 0]


def test_who_leaves_dies_in_the_round_that_is_being_played() -> None:
    """So a user that dies at its end has not outlived it."""
    position = after(after(drawn(FOUR), "A BOMB", *[""] * 3).without(1), "")
    assert position.scores == (0.0, 0.0, 2.0, 2.0)


def test_the_game_is_over_when_all_but_one_have_left() -> None:
    position = drawn(FOUR).without(1).without(0).without(3)
    assert position.over
    assert position.scores == (0.0, 0.0, 4.0, 0.0)
    assert position.without(2) is position, "and then it stays so"
    assert position.without(1) is position


def test_a_move_of_one_that_has_left_meanwhile_counts_for_nothing() -> None:
    position = drawn(FOUR)
    moves = {0: position.parse(0, "BOMB"), 1: position.parse(1, "DOWN"), 2: position.parse(2, "UP")}
    played = position.without(0).without(1).play(moves, CHANCE)
    assert drawing(played) == lined("....... .#.#.#. ....... C#.#.#. ......D")
    assert played.lying == ()


# Views.


def test_row_49_everybody_sees_the_same_but_for_who_looks() -> None:
    position = after(drawn(FOUR), "A BOMB")
    assert (
        position.view(0) | {"you": None} == position.view(3) | {"you": None} == position.view(None)
    )


def test_a_view_by_example() -> None:
    position = after(drawn("A.+....B .#.#.#.# ..r.....", closing=9, rounds=40), "A BOMB", "A DOWN")
    assert position.view(1) == {
        "you": 1,
        "toMove": (0, 1),
        "round": 2,
        "rounds": 40,
        "height": 3,
        "width": 8,
        "fuse": 4,
        "flamePierces": False,
        "tiles": ("..+.....", ".#.#.#.#", "........"),
        "users": [
            {
                "seat": 0,
                "at": (1, 0),
                "alive": True,
                "bombsLeft": 0,
                "range": 3,
                "kills": 0,
                "crates": 0,
                "upgrades": 0,
            },
            {
                "seat": 1,
                "at": (0, 7),
                "alive": True,
                "bombsLeft": 1,
                "range": 3,
                "kills": 0,
                "crates": 0,
                "upgrades": 0,
            },
        ],
        "bombs": [{"at": (0, 0), "turnsLeft": 3, "range": 3, "seat": 0}],
        "upgrades": [{"at": (2, 2), "type": "EXPLOSION_RANGE"}],
        "explosions": (),
        "closing": {"from": 9, "at": 9, "next": ((0, 0), (0, 7), (2, 0), (2, 7))},
    }


def test_row_44_a_dead_user_is_nowhere() -> None:
    view = after(drawn("A.....BC .#.#.#.# ........"), "A BOMB", *[""] * 4).view(0)
    assert (view["users"][0]["at"], view["users"][0]["alive"], view["toMove"]) == (
        None,
        False,
        (1, 2),
    )


def test_row_23_a_user_on_a_bomb_shows_and_so_does_the_bomb() -> None:
    view = after(drawn(FOUR), "A BOMB").view(None)
    assert view["users"][0]["at"] == view["bombs"][0]["at"] == (0, 0)


def test_a_bot_that_changes_its_view_changes_nobody_elses() -> None:
    position = after(drawn("A.+....B .#.#.#.# ..r....."), "A BOMB")
    before = msgspec.json.encode(position.view(0))
    view = position.view(0)
    for part in (view["users"][0], view["bombs"][0], view["upgrades"][0], view["closing"]):
        part.clear()
    for part in (view["users"], view["bombs"], view["upgrades"], view):
        part.clear()
    assert msgspec.json.encode(position.view(0)) == before


def other_contents(position: Bomberman) -> Bomberman:
    """The same position with something else in every crate: b for nothing, r for b,
    nothing for r.
    """
    table = str.maketrans(".br", "br.")
    hidden = [
        "".join(
            letter.translate(table) if tile == CRATE else FREE
            for tile, letter in zip(*rows, strict=True)
        )
        for rows in zip(position.tiles, position.hidden, strict=True)
    ]
    return replace(position, hidden=tuple(hidden))


@pytest.mark.parametrize("seed", range(8))
def test_row_13_what_is_in_the_crates_shows_to_nobody_until_one_burns(seed: int) -> None:
    chance = Chance(seed)
    start = one = Bomberman(crates=100).start(4, chance)
    two = other_contents(one)
    while one.tiles == start.tiles:
        for looker in (None, 0, 1, 2, 3):
            assert msgspec.json.encode(one.view(looker)) == msgspec.json.encode(two.view(looker))
        moves = random_round(one, chance)
        one, two = one.play(moves, chance), two.play(moves, chance)
    assert one.found != two.found
    assert replace(one, found=(), hidden=()) == replace(two, found=(), hidden=())


@pytest.mark.parametrize("seed", range(10))
def test_what_holds_after_every_round(seed: int) -> None:
    chance = Chance(seed)
    position = Bomberman(height=9, width=9, crates=30, bombs=2, upgrades=50).start(8, chance)
    while not position.over:
        before, position = position, position.play(random_round(position, chance), chance)
        standing = [place for place in position.at if place is not None]
        assert len(set(standing)) == len(standing), "two users never share a tile"
        assert all(position.tiles[row][column] == FREE for row, column in standing)
        mines = {bomb.at for bomb in before.lying}
        for old, new in zip(before.at, position.at, strict=True):
            assert new is None or new == old or new not in mines, "nobody enters a bomb's tile"
        for seat, user in enumerate(position.users):
            lying = sum(bomb.seat == seat for bomb in position.lying)
            assert user.bombs_left + lying + user.range == 2 + 3 + user.upgrades, (
                "bombs left are those that do not lie"
            )


def wandering_round(position: Bomberman, chance: Chance) -> dict[int, Any]:
    """Users that walk about and seldom place a bomb live long enough to see all that can happen."""
    moves = {}
    for seat in position.to_move:
        raws = list(position.moves(seat))
        bombs = [raw for raw in raws if raw["action"] == "PLACE_BOMB"]
        seldom = bombs and chance.below(8) == 0
        moves[seat] = position.parse(
            seat, chance.choice(bombs if seldom else [raw for raw in raws if raw not in bombs])
        )
    return moves


def test_a_golden_game() -> None:
    """The game of a fixed seed never changes, view by view."""
    chance, digest = SplitMix(124), sha256()
    position = Bomberman(height=9, width=11, upgrades=60, closing=12, rounds=60).start(6, chance)
    while not position.over:
        digest.update(msgspec.json.encode(position.view(None)))
        position = position.play(wandering_round(position, chance), chance)
    assert (position.round, position.scores) == (23, (0.0, 1.0, 3.0, 2.0, 3.0, 6.0))
    assert drawing(position) == lined(
        "####..F#### ##+#.#.#+## #+++++++++# ##+#+#+#+## ..+++++++.. ##+#+#+#+## #+++r+r+++# "
        "##+#.#.#+## ####...####"
    )
    assert [(user.kills, user.crates, user.upgrades) for user in position.users] == [
        (0, 2, 0), (0, 1, 0), (1, 1, 1), (0, 2, 0), (0, 2, 0), (0, 0, 0)
    ]  # fmt: skip
    assert digest.hexdigest()[:16] == "de2f14b82fbb6c4b"
