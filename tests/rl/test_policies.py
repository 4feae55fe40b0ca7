"""Policies and pools of them as opponents, and the masks of legal actions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from botdrome.rl.opponents import is_policy
from tests.rl.playing import choose

TURNING = "def bot(view): return [{'task': 'NOOP'}]"


class Network:
    def __call__(self, observation: Any, mask: Any, temperature: float = 1.0) -> Any:
        return np.int64(choose(observation, mask))


def last(observation: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[-1])


def first(observation: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[0])


def test_what_is_a_policy() -> None:
    assert is_policy(choose) and is_policy(Network())
    assert not any(
        map(is_policy, ["house:random", Network, botdrome.Bot, lambda view: None, max, 7])
    )


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_policy_plays_what_the_same_agent_plays(game: str) -> None:
    """Each side moves by the same rule, so it is the match of the environment for both."""
    env = botdrome.env(game, opponents=[choose])
    found, _ = env.reset(seed=9)
    over = False
    while not over:
        found, _, over, _, _ = env.step(choose(found["observation"], found["action_mask"]))
    both = botdrome.env(game)
    both.reset(seed=9)
    for _ in both.agent_iter():
        seen, _, ended, _, _ = both.last()
        both.step(
            None if ended or seen is None else choose(seen["observation"], seen["action_mask"])
        )
    lines = [[line.say for line in restored(one.record())[0].lines] for one in (env, both)]
    assert lines[0] == lines[1][: len(lines[0])]


def test_a_policy_beside_a_program(tmp_path: Path) -> None:
    (tmp_path / "still.py").write_text(TURNING)
    env = botdrome.env("battlecube", opponents=[first, str(tmp_path / "still.py")], ticks=5)
    env.reset(seed=3)
    env.step(6)
    played = {line.by: line.say for line in restored(env.record())[0].lines}
    assert played[1][0]["task"] == "MOVE" and played[2] == [{"task": "NOOP"}]
    env.close()


def test_each_episode_draws_a_member_of_the_pool_by_its_seed() -> None:
    pool = botdrome.PolicyPool(first, size=2)
    env = botdrome.env("noughts-and-crosses", opponents=[pool], player=1)

    def opened(seed: int) -> int:
        found, _ = env.reset(seed=seed)
        return int(found["observation"][1].argmax())

    assert {opened(seed) for seed in range(8)} == {0}
    pool.add(last)
    openings = [opened(seed) for seed in range(20)]
    assert set(openings) == {0, 8} and openings == [opened(seed) for seed in range(20)]
    pool.add(last)
    assert len(pool) == 2 and {opened(seed) for seed in range(8)} == {8}, "the oldest has gone"


def test_a_pool_names_members_that_cannot_start() -> None:
    with pytest.raises(botdrome.BadOption, match="at least one opponent"):
        botdrome.PolicyPool()
    with pytest.raises(botdrome.CannotStart, match="the house has random"):
        botdrome.env("gomoku", opponents=[botdrome.PolicyPool("house:nobody")])


@pytest.mark.parametrize("game", CATALOGUE)
def test_masks_are_those_of_the_observations(game: str) -> None:
    single = botdrome.env(game, opponents=["house:random"])
    found, _ = single.reset(seed=1)
    assert single.action_masks().dtype == bool and np.array_equal(
        single.action_masks(), found["action_mask"]
    )
    together = botdrome.env(game, parallel=True)
    told, _ = together.reset(seed=1)
    masks = together.action_masks()
    assert list(masks) == together.agents
    assert all(np.array_equal(masks[agent], told[agent]["action_mask"]) for agent in masks)
