"""All games pass the tests of PettingZoo and Gymnasium."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

import botdrome
from botdrome.catalogue import CATALOGUE

CYCLES = 150
MORE: list[tuple[str, dict[str, Any]]] = [
    ("gomoku", {"boards": 1, "size": 9}),
    ("battleship", {"players": 3, "width": 5, "height": 5, "boats": "A3", "rewards": "score"}),
    ("bomberman", {"players": 4, "views": True}),
    ("battlecube", {"players": 8, "rewards": "score", "edge": 4}),
]
every_game = pytest.mark.parametrize(
    ("game", "options"),
    [*((name, {}) for name in CATALOGUE), *MORE],
    ids=lambda value: value if isinstance(value, str) else "",
)


@pytest.fixture(autouse=True)
def no_advice() -> Iterator[None]:
    """PettingZoo warns of observations that are dicts, except in its own games."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@every_game
def test_one_agent_after_the_other(game: str, options: dict[str, Any]) -> None:
    api_test(botdrome.env(game, **options), num_cycles=CYCLES)
    seed_test(lambda: botdrome.env(game, **options), num_cycles=CYCLES)


@every_game
def test_all_agents_at_once(game: str, options: dict[str, Any]) -> None:
    parallel_api_test(botdrome.env(game, parallel=True, **options), num_cycles=CYCLES)
    parallel_seed_test(lambda: botdrome.env(game, parallel=True, **options), num_cycles=CYCLES)


@every_game
@pytest.mark.parametrize("player", [0, None])
def test_one_player_against_the_house(
    game: str, options: dict[str, Any], player: int | None
) -> None:
    options = dict(options)
    opponents = ["house:random"] * (options.pop("players", 2) - 1)
    check_env(botdrome.env(game, opponents=opponents, player=player, **options))
