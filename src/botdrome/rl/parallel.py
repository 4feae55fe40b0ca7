"""The PettingZoo environment in which all agents act at once."""

from collections.abc import Mapping
from typing import Any

from pettingzoo.utils.env import ParallelEnv

from botdrome.rl.episode import Observation
from botdrome.rl.spaces import AgentSpaces

Step = tuple[
    dict[str, Observation],
    dict[str, float],
    dict[str, bool],
    dict[str, bool],
    dict[str, dict[str, Any]],
]


class ParallelEnvironment(AgentSpaces, ParallelEnv[str, Any, Any]):
    """A match. The actions of agents that are not to move are ignored; their masks are zeros."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        self._begin(seed)
        return self._observations(), self._infos()

    def step(self, actions: Mapping[str, int]) -> Step:
        """Play a step of the match. An agent that must move and has no action misses it."""
        episode = self.episode
        for player in tuple(episode.match.awaited):
            agent = self.possible_agents[player]
            if agent in actions:
                episode.act(player, actions[agent])
            else:
                episode.miss(player)
        ended = {self.possible_agents[player]: player for player in episode.just_finished()}
        paid = episode.rewards([*ended.values()])
        rewards = {agent: paid.get(self._number[agent], 0.0) for agent in self.agents}
        found = (
            self._observations(), rewards, {agent: agent in ended for agent in self.agents},
            dict.fromkeys(self.agents, False), self._infos(),
        )  # fmt: skip
        self.agents = [agent for agent in self.agents if agent not in ended]
        return found

    def _observations(self) -> dict[str, Observation]:
        return {agent: self.episode.observe(self._number[agent]) for agent in self.agents}

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self.episode.info(self._number[agent]) for agent in self.agents}
