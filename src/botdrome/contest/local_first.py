"""Local first: which players of a node are paired there, and which go to another node.

A node pairs its own players at once. A player that found nobody within the wait goes to the home
of its wish; so does one that is alone on its node, names an opponent or has an invite, at once.
A player with a new connection waits longer where such players keep arriving: it gets to a node by
chance, and one of the next is likely to fit. Players that keep their connections would meet only
the few of their node.
Each node tells the others in beats which players wait there for long: a newcomer that could meet
one of them goes there instead of staying. So nobody starves, however the players are spread. Two
players that have met many times in a row go to the home, too, and avoid each other for the wait.

A beat tells everything anew, so that the next one repairs a lost one. Nodes and groups of wishes
that may meet (`key`) are strings here.
"""

from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from botdrome.contest.lobby import Seeker, Wish, part_of

LATELY = 10.0
"""Seconds for which a player that sought here counts as one of this node."""
STALE = 2.0
"""Seconds after which a beat says nothing any more."""
MOST_TOLD = 200
"""The largest number of players, wishes and results that a beat tells. The first two take turns."""
MOST_ALIKE = 10
"""The largest number of players with one wish that a beat tells."""
MOST_MET = 20_000
"""The largest number of players whose last opponents are kept."""
REPEATED = 4
"""Beats that tell a result."""
ENOUGH = 32
"""Arrivals of a wish among which a player finds an opponent nearly always, if there are any."""
LONGEST = 0.5
"""Seconds that a player waits for these at most."""
NAMED = 3
"""Players of a wish that a beat names: enough to know whether two have others to meet."""


class PlayedGame(Struct, frozen=True, array_like=True):
    """A result that moves strengths: the points of the first player, 0 to 1."""

    wish: Wish
    one: str
    two: str
    points: float


class DeskBeat(Struct, frozen=True, array_like=True):
    """What a node tells about its players."""

    waiting: list[tuple[str, Seeker]] = []
    """The players that have found nobody for long."""
    played: dict[str, list[str]] = {}
    """The wishes of its players, with a few of their names."""
    last: int = 0
    """The number of results so far."""
    results: list[PlayedGame] = []
    """The latest of them."""


class LocalFirst:
    """The players of one node. Time is passed in, in seconds."""

    def __init__(self, wait: float, repeats: int) -> None:
        """`wait` as above; `repeats` is the number of meetings in a row that are too many."""
        self.wait, self._repeats = wait, repeats
        self._players: dict[str, dict[str, float]] = {}
        self._arrived, self._rates = Counter[str](), dict[str, float]()
        """New connections since the last beat; and per second, in the interval before it."""
        self._since = 0.0
        self._met: dict[str, tuple[str, int]] = {}
        """The last opponent of each player, and how many times in a row."""
        self._beats: dict[str, tuple[float, DeskBeat]] = {}
        self._waiting: dict[str, dict[str, list[Seeker]]] = {}
        """The players that wait at other nodes."""
        self._results: deque[list[PlayedGame]] = deque([[]], maxlen=REPEATED)
        self._last = self.turn = 0
        """The number of results and of beats so far."""
        self._learned: dict[str, int] = {}

    # Players that seek.

    def arrive(self, key: str, seeker: Seeker, now: float, new: bool = True) -> str | None:
        """Note a player that seeks here. Return the node at which one waits that it should meet.

        `new`: it connects anew for each match.
        """
        self._players.setdefault(key, {})[seeker.name] = now
        if seeker.moved:  # so that none is sent to and fro
            return None
        self._arrived[key] += new and not _names_another(seeker)
        for node, waiting in self._waiting.get(key, {}).items():
            found = [one for one in waiting if one.accepts(seeker) and seeker.accepts(one)]
            if found and now - self._beats[node][0] < STALE:
                waiting.remove(found[0])  # one is enough, until the next beat names it again
                return node
        return None

    def patience(self, key: str, seeker: Seeker, new: bool = True) -> float:
        """Return the seconds for which a player that has found nobody stays here."""
        if _names_another(seeker):
            return 0.0
        if seeker.avoids is not None:
            return self.wait
        alone = self._players.get(key, {}).keys() <= {seeker.name}
        return 0.0 if alone else self.wait_of(key, new)

    def wait_of(self, key: str, new: bool = True) -> float:
        """Return the seconds for which a player with others here waits for one that fits.

        For one with a new connection it grows with the rate of these, until enough come within it.
        """
        rate = self._rates.get(key, 0.0) if new else 0.0
        return max(self.wait, min(rate * LONGEST**2, ENOUGH**2 / max(rate, 1.0)) / ENOUGH)

    def meets_too_often(self, key: str, seekers: Sequence[Seeker], now: float) -> bool:
        """Count a meeting of two.

        Return True instead if they have met too often in a row, and others play the same.
        """
        names = [seeker.name for seeker in seekers]
        times = [
            met[1] + 1 if (met := self._met.get(one)) is not None and met[0] == other else 1
            for one, other in (names, names[::-1])
        ]
        too_often = max(times) > self._repeats and self._has_others(key, names, now)
        for one, other, number in zip(names, names[::-1], times, strict=True):
            self._met.pop(one, None)
            if not too_often:
                self._met[one] = other, number
        while len(self._met) > MOST_MET:
            del self._met[next(iter(self._met))]
        return too_often

    def _has_others(self, key: str, names: Sequence[str], now: float) -> bool:
        return bool(self._players.get(key, {}).keys() - set(names)) or any(
            now - since < STALE and not set(names).issuperset(beat.played.get(key, ()))
            for since, beat in self._beats.values()
        )

    # Beats.

    def played(self, game: PlayedGame) -> None:
        """A match of two players that matchmaking has paired here is over."""
        self._results[-1].append(game)
        self._last += 1

    def beat(self, waiting: list[tuple[str, Seeker]], now: float) -> DeskBeat:
        """Return what to tell the other nodes, with those that wait here for long."""
        self._players = {
            key: still
            for key, players in self._players.items()
            if (still := {name: at for name, at in players.items() if now - at < LATELY})
        }
        results = [game for games in self._results for game in games][-MOST_TOLD:]
        self._results.append([])
        played = {
            key: list(islice(self._players[key], NAMED))
            for key in part_of(list(self._players), self.turn, MOST_TOLD)
        }
        passed, self._since = now - self._since, now
        self._rates = {key: number / passed for key, number in self._arrived.items() if passed}
        self._arrived.clear()
        self.turn += 1
        return DeskBeat(waiting, played, self._last, results)

    def hear(self, node: str, beat: DeskBeat, now: float) -> list[PlayedGame]:
        """Take the beat of another node. Return the results that are new."""
        self.forget(node)
        self._beats[node] = now, beat
        for key, seeker in beat.waiting:
            self._waiting.setdefault(key, {}).setdefault(node, []).append(seeker)
        new = beat.last - self._learned.get(node, beat.last - len(beat.results))
        self._learned[node] = beat.last
        return beat.results[-new:] if new > 0 else []

    def forget(self, node: str) -> None:
        """What the last beat of a node has told holds no more."""
        _, beat = self._beats.pop(node, (0.0, DeskBeat()))
        for key, _ in beat.waiting:
            nodes = self._waiting.get(key, {})
            nodes.pop(node, None)
            if not nodes:
                self._waiting.pop(key, None)


def _names_another(seeker: Seeker) -> bool:
    """Whether only one player fits: an opponent, or one with the same invite."""
    return seeker.opponent is not None or seeker.wish.invite is not None
