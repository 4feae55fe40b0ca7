"""The PettingZoo environment in which the agents act one after the other."""

from typing import Any

from pettingzoo.utils.env import AECEnv

from botdrome.rl.episode import Observation, TrainingSetup
from botdrome.rl.spaces import AgentSpaces


class AecEnvironment(AgentSpaces, AECEnv[str, Any, Any]):
    """A match. Where players move at once, the step is played when the last of them has acted."""

    def __init__(self, setup: TrainingSetup) -> None:
        super().__init__(setup)
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
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._paid = False
        self._select()

    def observe(self, agent: str) -> Observation:
        return self.episode.observe(self._number[agent])

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        agent = self.agent_selection
        observation = self.episode.observe(self._number[agent]) if observe else None
        return observation, self._cumulative_rewards[agent], self.terminations[agent], False, self.infos[agent]

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            return self._was_dead_step(action)
        if self._paid:
            self._clear_rewards()
            self._paid = False
        self._cumulative_rewards[agent] = 0.0
        played = self.episode.act(self._number[agent], action)
        if played and (self._settles or self.episode.match.course.result is not None):
            return self._settle()
        return self._select()

    def _settle(self) -> None:
        """Pay the rewards of a step that was played, and end the match for those who are out of it."""
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
        if episode.match.result is None:
            self._select()
        if ended:
            self._deads_step_first()

    def _select(self) -> None:
        player = self.episode.next_player
        self.agent_selection = self.possible_agents[player]
        if self._setup.views:
            self.infos[self.agent_selection] = self.episode.info(player)
