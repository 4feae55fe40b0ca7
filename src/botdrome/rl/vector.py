"""Many environments for one player each, stepped together: in one process, or in a few with many
each.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import CloudpickleWrapper, batch_space
from numpy.typing import NDArray

from botdrome.encodings.encoding import Array
from botdrome.rl.episode import Observation
from botdrome.rl.single import SingleEnvironment

Infos = list[tuple[int, dict[str, Any]]]
"""The infos that are not empty, with the numbers of their environments."""
Batch = tuple[Array, Array, NDArray[np.float64], NDArray[np.bool_], Infos]
"""Observations, masks, rewards, which episodes are over, and infos."""
Seeds = Sequence[int | None]


class Group:
    """Environments that one process steps.

    An episode that is over begins anew at its next step, as Gymnasium does by default.
    """

    def __init__(self, envs: Sequence[SingleEnvironment]) -> None:
        self.envs = envs
        space: Any = envs[0].observation_space
        self._shapes = [(len(envs), *space[name].shape) for name in ("observation", "action_mask")]
        self._over = [False] * len(envs)

    def begin(self, seeds: Seeds) -> Batch:
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
        self.single_observation_space, self.single_action_space = (
            one.observation_space,
            one.action_space,
        )
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
