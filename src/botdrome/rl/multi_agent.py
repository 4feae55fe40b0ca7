"""The PettingZoo environments: agents act one after the other, or all at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from pettingzoo.utils.env import AECEnv, ParallelEnv

from botdrome.rl.episode import Observation, TrainingSetup
from botdrome.rl.spaces import AgentSpaces, RenderMode


class AecEnvironment(AgentSpaces, AECEnv[str, Any, Any]):
    """A match. Where players move at once, the step is played when the last of them has acted."""

    def __init__(self, setup: TrainingSetup, render_mode: RenderMode | None = None) -> None:
        super().__init__(setup, render_mode)
        self._views = setup.views
        self._settles = setup.rewards == "score" or setup.encoding.mortal
        """Whether a step may change more than the position before the match is over."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._begin(seed)
        agents = self.agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = self.terminations.copy()
        self.infos = {agent: {} for agent in agents}
        self._ended: list[str] = []
        """Agents that have terminated and not yet made their last step, which takes them away."""
        self._paid = False
        self._select()

    def observe(self, agent: str) -> Observation:
        return self.episode.observe(self._number[agent])

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yield the agent that acts next, while there is one.

        This is faster than PettingZoo's iterator.
        """
        while self.agents and max_iter > 0:
            max_iter -= 1
            yield self.agent_selection

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        agent = self.agent_selection
        observation = self.episode.observe(self._number[agent]) if observe else None
        return (
            observation,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            False,
            self.infos[agent],
        )

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            return self._remove(agent, action)
        if self._paid:
            self._clear_rewards()
            self._paid = False
        self._cumulative_rewards[agent] = 0.0
        episode = self.episode
        if episode.act(self._number[agent], action) and (self._settles or episode.over):
            return self._settle()
        if self._views:
            return self._select()
        self.agent_selection = self.possible_agents[episode.next_player]

    def _settle(self) -> None:
        """Pay the rewards of a step that was played, and end the match for those who
        are out of it.
        """
        episode = self.episode
        ended = episode.just_finished()
        for player, reward in episode.rewards(ended).items():
            agent = self.possible_agents[player]
            if agent in self.rewards:
                self.rewards[agent] = reward
                self._cumulative_rewards[agent] += reward
                self._paid = True
        for player in ended:
            agent = self.possible_agents[player]
            self.terminations[agent] = True
            self.infos[agent] = episode.info(player)
            self._ended.append(agent)
        self._select()

    def _remove(self, agent: str, action: int | None) -> None:
        """Take the last step of an agent. PettingZoo wants it to be None."""
        if action is not None:
            raise ValueError(f"{agent} has terminated, so its only action is None")
        for values in (
            self.terminations,
            self.truncations,
            self.rewards,
            self._cumulative_rewards,
            self.infos,
        ):
            del values[agent]
        self.agents.remove(agent)
        self._ended.remove(agent)
        if self._paid:
            self._clear_rewards()
            self._paid = False
        if self.agents:
            self._select()

    def _select(self) -> None:
        if self._ended:
            self.agent_selection = self._ended[0]
            return
        player = self.episode.next_player
        self.agent_selection = self.possible_agents[player]
        if self._views:
            self.infos[self.agent_selection] = self.episode.info(player)


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
