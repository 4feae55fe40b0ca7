"""What every encoding keeps to: it agrees with the rules of its game, and reads nothing but the
view.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.encodings import BadAction, Encoding, encoding_of
from botdrome.games.battlecube import Battlecube
from botdrome.games.battleship import Battleship
from botdrome.games.bomberman import Bomberman
from botdrome.games.bumblebots import Bumblebots
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Seat, View
from botdrome.games.gomoku import Gomoku
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses

Setup = tuple[Game[Any], int]
SETUPS: list[Setup] = [
    (NoughtsAndCrosses(), 2),
    (Gomoku(size=6, win_length=4), 2),
    (Battleship(width=6, height=5, boats="A3 B2"), 2),
    (Battleship(width=5, height=7, boats="A3 W2", rounds=9), 4),
    (Bomberman(rounds=60, closing=15, upgrades=100, bombs=2), 4),
    (Bomberman(height=7, width=15, closing=1, rounds=30), 2),
    (Battlecube(edge=3), 2),
    (Battlecube(edge=4, ticks=20), 5),
    (Bumblebots(), 2),
    (Bumblebots(arena="drawn", side=5, drones=2, flowers=8, ticks=40), 2),
]
every_setup = pytest.mark.parametrize(
    "setup", SETUPS, ids=lambda setup: f"{setup[0].name}-{setup[1]}"
)


def as_json(view: View) -> View:
    found: View = msgspec.json.decode(msgspec.json.encode(view))
    return found


def positions(setup: Setup, encoding: Encoding, seed: int) -> Iterator[Game[Any]]:
    """A game of random legal actions."""
    game, players = setup
    chance, dice = Chance(seed), Chance(seed + 1000)
    position = game.start(players, chance)
    for step in range(1000):
        yield position
        if position.over:
            return
        moves = {}
        for seat in position.to_move:
            view = position.view(seat)
            action = dice.choice(np.flatnonzero(encoding.arrays(view, {})[1]).tolist())
            moves[seat] = position.parse(seat, encoding.move(view, action))
        position = position.play(moves, chance.turn_to(step))
    raise AssertionError("the game did not end")


@every_setup
def test_the_mask_has_exactly_the_legal_moves(setup: Setup) -> None:
    encoding = encoding_of(*setup)
    for position in positions(setup, encoding, 1):
        for seat in position.to_move:
            check_actions(encoding, position, seat)


def check_actions(encoding: Encoding, position: Game[Any], seat: Seat) -> None:
    view = position.view(seat)
    _, mask = encoding.arrays(view, {})
    listed = [encoding.action(view, move) for move in position.moves(seat)]
    assert [encoding.move(view, action) for action in listed] == [
        as_json({"move": move})["move"] for move in position.moves(seat)
    ]
    legal = set(np.flatnonzero(mask).tolist())
    assert legal.issuperset(listed)
    for action in range(0, encoding.actions, 1 if encoding.actions < 50 else 7):
        assert (action in legal) == is_legal(encoding, position, seat, action), action


def is_legal(encoding: Encoding, position: Game[Any], seat: Seat, action: int) -> bool:
    """Bumblebots drops orders that are not possible, so there an action is legal if it comes back
    unchanged.
    """
    move = encoding.move(position.view(seat), action)
    try:
        parsed = position.parse(seat, move)
    except IllegalMove:
        return False
    if isinstance(position, Bumblebots):
        return not parsed.invalid and encoding.action(position.view(seat), move) == action
    return True


@every_setup
def test_arrays_fit_the_description(setup: Setup) -> None:
    encoding = encoding_of(*setup)
    assert len(encoding.planes) == encoding.shape[0]
    for position in positions(setup, encoding, 2):
        for seat in range(setup[1]):
            observation, mask = encoding.arrays(position.view(seat), {})
            assert (observation.shape, mask.shape) == (encoding.shape, (encoding.actions,))
            assert observation.dtype == mask.dtype == np.int8
            assert (
                observation.min() >= 0
                and observation.max() <= encoding.high
                and set(np.unique(mask)) <= {0, 1}
            )
            assert bool(mask.any()) == (seat in position.to_move)
            assert not encoding.open_views or position.view(seat) == position.view(None) | {
                "you": seat
            }
            if encoding.mortal and not position.over:
                assert encoding.playing(position.view(seat)) == (seat in position.to_move)


@every_setup
def test_a_view_from_json_and_a_memory_change_nothing(setup: Setup) -> None:
    encoding, chance = encoding_of(*setup), Chance(7)
    memory: dict[Any, Any] = {}
    seldom: dict[Any, Any] = {}
    for position in positions(setup, encoding, 3):
        for seat in range(setup[1]):
            fresh = encoding.arrays(position.view(seat), {})
            found = [
                encoding.arrays(as_json(position.view(seat)), {}),
                encoding.arrays(position.view(seat), memory),
            ]
            if chance.below(3) == 0:
                found.append(encoding.arrays(position.view(seat), seldom))
            for arrays in found:
                assert all(
                    np.array_equal(one, other) for one, other in zip(arrays, fresh, strict=True)
                )


@pytest.mark.parametrize(
    ("setup", "move"),
    [
        ((NoughtsAndCrosses(), 2), {"mark": "O", "space": [0, 0]}),
        ((Gomoku(), 2), {"x": 15, "y": 0}),
        ((Gomoku(), 2), {"x": 1}),
        ((Gomoku(), 2), {"x": True, "y": 0}),
        ((Gomoku(), 2), 7),
        ((Battleship(), 2), {"board": ["A"]}),
        ((Bomberman(), 2), {"action": "FLY"}),
        ((Battlecube(), 2), [{"task": "BOMB", "x": 8, "y": 0, "z": 0}]),
        ((Battlecube(), 2), []),
        ((Bumblebots(), 2), {"orders": {"Nobody": "UL"}}),
        ((Bumblebots(), 2), None),
    ],
)
def test_a_move_without_a_number_is_an_error(setup: Setup, move: Any) -> None:
    position = setup[0].start(setup[1], Chance(1))
    with pytest.raises(BadAction):
        encoding_of(*setup).action(position.view(0), move)


def test_a_shot_at_oneself_has_no_number() -> None:
    encoding, position = (
        encoding_of(Battleship(), 2),
        Battleship().start(2, Chance(1)).play({}, Chance(2)),
    )
    assert encoding.action(position.view(0), {"x": 3, "y": 0}) == 3
    with pytest.raises(BadAction, match="opponent"):
        encoding.action(position.view(0), {"target": 0, "x": 3, "y": 0})


@pytest.mark.parametrize(
    ("game", "players", "words"),
    [
        (Battlecube(tasks=2), 2, "tasks: an action is one task"),
        (Battlecube(edge=17), 2, "edge: every cell is an action"),
        (Bumblebots(arena="drawn", drones=5), 2, "drones: .* at most 4, not 5"),
        (Gomoku(size=5, win_length=6), 2, "win_length"),
    ],
)
def test_a_set_up_with_too_many_actions_is_refused(
    game: Game[Any], players: int, words: str
) -> None:
    with pytest.raises(BadOption, match=words):
        encoding_of(game, players)


def test_every_game_has_an_encoding() -> None:
    for row in CATALOGUE.values():
        assert encoding_of(row.game, 2).actions > 1


def test_a_game_without_an_encoding_is_named() -> None:
    class Other(NoughtsAndCrosses, frozen=True):
        name = "other"

    with pytest.raises(BadOption, match="other has no encoding"):
        encoding_of(Other(), 2)
