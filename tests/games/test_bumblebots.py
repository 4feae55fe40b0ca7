"""Bumblebots: start, orders, views and options."""

import hashlib
from typing import Any

import msgspec
import pytest

from botdrome.bots.bumblebots import random
from botdrome.catalogue import CATALOGUE
from botdrome.games.bumblebots import (
    EMPTY,
    FLOWER,
    FORENAMES,
    KIND,
    UNKIND,
    WALL,
    Bumblebots,
    FirstBumblebots,
    Hex,
    Orders,
    Swarm,
)
from botdrome.games.chance import Chance, SplitMix
from botdrome.games.game import BadOption, IllegalMove, Raw
from botdrome.games.options import options_of, with_options
from botdrome.match.match import Match
from tests.games.bumblebots.arranged import LEFT, MIDDLE, RIGHT, START, Scripted, position

# The start.


def test_the_drones_start_on_their_spawn_points() -> None:
    one, two = START.swarms
    assert list(one.values()) == [(1, 3), (1, 4), (1, 5)]
    assert list(two.values()) == [(13, 11), (13, 10), (13, 9)]
    assert START.spawn_points == (tuple(one.values()), tuple(two.values()))
    assert (START.turn, START.scores, START.to_move, START.over) == (0, (0, 0), (0, 1), False)


def test_names_are_an_adjective_and_a_forename() -> None:
    one, two = START.swarms
    assert all(
        any(name == kind + forename for kind in KIND for forename in FORENAMES) for name in one
    )
    assert all(
        any(name == unkind + forename for unkind in UNKIND for forename in FORENAMES)
        for name in two
    )


def test_the_words_make_no_name_in_two_ways() -> None:
    assert (len(KIND), len(UNKIND), len(FORENAMES)) == (90, 92, 121)
    words = [*KIND, *UNKIND, *FORENAMES]
    assert len(set(words)) == len(words)
    assert all(word.isalpha() and word.istitle() for word in words)


def test_a_name_that_is_taken_is_drawn_again() -> None:
    clash = [0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.5]
    others = [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    chance = Scripted(*clash, *others)
    one, _ = Bumblebots().start(2, chance).swarms
    assert list(one) == [KIND[0] + FORENAMES[0], KIND[45] + FORENAMES[60], KIND[0] + FORENAMES[60]]
    assert not chance.left


# Orders.

ALONE = position({"Ann": MIDDLE}, {"Bob": (9, 9)})


@pytest.mark.parametrize(
    "raw", [{"orders": {"Ann": "R"}}, {"Ann": "R"}, {"orders": {"Ann": "R"}, "hello": 1}]
)
def test_orders_may_be_wrapped_or_bare(raw: Raw) -> None:
    assert ALONE.parse(0, raw) == Orders({"Ann": (7, 8)}, 0)


@pytest.mark.parametrize(
    ("raw", "invalid"),
    [({}, 0), ({"Eve": "R"}, 1), ([], 1), (["R"], 1), ("R", 1), (True, 1), (7, 1)],
)
def test_orders_without_use_are_orders(raw: Raw, invalid: int) -> None:
    """As on the original: they replace those before them."""
    assert ALONE.parse(0, {"orders": raw}) == Orders({}, invalid)


@pytest.mark.parametrize(
    "later", [{}, {"foo": 1}, {"orders": None}, {"orders": False}, {"Eve": "R"}, [], 5]
)
def test_a_message_without_orders_leaves_those_before_it_alone(later: Raw) -> None:
    match = Match(Bumblebots(), 2, CATALOGUE["bumblebots"].terms, seed=1)
    match.start()
    drone = next(iter(match.position.view(None)["drones"][0]))
    match.submit(0, {"orders": {drone: "DR"}}, 10)
    match.submit(0, later, 20)
    match.wake(500)
    assert match.position.view(None)["drones"][0][drone] == {"position": (2, 4)}


def test_a_later_message_with_orders_replaces_those_before_it() -> None:
    match = Match(Bumblebots(), 2, CATALOGUE["bumblebots"].terms, seed=1)
    match.start()
    drone = next(iter(match.position.view(None)["drones"][0]))
    match.submit(0, {"orders": {drone: "DR"}}, 10)
    match.submit(0, {"orders": {}}, 20)
    match.wake(500)
    assert match.position.view(None)["drones"][0][drone] == {"position": (1, 3)}


def test_the_first_rules_took_every_object_for_orders() -> None:
    first = with_options(Bumblebots(), {"ticks": 7}).by_rules(1)
    assert isinstance(first, FirstBumblebots)
    assert (first.rules, first.ticks, first.by_rules(1)) == (1, 7, first)
    begun = first.start(2, Chance(1))
    assert begun.parse(0, {}) == begun.parse(0, {"orders": {}}) == Orders({}, 0)
    assert begun.parse(0, {"foo": 1}) == Orders({}, 1)
    with pytest.raises(IllegalMove, match=r"not \[\]$"):
        begun.parse(0, {"orders": []})
    with pytest.raises(BadOption, match="version 3 of the rules of bumblebots, and this is 2"):
        Bumblebots().by_rules(3)


@pytest.mark.parametrize(
    ("way", "target"),
    [("UL", (6, 6)), ("UR", (6, 7)), ("R", (7, 8)), ("DR", (8, 8)), ("DL", (8, 7)), ("L", (7, 6))],
)
def test_the_six_directions(way: str, target: Hex) -> None:
    assert ALONE.parse(0, {"Ann": way}).targets == {"Ann": target}


@pytest.mark.parametrize(
    "drone", ["Bob", "Eve", "ann", "Ann ", " Ann", "", "toString", "__class__", "constructor"]
)
def test_an_order_to_no_drone_of_yours_is_dropped(drone: str) -> None:
    assert ALONE.parse(0, {"orders": {drone: "R", "Ann": "L"}}) == Orders({"Ann": (7, 6)}, 1)


@pytest.mark.parametrize(
    "way",
    ["", "r", "R ", "X", "toString", "__class__", None, True, 1, 0.5, 10**30, [], ["R"], {"R": 1}],
)
def test_an_order_without_a_direction_is_dropped(way: Any) -> None:
    assert ALONE.parse(0, {"orders": {"Ann": way}}) == Orders({}, 1)


def test_a_name_may_hold_blanks() -> None:
    assert position({"Fussy Edith ": MIDDLE}).parse(0, {"Fussy Edith ": "R"}).targets == {
        "Fussy Edith ": (7, 8)
    }


@pytest.mark.parametrize(("cell", "seat", "goes"), [
    (EMPTY, 0, True), (FLOWER, 0, True), (5, 0, True), (6, 0, False), (WALL, 0, False),
    (EMPTY, 1, True), (FLOWER, 1, True), (5, 1, False), (6, 1, True), (WALL, 1, False),
])  # fmt: skip
def test_where_a_drone_may_go(cell: int, seat: int, goes: bool) -> None:
    swarms: tuple[Swarm, Swarm] = ({}, {})
    swarms[seat]["Ann"] = MIDDLE
    orders = position(*swarms, cells={RIGHT: cell}).parse(seat, {"Ann": "R"})
    assert orders == (Orders({"Ann": RIGHT}, 0) if goes else Orders({}, 1))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "a move is a JSON object, not None"),
        ([], "a move is a JSON object, not []"),
        ("R", "a move is a JSON object, not 'R'"),
        (True, "a move is a JSON object, not True"),
        ({"orders": None}, '"orders" is an object from drones to directions, not None'),
        ({"orders": ""}, "\"orders\" is an object from drones to directions, not ''"),
        ({"orders": 0}, '"orders" is an object from drones to directions, not 0'),
        ({"orders": False}, '"orders" is an object from drones to directions, not False'),
        ({}, 'there are no orders: neither the key "orders" nor a drone of yours'),
        ({"foo": 1}, 'there are no orders: neither the key "orders" nor a drone of yours'),
        ({"Eve": "R"}, 'there are no orders: neither the key "orders" nor a drone of yours'),
    ],
)
def test_what_is_refused(raw: Raw, words: str) -> None:
    with pytest.raises(IllegalMove) as fault:
        ALONE.parse(0, raw)
    assert str(fault.value) == words


def test_the_moves_that_are_listed() -> None:
    beside_a_wall = position({"Ann": (1, 1), "Bea": MIDDLE})
    assert list(beside_a_wall.moves(0)) == [
        {"orders": {}},
        *({"orders": {"Ann": way}} for way in ("R", "DR", "DL")),
        *({"orders": {"Bea": way}} for way in ("UL", "UR", "R", "DR", "DL", "L")),
    ]


# Statistics of the bots.


def test_the_record() -> None:
    before = position({"Ann": LEFT, "Bea": (1, 1), "Cat": (4, 6)}, {"Bob": RIGHT})
    first = before.parse(0, {"Ann": "R", "Bea": "UL", "Cat": "R", "Eve": "R"})
    after = before.play({0: first, 1: before.parse(1, {"Bob": "L"})}, Chance(0)).play(
        {1: Orders({}, 0)}, Chance(0)
    )
    assert after.record == ((1, 2, 1), (0, 0, 1))
    assert after.view(None)["record"] == [
        {"missed": 1, "invalid": 2, "blocked": 1},
        {"missed": 0, "invalid": 0, "blocked": 1},
    ]


# The view.


def test_the_view() -> None:
    view = position({"Ann": MIDDLE}, {"Bob": (9, 9)}, turn=3).view(1)
    assert view | {"board": None} == {
        "you": 1,
        "toMove": (0, 1),
        "turnNumber": 3,
        "ticks": 100,
        "board": None,
        "spawnPoints": (((1, 3), (1, 4), (1, 5)), ((13, 11), (13, 10), (13, 9))),
        "territory": (5, 6),
        "maxDrones": 3,
        "drones": [{"Ann": {"position": (7, 7)}}, {"Bob": {"position": (9, 9)}}],
        "score": (0, 0),
        "record": [{"missed": 0, "invalid": 0, "blocked": 0}] * 2,
    }
    assert view["board"][7] == (1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 1)
    assert view["board"][13] == (None, None, None, None, None, None, 1, 0, 0, 6, 6, 6, 0, 0, 1)


def test_all_see_the_same() -> None:
    assert START.view(None) == START.view(0) | {"you": None} == START.view(1) | {"you": None}


# Options.


def test_the_options() -> None:
    assert {name: option.default for name, option in options_of(Bumblebots).items()} == {
        "ticks": 100, "arena": "documented", "side": 8, "walls": 14, "starts": "facing",
        "drones": 3, "flowers": 3,
    }  # fmt: skip
    assert with_options(Bumblebots(), {"arena": "drawn", "side": "5"}) == Bumblebots(
        arena="drawn", side=5
    )


@pytest.mark.parametrize(
    "given", [{"side": 9}, {"walls": 0}, {"starts": "drawn"}, {"drones": 4}, {"flowers": 2}]
)
def test_the_documented_arena_cannot_be_changed(given: dict[str, Any]) -> None:
    [option] = given
    with pytest.raises(
        BadOption,
        match=f"^{option}: the documented arena has its own; it can be chosen where the arena is "
        "drawn$",
    ):
        with_options(Bumblebots(), given).start(2, Chance(0))


@pytest.mark.parametrize(
    "given",
    [
        {"ticks": 0},
        {"arena": "round"},
        {"side": 3},
        {"walls": 41},
        {"starts": "far"},
        {"drones": 0},
        {"flowers": -1},
    ],
)
def test_what_an_option_cannot_be(given: dict[str, Any]) -> None:
    [option] = given
    with pytest.raises(BadOption, match=option):
        with_options(Bumblebots(), given)


# A whole game.


def test_a_golden_game() -> None:
    position, chance, own = Bumblebots().start(2, SplitMix(2024)), SplitMix(2024), SplitMix(1)
    digest = hashlib.sha256()
    for step in range(100):
        digest.update(msgspec.json.encode(position.view(None)))
        moves = {
            seat: position.parse(seat, random(position.view(seat), own))
            for seat in position.to_move
        }
        position = position.play(moves, chance.turn_to(step))
    assert position.over
    assert position.scores == (4, 3)
    assert digest.hexdigest() == "36646442ac386f541164d34dd8a17b9ee7b00d6608ad5b39d0cd38c31fb7bac4"
