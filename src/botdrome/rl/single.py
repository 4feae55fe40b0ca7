"""The Gymnasium environment: one player learns, and bots play against it."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from botdrome.encodings.encoding import Arrays
from botdrome.games.chance import Chance
from botdrome.rl.drawing import RENDER_MODES, RenderMode, picture
from botdrome.rl.episode import Episode, Observation, TrainingSetup
from botdrome.rl.opponents import Entrant, LearnerTable, PolicyPool, check_opponent, learner_table
from botdrome.rl.spaces import Seeds, action_space, observation_space

UNEVENTFUL: tuple[float, bool, dict[str, Any]] = (0.0, False, {})


class SingleEnvironment(gymnasium.Env[Observation, np.int64]):
    """A match of one player against opponents.

    The episode ends when the player is out of the match.
    """

    def __init__(
        self,
        setup: TrainingSetup,
        opponents: Sequence[Entrant],
        player: int | None,
        render_mode: RenderMode | None = None,
    ) -> None:
        """`player` is the number of the learner in the match; None: it is drawn for
        each episode.
        """
        self.metadata = {"name": setup.game.name, "render_modes": [*RENDER_MODES], "render_fps": 4}
        self.render_mode = render_mode
        self._setup, self._opponents, self._player, self._seeds = (
            setup,
            tuple(opponents),
            player,
            Seeds(),
        )
        self._settles = setup.rewards == "score" or setup.encoding.mortal
        """Whether a step may change more than the position before the match is over."""
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

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        info = self.begin(seed)
        return self._observe(), info

    def begin(self, seed: int | None = None) -> dict[str, Any]:
        """Begin an episode, and return its first info."""
        self.close()
        drawn = self._seeds.next(seed)
        self.player = (
            Chance(drawn, -1).below(self._setup.players) if self._player is None else self._player
        )
        opponents = self._seated(self.player)
        for player, entrant in opponents.items():
            if isinstance(entrant, PolicyPool):
                opponents[player] = entrant.drawn(Chance(drawn, -2 - player))
        self._table = learner_table(self._setup, drawn, self.player, opponents)
        return self._table.episode.info(self.player)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        reward, over, info = self.advance(action)
        return self._observe(), reward, over, False, info or {}

    def advance(self, action: Any) -> tuple[float, bool, dict[str, Any]]:
        """Play until the learner must act again.

        Return the reward, whether the episode is over, and the info.
        """
        table, player = self._table, self.player
        assert table is not None, "call reset first"
        table.act(action)
        episode = table.episode
        if not (self._settles or episode.over):
            return UNEVENTFUL if not self._setup.views else (0.0, False, episode.info(player))
        ended = episode.just_finished()
        reward = episode.rewards(ended).get(player, 0.0)
        return float(reward), player in episode.finished, episode.info(player)

    def _playing(self) -> LearnerTable:
        assert self._table is not None, "call reset first"
        return self._table

    @property
    def _episode(self) -> Episode:
        return self._playing().episode

    def arrays(self) -> Arrays:
        """Return the observation and the mask. Encodings may share them, so they are read-only."""
        assert self._table is not None, "call reset first"
        return self._table.episode.arrays(self.player)

    def _observe(self) -> Observation:
        """Return arrays of the caller's own, as Gymnasium asks for."""
        observation, mask = self.arrays()
        return {"observation": observation.copy(), "action_mask": mask.copy()}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, as learners with masks ask for it."""
        return self.arrays()[1].astype(bool)

    def render(self) -> Any:
        """Return what the learner sees, as text or as pixels, as `render_mode` says."""
        return picture(self.render_mode, self._setup.encoding, self.arrays()[0])

    def view(self) -> dict[str, Any]:
        """Return what a bot in the learner's seat is shown."""
        return self._episode.json_view(self.player)

    def record(self) -> bytes:
        """Return the match so far as a match file."""
        return self._playing().record()

    def close(self) -> None:
        """End the programs of the opponents."""
        if self._table is not None:
            self._table.close()
            self._table = None
