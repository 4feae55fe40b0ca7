"""Play environments by a rule that depends on nothing but the observation."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from botdrome.rl.multi_agent import AecEnvironment


def choose(observation: Any, mask: Any) -> int:
    """Return a legal action that looks random, and is the same for the same observation."""
    legal = np.flatnonzero(mask)
    return int(legal[crc32(observation.tobytes()) % len(legal)])


def play_out(
    env: AecEnvironment, seed: int, choice: Callable[[Any, Any], int] = choose
) -> dict[str, list[float]]:
    """Play a match; the rewards of each agent, in their order."""
    env.reset(seed=seed)
    rewards: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        rewards[agent].append(reward)
        env.step(
            None
            if terminated or observation is None
            else choice(observation["observation"], observation["action_mask"])
        )
    return rewards
