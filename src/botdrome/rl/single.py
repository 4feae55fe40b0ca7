"""The Gymnasium environment: one player learns, and bots play against it."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from botdrome.games.chance import Chance
from botdrome.rl.episode import Episode, Observation, TrainingSetup
from botdrome.rl.opponents import Entrant, LearnerTable, check_opponent, learner_table
from botdrome.rl.spaces import Seeds, action_space, observation_space


class SingleEnvironment(gymnasium.Env[Observation, np.int64]):
    """A match of one player against opponents. The episode ends when the player is out of the match."""

    def __init__(self, setup: TrainingSetup, opponents: Sequence[Entrant], player: int | None) -> None:
        """`player` is the number of the learner in the match; None: it is drawn for each episode."""
        self.metadata = {"name": setup.game.name, "render_modes": []}
        self.render_mode = None
        self._setup, self._opponents, self._player, self._seeds = setup, tuple(opponents), player, Seeds()
        self.observation_space = observation_space(setup.encoding)
        self.action_space = action_space(setup.encoding)
        for number in range(setup.players) if player is None else (player,):
            for other, entrant in self._seated(number).items():
                check_opponent(entrant, setup.game.name, other)
        self._table: LearnerTable | None = None
        self.player = player or 0
        """The number of the learner in this episode."""

    def _seated(self, learner: int) -> dict[int, Entrant]:
        others = [player for player in range(self._setup.players) if player != learner]
        return dict(zip(others, self._opponents, strict=True))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        drawn = self._seeds.next(seed)
        self.player = Chance(drawn, -1).below(self._setup.players) if self._player is None else self._player
        self._table = learner_table(self._setup, drawn, self.player, self._seated(self.player))
        return self._observe(self._table.episode), self._table.episode.info(self.player)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        assert self._table is not None, "call reset first"
        table, player, episode = self._table, self.player, self._table.episode
        table.act(action)
        ended = episode.just_finished()
        reward = episode.rewards(ended).get(player, 0.0)
        return self._observe(episode), float(reward), player in episode.finished, False, episode.info(player)

    def _observe(self, episode: Episode) -> Observation:
        """Return arrays of the caller's own, as Gymnasium asks for; encodings may share theirs."""
        return {name: array.copy() for name, array in episode.observe(self.player).items()}

    def view(self) -> dict[str, Any]:
        """Return what a bot in the learner's seat is shown."""
        assert self._table is not None, "call reset first"
        return self._table.episode.json_view(self.player)

    def record(self) -> bytes:
        """Return the match so far as a match file."""
        assert self._table is not None, "call reset first"
        return self._table.record()

    def close(self) -> None:
        """End the programs of the opponents."""
        if self._table is not None:
            self._table.close()
            self._table = None
