"""The rules of battleship."""

from collections.abc import Sequence
from typing import Any

import pytest

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove, Raw
from botdrome.games.options import with_options

SMALL = Battleship(width=5, height=5, boats="A3 B2")
FLEET = ["AAA..", ".....", "....B", "....B", "....."]
SKIP = {"skip": True}


def begun(players: int = 2, game: Battleship = SMALL) -> Battleship:
    """All have the same fleet, and seat 0 is to shoot."""
    position = game.start(players, Chance(0))
    return position.play(
        {seat: position.parse(seat, {"board": FLEET}) for seat in range(players)}, Chance(0)
    )


def after(position: Battleship, *raws: Raw) -> Battleship:
    for raw in raws:
        (seat,) = position.to_move
        position = position.play({seat: position.parse(seat, raw)}, Chance(0))
    return position


def at(x: int, y: int, target: int | None = None) -> Raw:
    return {"x": x, "y": y} | ({} if target is None else {"target": target})


def refusal(position: Battleship, raw: Raw, seat: int = 0) -> str:
    with pytest.raises(IllegalMove) as fault:
        position.parse(seat, raw)
    return str(fault.value)


BOATS = [(0, 0), (1, 0), (2, 0), (4, 2), (4, 3)]


# Placing.


def test_all_place_at_once_and_in_secret() -> None:
    position = SMALL.start(3, Chance(0))
    assert position.to_move == (0, 1, 2)
    assert position.secret
    position = begun(3)
    assert position.to_move == (0,)
    assert not position.secret


def shelled(fleets: Sequence[str], **changes: Any) -> Battleship:
    """A position with these fleets: letters are lower case where they are hit."""
    boards = ["".join("X" if square.islower() else "." for square in fleet) for fleet in fleets]
    placed = tuple(fleet.upper() for fleet in fleets)
    return Battleship(placed=placed, boards=tuple(boards), **changes)


def test_before_the_fleets_are_placed_there_is_nothing_to_see() -> None:
    position = SMALL.start(2, Chance(0))
    view = position.view(1)
    assert view["phase"] == "placement"
    assert view["placed"] == (False, False)
    assert view["own"] is view["fleets"] is view["last"] is None
    assert view["boards"] == ((".....",) * 5,) * 2


def test_a_fleet_is_sent_as_text_or_as_rows() -> None:
    position = SMALL.start(2, Chance(0))
    assert (
        position.parse(0, {"board": FLEET})
        == position.parse(0, {"board": "".join(FLEET)})
        == "".join(FLEET)
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("".join(FLEET), "a move is a JSON object, not 'AAA...........B....B.....'"),
        ({"x": 1, "y": 1}, 'the key "board" is missing'),
        ({"board": "AAA"}, "a board has 25 squares (5 rows of 5), not 3"),
        ({"board": FLEET[:4]}, "a board has 5 rows, not 4"),
        (
            {"board": "AA." + "".join(FLEET)[3:]},
            "boat A is 2 long, it should be 3 (it begins at x 0, y 0)",
        ),
    ],
)
def test_what_is_no_fleet_is_refused(raw: Raw, words: str) -> None:
    assert refusal(SMALL.start(2, Chance(0)), raw) == words


def test_who_lets_the_placing_pass_gets_a_fleet_by_chance() -> None:
    start = SMALL.start(3, Chance(0))
    position = start.play({1: start.parse(1, {"board": FLEET})}, Chance(6))
    first, own, third = (position.view(seat)["own"] for seat in range(3))
    assert own == tuple(FLEET)
    assert first != third
    for fleet in (first, third):
        start.parse(0, {"board": fleet})
    assert start.play({}, Chance(6)) != start.play({}, Chance(7))


# Shooting.


def test_a_hit_is_a_point_and_the_turn_goes_on_to_the_next_seat() -> None:
    position = after(begun(), at(1, 0))
    assert position.scores == (1, 0)
    assert position.to_move == (1,)
    view = position.view(1)
    assert view["boards"] == (
        (".....",) * 5,
        (
            ".X...",
            *[
                ".....",
            ]
            * 4,
        ),
    )
    assert view["own"] == ("AaA..", *FLEET[1:])
    assert view["last"] == {"shooter": 0, "target": 1, "x": 1, "y": 0, "hit": True}


def test_a_miss_is_none() -> None:
    position = after(begun(), at(1, 0), at(3, 4))
    assert position.scores == (1, 0)
    assert position.to_move == (0,)
    view = position.view(0)
    assert view["boards"][0] == (".....", ".....", ".....", ".....", "...0.")
    assert view["own"] == (*FLEET[:4], "...0.")
    assert view["last"] == {"shooter": 1, "target": 0, "x": 3, "y": 4, "hit": False}


def test_others_see_hits_and_misses_alone() -> None:
    position = after(begun(3), at(1, 0, target=2), at(2, 2, target=2))
    assert position.view(0)["boards"][2] == (".X...", ".....", "..0..", ".....", ".....")
    assert position.view(0)["own"] == tuple(FLEET)
    assert position.view(2)["own"] == ("AaA..", ".....", "..0.B", "....B", ".....")
    assert position.view(None)["own"] is None
    hidden = [position.view(seat) for seat in (None, 0, 1)]
    assert not any("a" in row for view in hidden for board in view["boards"] for row in board)


def test_games_that_differ_in_what_is_hidden_look_alike_until_the_end() -> None:
    """The other fleet of seat 1 agrees with the first wherever a shot falls."""
    start = with_options(SMALL, {"goal": 2}).start(2, Chance(0))
    other = ["A....", "A....", "A....", ".....", "...BB"]
    one, two = (
        start.play({0: "".join(FLEET), 1: "".join(fleet)}, Chance(0)) for fleet in (FLEET, other)
    )
    for raw in (at(0, 0), at(4, 0), at(3, 3), at(1, 0), at(1, 1), SKIP):
        one, two = after(one, raw), after(two, raw)
        for looker in (None, 0):
            assert one.view(looker) == two.view(looker)
        assert one.view(1) != two.view(1)
    end = [after(position, SKIP, at(2, 0)).view(0) for position in (one, two)]
    assert end[0]["phase"] == end[1]["phase"] == "over"
    assert end[0]["fleets"] != end[1]["fleets"]


def test_with_one_opponent_the_target_need_not_be_named() -> None:
    position = begun()
    assert position.parse(0, at(1, 0)) == position.parse(0, at(1, 0, target=1))
    assert position.parse(1, at(1, 0)) == position.parse(1, at(1, 0, target=0))
    assert refusal(begun(3), at(1, 0)) == 'the key "target" is missing'


def test_whole_numbers_may_be_written_as_floats() -> None:
    position = begun(3)
    assert position.parse(0, {"target": 2.0, "x": 1.0, "y": -0.0}) == position.parse(
        0, at(1, 0, target=2)
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "a move is a JSON object, not None"),
        ({"board": FLEET}, 'the key "target" is missing'),
        (at(1, 1, target=0), "don't shoot at yourself"),
        (at(1, 1, target=3), "there is no seat 3; seats are from 0 to 2"),
        (at(1, 1, target=-1), "there is no seat -1; seats are from 0 to 2"),
        ({"target": True, "x": 1, "y": 1}, "target is a whole number, not True"),
        ({"target": "1", "x": 1, "y": 1}, "target is a whole number, not '1'"),
        ({"target": 1, "y": 1}, 'the key "x" is missing'),
        ({"target": 1, "x": 1}, 'the key "y" is missing'),
        (at(5, 1, target=1), "x is from 0 to 4, not 5"),
        (at(1, -1, target=1), "y is from 0 to 4, not -1"),
        ({"target": 1, "x": 1.5, "y": 1}, "x is a whole number, not 1.5"),
        ({"target": 1, "x": 1, "y": float("nan")}, "y is a whole number, not nan"),
        ({"target": 1, "x": float("inf"), "y": 1}, "x is a whole number, not inf"),
        (at(2, 4, target=1), "x 2, y 4 of seat 1 has already been shot at"),
        (at(2, 0, target=2), "x 2, y 0 of seat 2 has already been shot at"),
        ({"skip": 1}, "skip is true or false, not 1"),
        ({"skip": False}, 'the key "target" is missing'),
    ],
)
def test_what_is_no_shot_is_refused(raw: Raw, words: str) -> None:
    position = after(begun(3), at(2, 4, target=1), at(2, 0, target=2), SKIP)
    assert refusal(position, raw) == words


def test_a_board_of_which_all_boats_are_sunk_may_still_be_shot_at() -> None:
    position = begun(3)
    for turn, (x, y) in enumerate(BOATS):
        position = after(
            position, *[at(x, y, target=2) if seat == turn % 2 else SKIP for seat in range(3)]
        )
    assert position.scores == (3, 2, 0)
    assert after(position, at(4, 4, target=2)).view(None)["last"]["hit"] is False


# Skips.


def test_a_skip_is_a_turn_and_counts_as_one() -> None:
    position = after(begun(3), at(4, 4, target=1), SKIP, {"skip": True, "reason": "thinking"}, SKIP)
    view = position.view(None)
    assert view["skips"] == (1, 1, 1)
    assert view["turns"] == (2, 1, 1)
    assert view["round"] == 1
    assert view["last"] == {"shooter": 0, "skip": True}
    assert view["toMove"] == (1,)


def test_who_lets_a_turn_pass_skips() -> None:
    position = begun()
    assert position.play({}, Chance(0)) == after(position, SKIP)
    assert position.without(0) == position


def test_a_shot_may_say_that_it_is_no_skip() -> None:
    assert after(begun(), at(0, 0) | {"skip": False}).scores == (1, 0)
