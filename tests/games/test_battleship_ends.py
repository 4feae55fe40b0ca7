"""How a game of battleship ends, its options and its recorded games."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from re import DOTALL, findall
from typing import Any

import msgspec
import pytest

from botdrome.bots.battleship import random
from botdrome.bots.house import seated
from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, View
from botdrome.games.options import options_in, with_options
from tests.games.test_battleship import (
    BOATS,
    FLEET,
    SKIP,
    SMALL,
    after,
    at,
    begun,
    refusal,
    shelled,
)

RECORDED = Path(__file__).with_name("battleship_recorded.jsonl")
PAGE = Path(__file__).parents[2] / "docs" / "games" / "battleship.md"
WATERS = [(x, y) for y in range(5) for x in range(5) if (x, y) not in BOATS]


# The end.


def duel(
    first: Iterable[tuple[int, int]], second: Iterable[tuple[int, int]], game: Battleship = SMALL
) -> Battleship:
    """Both shoot at the same fleet, in turn, until the game is over."""
    position = begun(2, game)
    for one, other in zip(first, second, strict=False):
        assert not position.over
        position = after(position, at(*one))
        assert position.to_move == (1,), "the round is always completed"
        position = after(position, at(*other))
    return position


def test_the_goal_ends_the_game_with_the_round() -> None:
    position = duel(BOATS, WATERS)
    assert position.over
    assert position.to_move == ()
    assert position.scores == (5, 0)
    assert position.view(None)["turns"] == (5, 5)


def test_the_last_shot_of_the_round_may_tie() -> None:
    position = duel(BOATS, BOATS)
    assert position.over
    assert position.scores == (5, 5)


def test_the_second_seat_may_reach_the_goal_first() -> None:
    position = duel(WATERS, BOATS)
    assert position.over
    assert position.scores == (0, 5)


def test_the_fleets_are_shown_when_it_is_over() -> None:
    position = duel(BOATS, WATERS)
    view = position.view(None)
    assert view["phase"] == "over"
    assert view["fleets"] == (
        ("AAA00", "000..", "....B", "....B", "....."),
        ("aaa..", ".....", "....b", "....b", "....."),
    )
    assert view["boards"][1] == ("XXX..", ".....", "....X", "....X", ".....")
    assert duel(BOATS[:4], WATERS).view(None)["fleets"] is None


def test_a_lower_goal_ends_it_earlier() -> None:
    game = with_options(SMALL, {"goal": "2"})
    assert not duel(BOATS[:1], WATERS, game).over
    assert duel(BOATS[:2], WATERS, game).over
    assert game.start(2, Chance(0)).view(0)["goal"] == 2
    assert SMALL.start(2, Chance(0)).view(0)["goal"] == 5


def test_when_nothing_is_left_to_hit_the_goal_is_reached() -> None:
    position = begun(3)
    for x, y in BOATS:
        assert not position.over
        position = after(position, at(x, y, target=1), at(x, y, target=2), at(x, y, target=0))
    assert position.over
    assert position.scores == (5, 5, 5)


def test_skippers_end_at_the_limit_of_rounds() -> None:
    position = after(begun(2, with_options(SMALL, {"rounds": 3})), *[SKIP] * 5)
    assert position.to_move == (1,)
    assert after(position, SKIP).over
    assert after(position, SKIP).scores == (0, 0)


def test_without_a_limit_they_go_on() -> None:
    position = after(begun(2, with_options(SMALL, {"rounds": 0})), *[SKIP] * 2500)
    assert not position.over
    assert after(begun(), *[SKIP] * 2000).over, "by default there is one of a thousand rounds"


# Options.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"boats": ""}, "boats: there is none"),
        ({"boats": "A5 B9"}, "boats: 'B9' is not a boat"),
        ({"width": 7, "height": 7, "boats": "A8"}, "boats: A8 is too long for a board of 7 by 7"),
        (
            {"width": 5, "height": 6},
            "boats: they cover 17 squares, more than half of a board of 5 by 6",
        ),
        ({"goal": 18}, "goal: 18 is more than the 17 squares of a fleet"),
    ],
)
def test_options_must_fit_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        with_options(Battleship(), options).start(2, Chance(0))


@pytest.mark.parametrize(
    "options", [{"width": 4}, {"height": 27}, {"goal": -1}, {"rounds": -1}, {"size": 10}]
)
def test_options_have_their_limits(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        with_options(Battleship(), options)


def test_the_standard_game() -> None:
    assert options_in(Battleship()) == {
        "width": 10,
        "height": 10,
        "boats": "A5 B4 C3 D3 E2",
        "goal": 0,
        "rounds": 1000,
    }
    view = Battleship().start(9, Chance(0)).view(8)
    assert view["boats"] == ("A5", "B4", "C3", "D3", "E2")
    assert (view["width"], view["height"], view["goal"], view["rounds"]) == (10, 10, 17, 1000)


def test_width_and_height_are_not_mixed_up() -> None:
    position = Battleship(width=8, height=5, boats="A5").start(2, Chance(0))
    board = ["........", "...AAAAA", "........", "........", "........"]
    position = position.play(
        {seat: position.parse(seat, {"board": board}) for seat in range(2)}, Chance(0)
    )
    assert after(position, at(7, 1)).view(0)["boards"][1] == (
        "........",
        ".......X",
        "........",
        "........",
        "........",
    )
    assert refusal(position, at(8, 1)) == "x is from 0 to 7, not 8"
    assert refusal(position, at(1, 5)) == "y is from 0 to 4, not 5"


# Moves that are listed.


def test_every_square_of_others_that_nobody_shot_at_is_listed() -> None:
    position = after(begun(3), at(1, 0, target=2), at(2, 2, target=0))
    shots = list(position.moves(2))
    assert shots.pop() == SKIP
    assert len(shots) == 24 + 25
    assert {shot["target"] for shot in shots} == {0, 1}
    assert at(2, 2, target=0) not in shots


def test_some_fleets_are_listed() -> None:
    fleets = [raw["board"] for raw in SMALL.start(2, Chance(0)).moves(0)]
    assert len({tuple(fleet) for fleet in fleets}) > 3


# Whole games.


@pytest.mark.parametrize(
    "line",
    RECORDED.read_bytes().splitlines(),
    ids=lambda line: str(msgspec.json.decode(line)["recording"]),
)
def test_games_of_the_original_go_the_same_way(line: bytes) -> None:
    recorded = msgspec.json.decode(line)
    position = Battleship().start(2, Chance(0))
    placed = {
        seat: position.parse(seat, {"board": fleet})
        for seat, fleet in enumerate(recorded["fleets"])
    }
    position = position.play(placed, Chance(0))
    for x, y, hit in recorded["shots"]:
        assert not position.over
        position = after(position, at(x, y))
        assert position.view(None)["last"]["hit"] == hit
    assert position.over
    view = position.view(None)
    assert ["".join(board) for board in view["boards"]] == recorded["boards"]
    assert [list(view[key]) for key in ("scores", "skips", "turns")] == [
        recorded[key] for key in ("scores", "skips", "turns")
    ]
    assert view["round"] == recorded["rounds"]


def story(players: int, seed: int) -> list[View]:
    chance = Chance(seed)
    bots = [seated(random, seed + seat) for seat in range(players)]
    position, views = Battleship().start(players, chance), []
    while not position.over:
        raws = {seat: bots[seat](position.view(seat)) for seat in position.to_move}
        position = position.play(
            {seat: position.parse(seat, raw) for seat, raw in raws.items()}, chance
        )
        views.append(position.view(None))
    return views


def test_a_golden_game() -> None:
    views = story(players=3, seed=11)
    assert len(views) == 214
    assert views[-1]["scores"] == (10, 17, 15)
    assert sha256(msgspec.json.encode(views)).hexdigest()[:16] == "4cc2f7602e5692b7"


def test_the_examples_of_the_page_are_true() -> None:
    blocks = findall(r"```json\n(.*?)```", PAGE.read_text(), DOTALL)
    view, text, rows, shot, skip = map(msgspec.json.decode, blocks)
    start = SMALL.start(2, Chance(0))
    assert start.parse(1, text) == start.parse(1, rows)
    position = start.play({0: start.parse(0, {"board": FLEET}), 1: start.parse(1, rows)}, Chance(0))
    position = after(position, at(4, 2), at(0, 0), at(2, 1), at(1, 1), at(4, 1))
    assert msgspec.json.decode(msgspec.json.encode(position.view(1))) == view
    assert after(position, shot).scores == (2, 2)
    assert after(position, skip).view(None)["skips"] == (0, 1)


SUNK, ALL_BUT_ONE = (
    ["aaa..", ".....", "....b", "....b", "....."],
    ["aaa..", ".....", "....b", "....B", "....."],
)


@pytest.mark.parametrize(
    ("fleets", "absent", "decided"),
    [
        ([SUNK, SUNK], (), True),
        ([SUNK, ALL_BUT_ONE], (), False),
        ([SUNK, FLEET], (1,), True),
        ([FLEET, SUNK], (1,), False),
        ([ALL_BUT_ONE, SUNK], (1,), False),
        ([FLEET, FLEET], (0, 1), True),
        ([], (0, 1), False),
    ],
)
def test_a_game_is_decided_when_every_fleet_is_sunk_or_its_player_absent(
    fleets: list[list[str]], absent: tuple[int, ...], decided: bool
) -> None:
    assert shelled(["".join(rows) for rows in fleets]).decided(absent) is decided
