"""Matchmaking: the bound on waiting, and the games that the rule saves."""

from math import sqrt
from random import Random
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.contest.matchmaking import Knowledge, WaitingPlayer, pairs_now
from botdrome.contest.strength import POINTS, PRIOR, Z95, Springs, expected

BOUND = 10.0
arrivals = st.lists(st.tuples(st.floats(0, 8), st.integers(0, 11)), max_size=40)
"""Seconds since the last arrival, and the number of a player; it comes again if it is away."""


@given(arrivals, st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_nobody_waits_longer_than_the_bound_while_a_legal_opponent_waits(
    arrivals: list[tuple[float, int]], refused: set[tuple[int, int]]
) -> None:
    def legal(one: str, two: str) -> bool:
        return not {(int(one), int(two)), (int(two), int(one))} & refused

    waiting: dict[str, float] = {}
    knowledge, now = Knowledge(), 0.0

    def match_up() -> None:
        for pair in pairs_now(
            [WaitingPlayer(*item) for item in waiting.items()], knowledge, legal, now, BOUND
        ):
            assert legal(*pair) and pair[0] != pair[1]
            for name in pair:
                assert now <= waiting.pop(name) + BOUND or name in stuck, (
                    "it could have been paired before"
                )
        stuck.clear()
        stuck.update(name for name, since in waiting.items() if now >= since + BOUND)
        assert not any(legal(one, two) for one in stuck for two in waiting if one != two)

    stuck: set[str] = set()
    for pause, number in [*arrivals, (BOUND * 9, 0)]:
        end = now + pause
        while due := [
            since + BOUND
            for name, since in waiting.items()
            if name not in stuck and since + BOUND <= end
        ]:
            now = min(due)
            match_up()
        now = end
        waiting.setdefault(str(number), now)
        match_up()


def games_needed(seed: int, by_rule: bool, bots: int = 24, wanted: float = 80.0) -> int:
    """Return the games until the median interval of bots with a spread of 200 Elo is
    narrow enough.
    """
    random = Random(seed)
    truth = [random.gauss(0, 200) / POINTS for _ in range(bots)]
    queue, knowledge = random.sample(range(bots), bots), Knowledge()
    weights: dict[tuple[int, int], float] = {}
    for games in range(1, 10_000):
        longest = queue.pop(0)
        line = [WaitingPlayer(str(longest), 0), *(WaitingPlayer(str(bot), 1) for bot in queue)]
        partner = (
            int(pairs_now(line, knowledge, lambda *_: True, 5, 5)[0][1])
            if by_rule
            else random.choice(queue)
        )
        queue.remove(partner)
        queue += [longest, partner]
        p = expected(truth[longest] - truth[partner])
        knowledge.learn(str(longest), str(partner), float(random.random() < p))
        pair = min(longest, partner), max(longest, partner)
        weights[pair] = weights.get(pair, 0.0) + p * (1 - p)
        if games % 25 == 0 and median_margin(bots, weights) <= wanted:
            return games
    raise AssertionError("the intervals do not shrink")


def median_margin(bots: int, weights: dict[tuple[int, int], float]) -> float:
    ones, twos = np.array(list(weights)).T
    pulls = np.array(list(weights.values()))
    rows = np.linalg.inv(Springs(np.full(bots, PRIOR), ones, twos, pulls).matrix())
    means = rows.mean(axis=1)
    return median(
        Z95 * POINTS * sqrt(rows[at][at] - 2 * means[at] + sum(means) / bots) for at in range(bots)
    )


@pytest.mark.no_cover
def test_the_rule_needs_fewer_games_than_random_pairs() -> None:
    ruled, drawn = (
        sum(games_needed(seed, by_rule) for seed in range(6)) for by_rule in (True, False)
    )
    assert ruled <= 0.92 * drawn


def test_the_longest_waiting_gets_the_partner_that_says_most() -> None:
    knowledge = Knowledge()
    for _ in range(20):
        knowledge.pair("a", "b")
    waiting = [WaitingPlayer("c", 3), WaitingPlayer("a", 1), WaitingPlayer("b", 2)]
    assert pairs_now(waiting, knowledge, lambda *_: True, 4, 3) == [("a", "c")]
    assert pairs_now(waiting, knowledge, lambda *_: True, 3.9, 3) == []
    assert pairs_now(waiting, knowledge, lambda *pair: "c" not in pair, 9, 3) == [("a", "b")]


def test_results_move_strengths_and_games_lower_variances() -> None:
    knowledge = Knowledge()
    before = knowledge.variance("a")
    gain = knowledge.gain("a", "b")
    total = before + knowledge.variance("b")
    knowledge.pair("a", "b")
    assert knowledge.variance("a") + knowledge.variance("b") == pytest.approx(total - gain)
    knowledge.learn("a", "b", 1.0)
    assert knowledge.strength("a") > 0 > knowledge.strength("b")
    knowledge.learn("a", "unknown", 1.0)
    assert len(knowledge) == 2


def test_only_so_many_players_are_remembered() -> None:
    knowledge = Knowledge(most=4)
    for one, two in ("ab", "cd", "ae", "fg", "ga"):
        knowledge.pair(one, two)
        knowledge.learn(one, two, 0.5)
        assert len(knowledge) <= 4
    assert knowledge.variance("a") < 1 / PRIOR and knowledge.variance("b") == 1 / PRIOR
