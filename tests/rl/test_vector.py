"""Many environments that are stepped together, in one process or in several."""

from typing import Any

import numpy as np
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE
from botdrome.rl.single import VectorEnvironment
from tests.rl.playing import choose

SEEDS = [1, 2, 3]


def choices(found: dict[str, Any]) -> np.ndarray[Any, Any]:
    pairs = zip(found["observation"], found["action_mask"], strict=True)
    return np.array([choose(*pair) if pair[1].any() else 0 for pair in pairs])


def same_as_single(envs: VectorEnvironment, game: str, steps: int, **options: Any) -> int:
    """Step these beside single environments with the same seeds.

    Return the number of matches that have ended.
    """
    singles = [botdrome.env(game, opponents=["house:random"], **options) for _ in SEEDS]
    found, _ = envs.reset(seed=SEEDS)
    told = [env.reset(seed=seed)[0] for env, seed in zip(singles, SEEDS, strict=True)]
    over, ended = np.zeros(len(SEEDS), bool), 0
    for _ in range(steps):
        for number, one in enumerate(told):
            assert np.array_equal(found["observation"][number], one["observation"])
            assert np.array_equal(found["action_mask"][number], one["action_mask"])
            assert np.array_equal(envs.action_masks()[number], singles[number].action_masks())
        actions, before = choices(found), over
        found, rewards, over, truncated, infos = envs.step(actions)
        assert not truncated.any()
        for number, env in enumerate(singles):
            if before[number]:
                told[number], expected = env.reset()[0], (0.0, False)
            else:
                told[number], *expected, _, info = env.step(actions[number])
                if expected[1]:
                    assert {key: infos[key][number] for key in info} == info
                    assert infos["_place"].tolist() == infos["_cause"].tolist() == over.tolist()
                    ended += 1
            assert [rewards[number], over[number]] == [*expected]
    return ended


@pytest.mark.parametrize("game", CATALOGUE)
def test_one_process_plays_the_same_matches_as_single_environments(game: str) -> None:
    envs = botdrome.vector_env(game, 3, opponents=["house:random"], player=None)
    assert same_as_single(envs, game, 12, player=None) > 0 or game != "noughts-and-crosses"
    envs.close()


def test_groups_in_processes_play_the_same_matches() -> None:
    envs = botdrome.vector_env(
        "noughts-and-crosses", 3, opponents=["house:random"], processes=2, render_mode="ansi"
    )
    try:
        assert same_as_single(envs, "noughts-and-crosses", 8) > 0
        pictures = envs.render()
        assert len(pictures) == 3 and all("own marks" in picture for picture in pictures)
        with pytest.raises(ValueError, match="3 environments, not 2"):
            envs.step([0, 0])
        envs.reset(seed=1)
        with pytest.raises(ValueError, match="from 0 to 8"):
            envs.step([9, 9, 9])
    finally:
        envs.close()
    envs.close()


def test_a_process_that_has_ended_is_named() -> None:
    def vanishes(observation: Any, mask: Any) -> int:
        raise SystemExit

    envs = botdrome.vector_env("noughts-and-crosses", 2, opponents=[vanishes], processes=2)
    envs.reset(seed=1)
    with pytest.raises(RuntimeError, match="a process of the environments has ended"):
        envs.step([0, 0])
    envs.close()


def test_seeds_and_spaces_are_gymnasiums() -> None:
    envs = botdrome.vector_env("gomoku", 2, opponents=["house:random"], size=9)
    one, _ = envs.reset(seed=5)
    two, _ = envs.reset(seed=[5, 6])
    assert np.array_equal(one["observation"], two["observation"])
    assert envs.observation_space.contains(one) and envs.action_space.contains(np.array([80, 80]))
    assert envs.reset()[0]["action_mask"].shape == (2, 81)
    assert envs.render() == (None, None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"processes": 0}, "processes: from 1 to the 2 environments, not 0"),
        ({"processes": 3}, "processes: from 1 to the 2 environments, not 3"),
        (
            {"processes": 2, "opponents": [botdrome.PolicyPool("house:random")]},
            "a pool is shared within one process",
        ),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(botdrome.BadOption, match=words):
        botdrome.vector_env("gomoku", 2, **{"opponents": ["house:random"]} | options)
