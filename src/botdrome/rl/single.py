"""The Gymnasium environment: one player learns, and bots play against it."""

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import CloudpickleWrapper, batch_space
from numpy.typing import NDArray

from botdrome.encodings import Array, Arrays
from botdrome.games.chance import Chance
from botdrome.rl.episode import Observation, TrainingSetup
from botdrome.rl.opponents import Entrant, LearnerTable, PolicyPool, check_opponent, learner_table
from botdrome.rl.spaces import (
    RENDER_MODES,
    RenderMode,
    Seeds,
    action_space,
    observation_space,
    picture,
)

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
        self._setup = setup
        self._opponents = tuple(opponents)
        self._player = player
        self._seeds = Seeds()
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
        return self._playing().episode.json_view(self.player)

    def record(self) -> bytes:
        """Return the match so far as a match file."""
        return self._playing().record()

    def close(self) -> None:
        """End the programs of the opponents."""
        if self._table is not None:
            self._table.close()
            self._table = None


# Many environments for one player each, stepped together: in one process, or in a few with many
# each.

Infos = list[tuple[int, dict[str, Any]]]
"""The infos that are not empty, with the numbers of their environments."""
Batch = tuple[Array, Array, NDArray[np.float64], NDArray[np.bool_], Infos]
"""Observations, masks, rewards, which episodes are over, and infos."""
SeedsOfGroup = Sequence[int | None]


class Group:
    """Environments that one process steps.

    An episode that is over begins anew at its next step, as Gymnasium does by default.
    """

    def __init__(self, envs: Sequence[SingleEnvironment]) -> None:
        self.envs = envs
        space: Any = envs[0].observation_space
        self._shapes = [(len(envs), *space[name].shape) for name in ("observation", "action_mask")]
        self._over = [False] * len(envs)

    def begin(self, seeds: SeedsOfGroup) -> Batch:
        self._over = [False] * len(self.envs)
        return self._batch(
            [(0.0, False, env.begin(seed)) for env, seed in zip(self.envs, seeds, strict=True)]
        )

    def step(self, actions: Sequence[Any]) -> Batch:
        steps = zip(self.envs, self._over, actions, strict=True)
        return self._batch(
            [
                (0.0, False, env.begin()) if over else env.advance(action)
                for env, over, action in steps
            ]
        )

    def _batch(self, steps: list[tuple[float, bool, dict[str, Any]]]) -> Batch:
        observations, masks = (np.empty(shape, np.int8) for shape in self._shapes)
        for number, env in enumerate(self.envs):
            observations[number], masks[number] = env.arrays()
        self._over = [over for _, over, _ in steps]
        infos = [(number, info) for number, (_, _, info) in enumerate(steps) if info]
        return (
            observations,
            masks,
            np.array([reward for reward, _, _ in steps]),
            np.array(self._over),
            infos,
        )

    def render(self) -> list[Any]:
        return [env.render() for env in self.envs]

    def close(self) -> None:
        for env in self.envs:
            env.close()


def serve_group(pipe: Connection, make: CloudpickleWrapper, count: int) -> None:
    """Execute the calls of the other process, until it says None or ends."""
    envs: list[Any] = [make() for _ in range(count)]
    group = Group(envs)
    try:
        while (call := pipe.recv()) is not None:
            try:
                pipe.send((getattr(group, call[0])(*call[1:]), None))
            except Exception as problem:
                pipe.send((None, problem))
    except (EOFError, KeyboardInterrupt):
        pass
    group.close()


class RemoteGroup:
    """A group in another process: each call is sent first, and its answer fetched later."""

    def __init__(self, make: Callable[[], SingleEnvironment], count: int) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(
            target=serve_group, args=(theirs, CloudpickleWrapper(make), count), daemon=True
        )
        self._process.start()
        theirs.close()

    def call(self, *call: Any) -> Callable[[], Any]:
        self._pipe.send(call)
        return self._answer

    def _answer(self) -> Any:
        try:
            answer, problem = self._pipe.recv()
        except EOFError:
            raise RuntimeError("a process of the environments has ended") from None
        if problem is not None:
            raise problem
        return answer

    def close(self) -> None:
        if not self._pipe.closed:
            with suppress(BrokenPipeError):  # it has ended
                self._pipe.send(None)
            self._process.join()
            self._pipe.close()


class LocalGroup:
    """A group in this process."""

    def __init__(self, make: Callable[[], SingleEnvironment], count: int) -> None:
        self._group = Group([make() for _ in range(count)])

    def call(self, *call: Any) -> Callable[[], Any]:
        return lambda: getattr(self._group, call[0])(*call[1:])

    def close(self) -> None:
        self._group.close()


def merged(infos: Infos, count: int) -> dict[str, Any]:
    """Return an array for each key, and one that says where it is set.

    This is faster than Gymnasium's way.
    """
    found: dict[str, Any] = {}
    for number, info in infos:
        for key, value in info.items():
            if key not in found:
                found[key] = (
                    np.zeros(count, np.int64) if type(value) is int else np.full(count, None)
                )
                found[f"_{key}"] = np.zeros(count, np.bool_)
            found[key][number], found[f"_{key}"][number] = value, True
    return found


class VectorEnvironment(VectorEnv[Observation, Any, Any]):
    def __init__(
        self, make: Callable[[], SingleEnvironment], count: int, processes: int = 1
    ) -> None:
        one = make()
        self.num_envs, self.render_mode = count, one.render_mode
        self.metadata = one.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = one.observation_space
        self.single_action_space = one.action_space
        self.observation_space = batch_space(one.observation_space, count)
        self.action_space = batch_space(one.action_space, count)
        sizes = [count // processes + (number < count % processes) for number in range(processes)]
        self._cuts = np.cumsum([0, *sizes]).tolist()
        group = RemoteGroup if processes > 1 else LocalGroup
        self._groups: list[RemoteGroup | LocalGroup] = [group(make, size) for size in sizes]
        self._masks: Array = np.zeros((count, 0), np.int8)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all episodes.

        A single seed is that of the first; the others have the numbers after it.
        """
        if seed is None or isinstance(seed, int):
            seed = [None if seed is None else seed + number for number in range(self.num_envs)]
        observation, *_, infos = self._gathered("begin", seed)
        return observation, infos

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        observation, rewards, over, infos = self._gathered("step", np.asarray(actions).tolist())
        return observation, rewards, over, np.zeros(self.num_envs, np.bool_), infos

    def _gathered(
        self, name: str, each: Sequence[Any]
    ) -> tuple[Observation, Any, Any, dict[str, Any]]:
        if len(each) != self.num_envs:
            raise ValueError(f"there are {self.num_envs} environments, not {len(each)}")
        cuts = zip(self._cuts, self._cuts[1:], strict=False)
        calls = [
            group.call(name, each[first:last])
            for group, (first, last) in zip(self._groups, cuts, strict=True)
        ]
        batches: list[Batch] = [answer() for answer in calls]
        told = [
            (first + number, info)
            for first, batch in zip(self._cuts, batches, strict=False)
            for number, info in batch[4]
        ]
        infos = merged(told, self.num_envs) if told else {}
        if len(batches) == 1:
            observations, self._masks, rewards, over, _ = batches[0]
        else:
            observations, self._masks, rewards, over = (
                np.concatenate([batch[at] for batch in batches]) for at in range(4)
            )
        return {"observation": observations, "action_mask": self._masks}, rewards, over, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, one row for each environment."""
        return self._masks.astype(bool)

    def render(self) -> tuple[Any, ...]:
        return tuple(
            one for answer in [group.call("render") for group in self._groups] for one in answer()
        )

    def close_extras(self, **_: Any) -> None:
        for group in self._groups:
            group.close()
