"""Which players of a node are paired there, and which go to another one: the rules, and 200 bots on
four nodes.
"""

from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from zlib import crc32

import pytest

from botdrome.contest import local_first
from botdrome.contest.lobby import Lobby, Seeker, Wish
from botdrome.contest.local_first import (
    LATELY,
    LONGEST,
    MOST_TOLD,
    NAMED,
    STALE,
    DeskBeat,
    LocalFirst,
    PlayedGame,
)
from botdrome.server.nodes.shared_desk import SLACK

WISH = Wish("gomoku")
KEY = "gomoku"


def seeker(name: str, opponent: str | None = None, avoids: str | None = None) -> Seeker:
    return Seeker(ord(name[0]), name, WISH, opponent, avoids=avoids)


@pytest.fixture
def node() -> LocalFirst:
    return LocalFirst(0.05, 3)


def test_a_player_stays_while_others_play_the_same_here(node: LocalFirst) -> None:
    ada, bob = seeker("ada"), seeker("bob")
    assert node.arrive(KEY, ada, 0.0) is None and node.patience(KEY, ada) == 0.0
    node.arrive("another wish", bob, 0.0)
    assert node.patience(KEY, ada) == 0.0
    node.arrive(KEY, bob, 0.0)
    assert node.patience(KEY, ada) == node.patience(KEY, bob) == 0.05
    assert node.patience(KEY, seeker("ada", opponent="bob")) == 0.0
    invited = Seeker(1, "ada", Wish("gomoku", invite="secret"))
    assert node.patience(KEY, invited) == 0.0
    node.beat([], 1.0)
    assert node.patience(KEY, ada) == 0.05
    node.beat([], LATELY)
    assert node.patience(KEY, ada) == 0.0
    assert node.patience(KEY, seeker("ada", avoids="bob")) == 0.05


@pytest.mark.parametrize(
    ("arrivals", "wait"),
    [(1, 0.05), (5, 0.05), (32, 0.25), (64, LONGEST), (320, 0.1), (6400, 0.05)],
)
def test_a_player_waits_longer_where_others_keep_arriving(
    node: LocalFirst, arrivals: int, wait: float
) -> None:
    ada, bob = seeker("ada"), seeker("bob", avoids="ada")
    node.arrive(KEY, bob, 0.5)
    node.beat([], 1.0)
    for _ in range(arrivals):
        node.arrive(KEY, ada, 1.5)
    node.arrive("another wish", ada, 1.5)
    node.beat([], 2.0)
    assert node.patience(KEY, ada) == pytest.approx(wait)
    assert node.patience("another wish", ada) == 0.0  # it is alone
    assert node.patience(KEY, bob) == 0.05
    assert node.patience(KEY, ada, new=False) == 0.05
    for _ in range(arrivals):
        node.arrive(KEY, ada, 2.5, new=False)
    node.beat([], 3.0)
    assert node.patience(KEY, ada) == 0.05


def test_a_newcomer_goes_to_a_player_that_waits_elsewhere(node: LocalFirst) -> None:
    beat = DeskBeat([(KEY, seeker("bob")), (KEY, seeker("cid", opponent="dan"))])
    node.hear("bee.1", beat, 0.0)
    assert node.arrive("another wish", seeker("ada"), 0.1) is None
    assert node.arrive(KEY, seeker("bob"), 0.1) is None  # it has the same name
    assert node.arrive(KEY, seeker("ada"), 0.1) == "bee.1"
    assert node.arrive(KEY, seeker("eve"), 0.1) is None  # one is on its way
    assert node.arrive(KEY, seeker("dan"), 0.1) == "bee.1"
    node.hear("bee.1", beat, 0.5)
    assert node.arrive(KEY, seeker("eve"), STALE + 0.5) is None
    node.hear("bee.1", beat, 0.5)
    node.hear("cat.1", DeskBeat([(KEY, seeker("fay"))]), 0.5)
    node.forget("bee.1")
    assert node.arrive(KEY, seeker("eve"), 0.5) == "cat.1"
    node.forget("cat.1")
    assert node.arrive(KEY, seeker("eve"), 0.5) is None and not node._waiting


def test_a_player_that_was_sent_here_stays_and_hides_nobody(node: LocalFirst) -> None:
    node.hear("bee.1", DeskBeat([(KEY, seeker("bob"))]), 0.0)
    assert node.arrive(KEY, Seeker(1, "ada", WISH, moved=True), 0.1) is None
    assert node.arrive(KEY, seeker("eve"), 0.1) == "bee.1"


def test_two_that_met_often_look_for_others(node: LocalFirst) -> None:
    pair = seeker("ada"), seeker("bob")
    for _ in range(9):
        assert not node.meets_too_often(KEY, pair, 0.0)  # nobody else plays
    for names in (), ("ada",), ("bob", "ada"):
        node.hear("bee.1", DeskBeat(played={KEY: [*names]}), 0.0)
        assert not node.meets_too_often(KEY, pair, 0.0)  # nobody else plays there
    node.hear("bee.1", DeskBeat(played={KEY: ["ada", "bob", "eve"]}), 0.0)
    assert not node.meets_too_often(KEY, pair, STALE)
    assert node.meets_too_often(KEY, pair, 0.0)
    for _ in range(3):
        assert not node.meets_too_often(KEY, pair[::-1], 0.0)
    assert not node.meets_too_often(KEY, (seeker("cid"), seeker("dan")), 0.0)
    assert node.meets_too_often(KEY, pair, 0.0)
    node.forget("bee.1")
    node.arrive(KEY, seeker("cid"), 0.0)
    found = [node.meets_too_often(KEY, pair, 0.0) for _ in range(5)]
    assert found == [False, False, False, True, False]


def test_last_opponents_are_forgotten(node: LocalFirst, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_first, "MOST_MET", 2)
    node.arrive(KEY, seeker("eve"), 0.0)
    for one, other in (("ada", "bob"), ("cid", "dan")) * 9:
        assert not node.meets_too_often(KEY, (seeker(one), seeker(other)), 0.0)


def test_results_are_told_in_several_beats_and_learned_once(node: LocalFirst) -> None:
    games = [PlayedGame(WISH, "ada", "bob", number / 9) for number in range(9)]
    other, learned = LocalFirst(0.05, 3), []
    for number, game in enumerate(games):
        node.played(game)
        beat = node.beat([], 0.0)
        if number % 3:  # every third beat is lost
            learned += other.hear("ant.1", beat, 0.0)
    assert learned == games
    assert other.hear("ant.1", node.beat([], 0.0), 0.0) == []
    for game in games * MOST_TOLD:
        node.played(game)
    assert len(other.hear("ant.1", node.beat([], 0.0), 0.0)) == MOST_TOLD


def test_odd_wishes_hide_no_other_wish_of_players(node: LocalFirst) -> None:
    for number in range(2 * MOST_TOLD):
        node.arrive(f"odd {number}", seeker("odd"), 0.0)
    node.arrive(KEY, seeker("ada"), 0.0)
    for number in range(2 * NAMED):
        node.arrive(KEY, seeker(f"bot {number}"), 0.0)
    told = [node.beat([], 0.0).played for _ in range(4)]
    assert [len(played) for played in told] == [MOST_TOLD, MOST_TOLD, 1, MOST_TOLD]
    assert told[2] == {KEY: ["ada", "bot 0", "bot 1"]} and told[3] == told[0]


# 200 bots, skewed wishes.


class SimulatedNode:
    def __init__(self, name: str, repeats: int) -> None:
        self.name, self.lobby, self.first = name, Lobby(), LocalFirst(0.05, repeats)
        self.waiting: dict[int, SimulatedBot] = {}
        self.tables = 0


class SimulatedBot:
    def __init__(self, name: str, wish: Wish, node: SimulatedNode) -> None:
        self.name, self.wish, self.node = name, wish, node
        self.since = 0.0
        self.waits: list[float] = []
        self.met: Counter[str] = Counter()


class Simulation:
    """Nodes that pair bots, as the desk of a node does it. A move takes 2 ms."""

    def __init__(
        self,
        nodes: int,
        beats: bool = True,
        repeats: int = 20,
        spreads: bool = True,
        anew: bool = False,
    ) -> None:
        """`anew`: bots connect for each match, to the nodes in turn, two at a time."""
        self.nodes = [SimulatedNode(f"node {number}", repeats) for number in range(nodes)]
        self._spreads, self._beats, self._anew = spreads, beats, anew
        self._random, self._numbers, self._connected = Random(7), count(1), count()
        self._agenda: list[tuple[float, int, Callable[[], object]]] = []
        self.now, self.matches, self.moves = 0.0, 0, 0
        self.bots: list[SimulatedBot] = []

    def add(self, name: str, wish: Wish, at: int) -> None:
        bot = SimulatedBot(name, wish, self.nodes[at % len(self.nodes)])
        self.bots.append(bot)
        self._later(0.04 * self._random.random(), lambda: self._begin(bot))

    def run(self, seconds: float) -> None:
        self._later(0.25, self._beat)
        while self._agenda[0][0] < seconds:
            self.now, _, act = heappop(self._agenda)
            act()
        for bot in self.bots:
            bot.waits.append(self.now - bot.since)

    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        heappush(self._agenda, (self.now + seconds, next(self._numbers), act))

    def _begin(self, bot: SimulatedBot) -> None:
        bot.since = self.now
        if self._anew:
            bot.node = self.nodes[next(self._connected) // 2 % len(self.nodes)]
        self._seek(bot, None, fresh=True)

    def _seek(self, bot: SimulatedBot, avoids: str | None = None, fresh: bool = False) -> None:
        node, key = bot.node, str(bot.wish)
        ticket = round(bot.since * 1e9) * 1000 + next(self._numbers) % 1000
        mine = Seeker(ticket, bot.name, bot.wish, avoids=avoids)
        to = node.first.arrive(key, mine, self.now, self._anew)
        if to is not None and fresh:
            return self._move(bot, next(one for one in self.nodes if one.name == to), avoids)
        table, node.waiting[ticket] = node.lobby.seek(mine), bot
        if table is not None:
            return self._meet(node, key, table)
        stays = node.first.patience(key, mine, self._anew)
        wait = 0.0 if fresh and not stays else stays or node.first.wait_of(key, self._anew)
        return self._later(wait, lambda: self._offer(bot, node, mine))

    def _meet(self, node: SimulatedNode, key: str, table: tuple[Seeker, ...]) -> None:
        one, two = [node.waiting.pop(seeker.ticket) for seeker in table]
        if node.first.meets_too_often(key, table, self.now):
            for bot, other in ((one, two), (two, one)):
                self._move(bot, self._home(key), other.name)
            return
        idle = min(self.nodes, key=lambda one: one.tables)
        if self._spreads and node.tables >= idle.tables + max(1.0, SLACK * idle.tables**0.5):
            for bot in (one, two):
                self._move(bot, idle, None)
            return
        self.matches += 1
        node.tables += 1
        length = self._random.uniform(0.01, 0.2)
        for bot, other in ((one, two), (two, one)):
            bot.waits.append(self.now - bot.since)
            bot.met[other.name] += 1
            pause = length + self._random.uniform(0, 0.005)
            self._later(pause, lambda bot=bot: self._begin(bot))  # type: ignore[misc]
            bot.since = self.now + pause
        self._later(length, lambda: self._end(node))

    def _end(self, node: SimulatedNode) -> None:
        node.tables -= 1

    def _offer(self, bot: SimulatedBot, node: SimulatedNode, mine: Seeker) -> None:
        home = self._home(str(bot.wish))
        if mine.ticket in node.waiting and (home is not node or mine.avoids):
            node.lobby.leave(mine)
            del node.waiting[mine.ticket]
            self._move(bot, home, None)

    def _home(self, key: str) -> SimulatedNode:
        return self.nodes[crc32(key.encode()) % len(self.nodes)]

    def _move(self, bot: SimulatedBot, to: SimulatedNode, avoids: str | None) -> None:
        moves = bot.node is not to
        self.moves += moves
        bot.node = to
        self._later(0.002 if moves else 0.0, lambda: self._seek(bot, avoids))

    def _beat(self) -> None:
        self._later(0.25, self._beat)
        for node in self.nodes:
            waiting = [
                (str(one.wish), one)
                for one in node.lobby.invited(None)
                if self.now - node.waiting[one.ticket].since > node.first.wait_of(str(one.wish))
            ]
            beat = node.first.beat(waiting if self._beats else [], self.now)
            for other in self.nodes:
                if other is not node:
                    other.first.hear(node.name, beat, self.now)


def skewed(nodes: int) -> Simulation:
    """200 bots: half of them want the first of six wishes, and half of the rest the next one."""
    simulation, shares = Simulation(nodes), Random(3)
    for number in range(200):
        wish = next((one for one in range(5) if shares.random() < 0.5), 5)
        simulation.add(f"bot {number}", Wish("gomoku", options=str(wish)), shares.randrange(nodes))
    return simulation


def test_nobody_starves_and_bots_meet_many_others() -> None:
    """In a quarter of a minute, compared with one server."""
    cluster, alone = skewed(4), skewed(1)
    cluster.run(15.0)
    alone.run(15.0)
    assert max(max(bot.waits) for bot in cluster.bots) < 1.0
    assert cluster.matches > 0.9 * alone.matches
    assert cluster.moves < 0.1 * cluster.matches
    assert max(Counter(bot.node for bot in cluster.bots).values()) < 1.3 * 50
    opponents = [sorted(len(bot.met) for bot in simulation.bots) for simulation in (cluster, alone)]
    for share, part in ((0.1, 1 / 3), (0.5, 1 / 2), (0.9, 1 / 3)):
        ours, theirs = [found[round(share * len(found))] for found in opponents]
        assert ours >= part * theirs, (share, ours, theirs)
    assert all(len(bot.met) > 1 for bot in cluster.bots)


def test_few_move_that_connect_for_each_match() -> None:
    """Fifty bots of each of two names: half of them would be no opponent for a newcomer."""
    simulation = Simulation(3, anew=True)
    for number in range(100):
        simulation.add(f"bot {number % 2}", WISH, number)
    simulation.run(5.0)
    assert simulation.moves < 0.1 * simulation.matches
    assert max(max(bot.waits) for bot in simulation.bots) < 1.0


@pytest.mark.parametrize("beats", [True, False])
def test_a_lone_player_meets_those_that_never_leave_their_node(beats: bool) -> None:
    """The first one goes to the home at once. Without beats it would starve there, since the others
    are always paired at their node.
    """
    home = crc32(str(WISH).encode()) % 4
    simulation = Simulation(4, beats, repeats=1_000_000, spreads=False)
    for number in range(41):
        simulation.add(f"bot {number}", WISH, home + 1)
    simulation.run(10.0)
    assert (max(max(bot.waits) for bot in simulation.bots) < 1.0) == beats
