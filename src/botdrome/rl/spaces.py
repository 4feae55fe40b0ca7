"""What the PettingZoo environments share: agents, spaces, seeds, and the episode that is played."""

from random import Random
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from botdrome.encodings.encoding import Encoding
from botdrome.rl.drawing import RENDER_MODES, RenderMode, picture
from botdrome.rl.episode import Episode, TrainingSetup


def observation_space(encoding: Encoding) -> spaces.Space[Any]:
    return spaces.Dict(
        {
            "observation": spaces.Box(0, encoding.high, encoding.shape, np.int8),
            "action_mask": spaces.Box(0, 1, (encoding.actions,), np.int8),
        }
    )


def action_space(encoding: Encoding) -> spaces.Space[Any]:
    return spaces.Discrete(encoding.actions)


class Seeds:
    """The seeds of the episodes. A seed that is given starts a new sequence, and is its first."""

    def __init__(self) -> None:
        self._given: int | None = None
        self._chance: Random | None = None

    def next(self, given: int | None) -> int:
        if given is not None:
            self._given, self._chance = given, None
            return given
        # It takes longer to make than a short match; a caller that always gives seeds needs none.
        if self._chance is None:
            self._chance = Random(self._given)
        return self._chance.getrandbits(63)


class AgentSpaces:
    """The agents of an environment, `player_0` and so on, with their spaces and the current
    episode.
    """

    def __init__(self, setup: TrainingSetup, render_mode: RenderMode | None = None) -> None:
        modes = {"render_modes": [*RENDER_MODES], "render_fps": 4}
        self.metadata: dict[str, Any] = {"name": setup.game.name, "is_parallelizable": True} | modes
        self.render_mode = render_mode
        self.possible_agents = [f"player_{player}" for player in range(setup.players)]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent in self.possible_agents:
            self.observation_spaces[agent] = observation_space(setup.encoding)
            self.action_spaces[agent] = action_space(setup.encoding)
        self._number = {agent: player for player, agent in enumerate(self.possible_agents)}
        self._setup, self._seeds, self.episode = setup, Seeds(), Episode(setup, 0)

    def _begin(self, seed: int | None) -> None:
        self.episode = Episode(self._setup, self._seeds.next(seed))
        self.agents = self.possible_agents[:]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def action_masks(self) -> dict[str, NDArray[np.bool_]]:
        """Return which actions of each agent are legal."""
        return {
            agent: self.episode.arrays(self._number[agent])[1].astype(bool) for agent in self.agents
        }

    def render(self) -> Any:
        """Return what the agent that acts next sees, as text or as pixels, as
        `render_mode` says.
        """
        player = 0 if self.episode.over else self.episode.next_player
        return picture(self.render_mode, self._setup.encoding, self.episode.arrays(player)[0])

    def close(self) -> None:
        """Nothing is open; PettingZoo wants it where there are pictures."""

    def view(self, agent: str) -> dict[str, Any]:
        """Return what a bot in this seat is shown."""
        return self.episode.json_view(self._number[agent])

    def record(self) -> bytes:
        """Return the match so far as a match file."""
        return self.episode.record(self.possible_agents)
