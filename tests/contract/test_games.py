"""The rules that every game keeps."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw, Seat
from tests.contract.setups import Setup, setups

SETUPS = setups()
NAMES = [f"{game.name}-{players}-{number}" for number, (game, players) in enumerate(SETUPS)]
every_setup = pytest.mark.parametrize("setup", SETUPS, ids=NAMES)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def encoded(view: Any) -> bytes:
    return msgspec.json.encode(view)


def moves_at(position: Game[Any], bots: list[Any]) -> dict[Seat, Raw]:
    return {seat: bots[seat](house_view(position, seat)) for seat in position.to_move}


def positions(
    setup: Setup, seed: int, limit: int = 5000
) -> Iterator[tuple[Game[Any], dict[Seat, Raw]]]:
    """A game of random bots, position by position with the moves that follow; the last has none."""
    game, players = setup
    bots = [seated(house_bots(game.name)["random"], seed * 100 + seat) for seat in range(players)]
    chance = Chance(seed)
    position = game.start(players, chance)
    for step in range(limit):
        raws = {} if position.over else moves_at(position, bots)
        yield position, raws
        if position.over:
            return
        parsed = {seat: position.parse(seat, raw) for seat, raw in raws.items()}
        position = position.play(parsed, chance.turn_to(step))
    raise AssertionError(f"{game.name} did not end in {limit} steps")


@pytest.mark.no_cover
@every_setup
@pytest.mark.parametrize("seed", range(3))
def test_a_game_of_random_bots_ends(setup: Setup, seed: int) -> None:
    last, _ = list(positions(setup, seed))[-1]
    assert last.over
    assert not last.to_move
    assert len(last.scores) == setup[1]
    names = [f"player {seat}" for seat in range(setup[1])]
    assert last.verdict(names)


@every_setup
def test_every_move_of_a_random_bot_is_listed(setup: Setup) -> None:
    """Unless the game says that its list has only examples or parts of moves."""
    for position, raws in islice(positions(setup, seed=1), 12):
        for seat, raw in raws.items():
            listed = [position.parse(seat, move) for move in islice(position.moves(seat), 2000)]
            if position.lists_all_moves and len(listed) < 2000:
                assert position.parse(seat, raw) in listed


@every_setup
def test_it_never_fails_whoever_moves(setup: Setup) -> None:
    game, players = setup
    bots = [seated(house_bots(game.name)["random"], seat) for seat in range(players)]
    chance, coin = Chance(1), Chance(2)
    position = game.start(players, chance)
    for step in range(300):
        if position.over:
            break
        before = encoded(position.view(None))
        some = {seat: raw for seat, raw in moves_at(position, bots).items() if coin.below(2)}
        after = position.play(
            {seat: position.parse(seat, raw) for seat, raw in some.items()}, chance.turn_to(step)
        )
        assert encoded(position.view(None)) == before, (
            "playing on changed the position that it left"
        )
        position = after
        if coin.below(40) == 0:
            position = position.without(coin.below(players))


@every_setup
def test_views_are_json_and_say_who_looks(setup: Setup) -> None:
    for position, _ in positions(setup, seed=4):
        for seat in (None, *range(setup[1])):
            view = position.view(seat)
            assert view["you"] == seat
            assert view["toMove"] == position.to_move
            assert msgspec.json.decode(encoded(view)) is not None


@every_setup
def test_moves_that_are_listed_are_legal(setup: Setup) -> None:
    for position, _ in positions(setup, seed=5):
        for seat in position.to_move:
            for count, raw in enumerate(position.moves(seat)):
                position.parse(seat, raw)
                if count > 50:
                    break


def mutations(raw: Raw) -> Iterator[Raw]:
    """The move with one thing in it taken away, doubled or turned into something else."""
    others: tuple[Any, ...] = (
        None,
        True,
        -1,
        10**30,
        0.5,
        float("inf"),
        "",
        "toString",
        [],
        {},
        [raw],
    )
    yield from others
    if isinstance(raw, dict):
        for key, value in raw.items():
            rest = {name: kept for name, kept in raw.items() if name != key}
            yield rest
            yield rest | {key + " ": value}
            for inner in mutations(value):
                yield raw | {key: inner}
    if isinstance(raw, list | tuple):
        for at, value in enumerate(raw):
            yield [*raw[:at], *raw[at + 1 :]]
            yield [*raw, value]
            for inner in mutations(value):
                yield [*raw[:at], inner, *raw[at + 1 :]]


@every_setup
def test_a_mutated_move_is_refused_in_words_or_still_legal(setup: Setup) -> None:
    for number, (position, raws) in enumerate(positions(setup, seed=6)):
        if number % 10:
            continue
        for seat, raw in raws.items():
            for mutant in mutations(raw):
                try:
                    move = position.parse(seat, mutant)
                except IllegalMove as fault:
                    assert str(fault)
                    assert len(str(fault)) < 300
                else:
                    position.play({seat: move}, Chance(1))


@pytest.mark.no_cover
@every_setup
@given(raw=json_values)
@settings(max_examples=60, deadline=None)
def test_any_json_value_is_a_move_or_refused(setup: Setup, raw: Any) -> None:
    game, players = setup
    position = game.start(players, Chance(0))
    for seat in position.to_move:
        try:
            move = position.parse(seat, raw)
        except IllegalMove as fault:
            assert str(fault)
        else:
            position.play({seat: move}, Chance(0))


@every_setup
def test_a_secret_move_shows_to_nobody_else(setup: Setup) -> None:
    for position, raws in positions(setup, seed=7):
        if not position.secret:
            continue
        parsed = {seat: position.parse(seat, raw) for seat, raw in raws.items()}
        for seat in position.to_move:
            for other in list(position.moves(seat))[:3]:
                one = position.play(parsed, Chance(3))
                two = position.play(parsed | {seat: position.parse(seat, other)}, Chance(3))
                for looker in {None, *range(setup[1])} - {seat}:
                    assert encoded(one.view(looker)) == encoded(two.view(looker))


def story(setup: Setup) -> bytes:
    return b"\n".join(encoded(position.view(None)) for position, _ in positions(setup, seed=8))


def test_the_same_seed_gives_the_same_games_in_another_process() -> None:
    script = (
        "from tests.contract.test_games import *; "
        "sys.stdout.buffer.write(encoded([story(one) "
        "for one in SETUPS]))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "77"}
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env=environment
    )
    told = msgspec.json.decode(other.stdout, type=list[bytes])
    assert dict(zip(NAMES, told, strict=True)) == {
        name: story(setup) for name, setup in zip(NAMES, SETUPS, strict=True)
    }


class NoChance(Chance):
    def bits(self) -> int:
        raise LookupError("a draw")


@every_setup
def test_random_openings_are_for_games_without_chance_in_which_one_seat_moves_openly(
    setup: Setup,
) -> None:
    game, players = setup
    bots = [seated(house_bots(game.name)["random"], seat) for seat in range(players)]

    def fits() -> bool:
        try:
            position = game.start(players, NoChance(1))
            while not position.over:
                if len(position.to_move) != 1 or position.secret or not position.lists_all_moves:
                    return False
                moves = {
                    seat: position.parse(seat, raw)
                    for seat, raw in moves_at(position, bots).items()
                }
                position = position.play(moves, NoChance(1))
        except LookupError:
            return False
        return True

    assert fits() == (game.opening_moves > 0)
