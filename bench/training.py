"""Environments for training: games per CPU second beside PettingZoo's own tic-tac-toe, their cost
beside a bare match, and many matches in one process beside a plain loop.

    python -m bench.training [GAME ...]
    python -m bench.training vector [POLICY] [GAME ...]    only the last comparison

All comparisons are made within one run, slice by slice. A bare match is `simulate` with bots that
repeat the same moves. The plain loop steps one environment after the other. Both choose actions by
the same POLICY:

    matrix            the best legal action by the smallest network there is; vector_env asks it
    once for all matches argmax            the best legal action by fixed values, in the same way
    argmax-stacked    the same, but the plain loop stacks its arrays and asks once, too random
    a random legal action, drawn for each match in both
"""

import gc
import random
import sys
import time
import types
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from msgspec import Struct

from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.match import Match
from botdrome.rl.make import env, vector_env
from botdrome.rl.multi_agent import AecEnvironment

SLICES = 16
SECONDS = 0.3
AT_ONCE = 16
"""Matches that are stepped together."""
TABLES = {"battlecube": 8, "bomberman": 4}
"""The players of the games that allow more than two."""
Policy = Callable[[Any, Any, Any], Any]
"""Choose actions by observations, masks of legal actions and weights."""


class Script(Struct):
    """A match: its seed, the actions in their order, and the moves of each player."""

    seed: int
    actions: list[int]
    moves: list[list[Any]]


def tictactoe() -> Any:
    """Return PettingZoo's environment as its users get it.

    It draws with pygame, which a game without pictures never calls.
    """
    if find_spec("pygame") is None:
        sys.modules["pygame"] = types.ModuleType("pygame")
    from pettingzoo.classic import tictactoe_v3

    return tictactoe_v3.env()


def random_game(env: Any, chance: Chance, seed: int | None = None) -> list[int]:
    """Play random legal actions, and return them."""
    env.reset(seed=seed)
    actions: list[int] = []
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            actions.append(chance.choice(observation["action_mask"].nonzero()[0].tolist()))
            env.step(actions[-1])
    return actions


def script(env: AecEnvironment, seed: int, players: int) -> Script:
    actions = random_game(env, Chance(seed), seed)
    inputs = env.episode.inputs
    return Script(
        seed,
        actions,
        [
            [raw for _, kind, by, raw in inputs if kind == "move" and by == player]
            for player in range(players)
        ],
    )


def play_scripts(env: AecEnvironment, scripts: Iterable[Script]) -> None:
    for each in scripts:
        env.reset(seed=each.seed)
        actions = iter(each.actions)
        for _ in env.agent_iter():
            _, _, terminated, _, _ = env.last()
            env.step(None if terminated else next(actions))


def play_bare(env: AecEnvironment, scripts: Iterable[Script]) -> None:
    setup = env.episode.setup
    for each in scripts:
        bots = [repeat(moves) for moves in each.moves]
        simulate(Match(setup.game, setup.players, setup.terms, each.seed), bots)


def repeat(moves: list[Any]) -> Callable[[Any], Any]:
    rest = iter(moves)
    return lambda _: next(rest)


def spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def games_per_second(env: Any, chance: Chance) -> float:
    played, began = 0, time.process_time()
    while time.process_time() - began < SECONDS:
        random_game(env, chance)
        played += 1
    return played / (time.process_time() - began)


def beside_pettingzoo() -> None:
    theirs, ours, chance = tictactoe(), env("noughts-and-crosses"), Chance(1)
    pairs = [
        (games_per_second(theirs, chance), games_per_second(ours, chance))
        for _ in range(SLICES + 1)
    ][1:]
    print("random games per CPU second, median of slices, in turns")
    print(f"  PettingZoo tictactoe_v3   {median(pair[0] for pair in pairs):>9,.0f}")
    print(f"  Botdrome                  {median(pair[1] for pair in pairs):>9,.0f}")
    print(
        f"  ratio                     {median(own / other for other, own in pairs):>9.1f}   "
        "(target: at least 3)\n"
    )


def beside_bare_match(name: str) -> None:
    players = TABLES.get(name, 2)
    environment = env(name, players=players)
    count = 300 if name == "noughts-and-crosses" else 6
    scripts = [script(environment, seed, players) for seed in range(count)]
    moves = sum(len(each.actions) for each in scripts)
    gc.collect()
    pairs = [
        (
            spent(lambda: play_bare(environment, scripts)),
            spent(lambda: play_scripts(environment, scripts)),
        )
        for _ in range(SLICES)
    ]
    bare, own = (min(pair[side] for pair in pairs) / moves * 1e6 for side in (0, 1))
    ratio = median(pair[1] / pair[0] for pair in pairs)
    print(f"  {name:22}{players:>8}{bare:>10.1f}{own:>14.1f}{ratio:>9.2f}")


def by_matrix(observations: Any, masks: Any, weights: Any) -> Any:
    """Return the legal action with the largest value, or one for each row."""
    flat = observations.reshape(*masks.shape[:-1], -1).astype(np.float32)
    return np.where(masks, flat @ weights, -np.inf).argmax(-1)


def by_values(observations: Any, masks: Any, weights: Any) -> Any:
    return np.where(masks, weights[0], -np.inf).argmax(-1)


def random_legal(observations: Any, masks: Any, weights: Any) -> Any:
    legal = masks.nonzero()[0]
    return legal[int(random.random() * len(legal))] if len(legal) else 0


def for_each(policy: Policy) -> Policy:
    """Ask this policy of one match for each match, when its action is needed."""
    return lambda observations, masks, weights: (
        policy(*one, weights) for one in zip(observations, masks, strict=True)
    )


def stacked(policy: Policy) -> Policy:
    return lambda observations, masks, weights: policy(
        np.stack(observations), np.stack(masks), weights
    )


POLICIES: dict[str, tuple[Policy, Policy]] = {
    "matrix": (for_each(by_matrix), by_matrix),
    "argmax": (for_each(by_values), by_values),
    "argmax-stacked": (stacked(by_values), by_values),
    "random": (for_each(random_legal), for_each(random_legal)),
}
"""How the plain loop and how `vector_env` choose actions for all their matches."""


class PlainLoop:
    def __init__(self, name: str, opponents: list[str], choose: Policy, weights: Any) -> None:
        self._envs, self._choose, self._weights = (
            [env(name, opponents=opponents) for _ in range(AT_ONCE)],
            choose,
            weights,
        )
        self._found = [one.reset(seed=seed)[0] for seed, one in enumerate(self._envs)]

    def step(self) -> int:
        """Step each environment, and return the number of moves."""
        observations, masks = (
            [found[key] for found in self._found] for key in ("observation", "action_mask")
        )
        actions = self._choose(observations, masks, self._weights)
        for number, (one, action) in enumerate(zip(self._envs, actions, strict=True)):
            found, _, over, _, _ = one.step(action)
            self._found[number] = one.reset()[0] if over else found
        return AT_ONCE


class StepTogether:
    def __init__(self, name: str, opponents: list[str], choose: Policy, weights: Any) -> None:
        self._envs, self._choose, self._weights = (
            vector_env(name, AT_ONCE, opponents=opponents),
            choose,
            weights,
        )
        self._found, _ = self._envs.reset(seed=0)
        self._over = np.zeros(AT_ONCE, bool)

    def step(self) -> int:
        """Step all environments. Those whose match was over only begin the next one."""
        moves = AT_ONCE - int(self._over.sum())
        actions = self._choose(
            self._found["observation"], self._found["action_mask"], self._weights
        )
        self._found, _, self._over, _, _ = self._envs.step(np.fromiter(actions, int, AT_ONCE))
        return moves


def cost_per_move(loop: PlainLoop | StepTogether) -> float:
    moves, began = 0, time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        moves += loop.step()
    return spent / moves


def beside_plain_loop(name: str, policy: str) -> float:
    opponents = ["house:random"] * (TABLES.get(name, 2) - 1)
    encoding = env(name, players=len(opponents) + 1).episode.setup.encoding
    weights = (
        np.random.default_rng(1)
        .normal(size=(int(np.prod(encoding.shape)), encoding.actions))
        .astype(np.float32)
    )
    apart, at_once = POLICIES[policy]
    plain, together = (
        PlainLoop(name, opponents, apart, weights),
        StepTogether(name, opponents, at_once, weights),
    )
    gc.collect()
    pairs = [(cost_per_move(plain), cost_per_move(together)) for _ in range(SLICES + 1)][1:]
    ratio = median(one / other for one, other in pairs)
    steps = [1 / median(pair[side] for pair in pairs) for side in (0, 1)]
    print(
        f"  {name:22}{len(opponents) + 1:>8}{steps[0]:>12,.0f}{steps[1]:>12,.0f}{ratio:>9.2f}",
        flush=True,
    )
    return ratio


def beside_plain_loops(names: list[str], policy: str) -> None:
    print(
        f"steps per CPU second, {AT_ONCE} matches of {policy} against house:random, medians of "
        "slices (target: at least 1.2)"
    )
    print(f"  {'game':22}{'players':>8}{'plain loop':>12}{'vector_env':>12}{'ratio':>9}")
    print(
        f"  median of the ratios: {median([beside_plain_loop(name, policy) for name in names]):.2f}"
    )


def main(names: list[str]) -> None:
    if names[:1] == ["vector"]:
        policy, games = (
            (names[1], names[2:]) if names[1:] and names[1] in POLICIES else ("matrix", names[1:])
        )
        return beside_plain_loops(games or list(CATALOGUE), policy)
    beside_pettingzoo()
    print("CPU time per move in us, best of slices, and the median ratio (target: at most 1.5)")
    print(f"  {'game':22}{'players':>8}{'match':>10}{'environment':>14}{'ratio':>9}")
    for name in names or list(CATALOGUE):
        beside_bare_match(name)
    print()
    return beside_plain_loops(names or list(CATALOGUE), "matrix")


if __name__ == "__main__":
    main(sys.argv[1:])
