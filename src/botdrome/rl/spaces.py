"""What the PettingZoo environments share: agents, spaces, seeds, and the episode that is played."""

from collections.abc import Iterator
from random import Random
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from botdrome.encodings import Array, Encoding
from botdrome.rl.episode import Episode, TrainingSetup

# Pictures of observations, as text or as pixels: a letter and a colour for each plane.
#
# They show what the player sees.

RenderMode = Literal["ansi", "rgb_array"]
RENDER_MODES = ("ansi", "rgb_array")
EMPTY = -1
TILE = 16
"""Pixels of one side of a place."""
NIGHT = (24, 24, 32)
COLOURS = (
    (66, 135, 245), (235, 87, 87), (222, 196, 150), (242, 201, 76), (39, 174, 96), (155, 81, 224),
    (47, 191, 214), (242, 153, 74), (130, 130, 130), (240, 98, 172), (111, 207, 151), (140, 90, 60),
    (245, 245, 245),
)  # fmt: skip
PALETTE = np.array([*COLOURS, NIGHT], np.uint8)


def picture(mode: str | None, encoding: Encoding, observation: Array) -> Any:
    if mode is None:
        return None
    return as_text(encoding, observation) if mode == "ansi" else as_pixels(encoding, observation)


def boards_in(encoding: Encoding, observation: Array) -> Iterator[NDArray[np.int_]]:
    """Yield each board, and each slice of a cube, with the number of the plane that is shown at
    each place.
    """
    if observation.ndim == 4:
        for slice_number in range(observation.shape[3]):
            yield _shown(observation[..., slice_number], 0)
    else:
        height = len(observation) // encoding.boards
        for first in range(0, len(observation), height):
            yield _shown(observation[first : first + height], first)


def _shown(planes: Array, first: int) -> NDArray[np.int_]:
    """Let later planes cover earlier ones.

    A plane that is the same everywhere, such as the time, covers nothing.
    """
    found = np.full(planes.shape[1:], EMPTY)
    for number, plane in enumerate(planes, first):
        found[(plane != 0) if plane.min() != plane.max() else (plane != 0) & (found == EMPTY)] = (
            number
        )
    return found


def as_pixels(encoding: Encoding, observation: Array) -> NDArray[np.uint8]:
    """Return rows of red, green and blue, with the boards side by side."""
    parts: list[NDArray[np.uint8]] = []
    for board in boards_in(encoding, observation):
        tiles = (
            np.where(board == EMPTY, EMPTY, board % len(COLOURS)).repeat(TILE, 0).repeat(TILE, 1)
        )
        tiles[::TILE] = tiles[:, ::TILE] = EMPTY
        parts += [PALETTE[tiles], np.full((len(tiles), TILE, 3), NIGHT, np.uint8)]
    return np.concatenate(parts[:-1], 1)


def as_text(encoding: Encoding, observation: Array) -> str:
    """Return coloured letters for a terminal, with the boards one below the other, and what the
    letters mean.
    """
    lines: list[str] = []
    seen: set[int] = set()
    for board in boards_in(encoding, observation):
        lines += ["".join(map(_sign, row)) for row in board.tolist()] + [""]
        seen.update(board.ravel().tolist())
    return (
        "\n".join(
            [
                *lines,
                *(f"{_sign(plane)} {encoding.planes[plane]}" for plane in sorted(seen - {EMPTY})),
            ]
        )
        + "\n"
    )


def _sign(plane: int) -> str:
    if plane == EMPTY:
        return " . "
    red, green, blue = COLOURS[plane % len(COLOURS)]
    return f"\x1b[30;48;2;{red};{green};{blue}m {ascii_uppercase[plane % 26]} \x1b[0m"


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
