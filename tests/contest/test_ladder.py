"""Ladders in simulated time: nobody starves, budgets hold, and uncertain bots play first."""

from collections import Counter, defaultdict
from itertools import pairwise
from random import Random

import pytest

from botdrome.bots.house import HOUSE_RATINGS
from botdrome.contest.matchmaking import HOUR, SETTLED, Ladder, WaitingPlayer, ladder_key
from botdrome.contest.strength import POINTS, expected

HOUSE = {f"house:{bot}": rating for bot, rating in HOUSE_RATINGS["gomoku"].items()}
BUDGET, WAIT, LENGTH = 60, 5.0, 20.0
EVERY = HOUR / BUDGET


class World:
    """Bots that come back to the ladder after each match of 20 s."""

    def __init__(self, bots: int, house: dict[str, float] = HOUSE) -> None:
        self.ladder, self.random, self.now = Ladder(BUDGET, house), Random(1), 0.0
        self.truth = {ladder_key(f"bot {n}", "1"): self.random.gauss(0, 1) for n in range(bots)}
        self.waiting = dict.fromkeys(self.truth, 0.0)
        self.begun: defaultdict[str, list[float]] = defaultdict(list)
        self.opponents: defaultdict[str, list[str]] = defaultdict(list)
        self._playing: list[tuple[float, tuple[str, str]]] = []

    def run(self, until: float) -> None:
        while self.now < until:
            self.now += 1.0
            while self._playing and self._playing[0][0] <= self.now:
                self._end(self._playing.pop(0)[1])
            players = [WaitingPlayer(*item) for item in self.waiting.items()]
            for pair in self.ladder.pairs(players, self.now, WAIT):
                self._playing.append((self.now + LENGTH, pair))
                for one, two in (pair, pair[::-1]):
                    self.waiting.pop(one, None)
                    self.begun[one].append(self.now)
                    self.opponents[one].append(two)

    def _end(self, pair: tuple[str, str]) -> None:
        strong = [self.truth.get(one, (HOUSE.get(one, 0) - 1500) / POINTS) for one in pair]
        won = self.random.random() < expected(strong[0] - strong[1])
        self.ladder.knowledge.learn(*pair, float(won))
        self.waiting |= {one: self.now for one in pair if one in self.truth}


@pytest.mark.parametrize(("bots", "house"), [(13, HOUSE), (12, {}), (2, HOUSE), (1, HOUSE)])
def test_nobody_starves_and_every_budget_holds(bots: int, house: dict[str, float]) -> None:
    world = World(bots, house)
    world.run(2.5 * HOUR)
    for bot in world.truth:
        begun = world.begun[bot]
        assert begun[0] <= WAIT + 1
        assert all(later - at >= HOUR for at, later in zip(begun, begun[BUDGET:], strict=False))
        for number, (at, later) in enumerate(pairwise(begun), 1):
            spent = number >= BUDGET and later - begun[number - BUDGET] <= HOUR + WAIT + LENGTH
            assert later - at <= max(EVERY, LENGTH) + WAIT + 2 or spent, (bot, at)
        assert len([at for at in begun if at > 1.5 * HOUR]) > BUDGET * 2 / 3


def test_uncertain_bots_play_first() -> None:
    world = World(12)
    world.run(HOUR)
    assert all(world.ladder.knowledge.variance(bot) <= SETTLED for bot in world.truth)
    new = ladder_key("bot 3", "2")
    world.truth[new] = 2.0
    world.waiting[new] = world.waiting.pop(ladder_key("bot 3", "1"), world.now)
    world._playing = [one for one in world._playing if "bot 3\n1" not in one[1]]
    world.run(1.15 * HOUR)
    others = [len([at for at in world.begun[bot] if at > HOUR]) for bot in world.truth]
    assert len(world.begun[new]) > 1.5 * sorted(others)[len(others) // 2]
    met = Counter(one.startswith("house:") for one in world.opponents[new])
    assert met[False] > 2 * met[True], "other bots are there for it"


def test_a_bot_that_is_alone_plays_house_bots_of_its_strength() -> None:
    world = World(1)
    (bot,) = world.truth
    world.truth[bot] = 3.0
    world.run(HOUR)
    (usual, _), *_ = Counter(world.opponents[bot][10:]).most_common()
    assert usual == "house:strategist"
