"""Rate the house bots of each game in a round robin of pairs, and measure the CPU time of their
moves.

python -m bench.ladder [GAME...]
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from os import cpu_count
from statistics import mean

from msgspec import Struct

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.contest.formats.format import Fixture
from botdrome.contest.formats.round_robin import TurnFixtures
from botdrome.contest.strength import rate
from botdrome.games.game import Raw, View
from botdrome.match.match import Match
from botdrome.offline.batches import in_processes
from botdrome.offline.tournament import seed_of_bot

MATCHES = {
    "noughts-and-crosses": 200,
    "bumblebots": 100,
    "gomoku": 50,
    "battleship": 40,
    "battlecube": 200,
    "bomberman": 40,
}
"""The number of matches of each pair; half of them in each seat."""
SEED = 1


class Played(Struct):
    """One match: its fixture, the places, and the CPU seconds of each move, by seat."""

    fixture: Fixture
    places: tuple[int, ...]
    times: list[list[float]]


def timed(bot: Callable[[View], Raw], times: list[float]) -> Callable[[View], Raw]:
    """Return the bot with a clock of its CPU time."""

    def move(view: View) -> Raw:
        began = time.thread_time()
        raw = bot(view)
        times.append(time.thread_time() - began)
        return raw

    return move


def play(game: str, portion: Sequence[Fixture]) -> list[Played]:
    return [play_match(game, fixture) for fixture in portion]


def play_match(game: str, fixture: Fixture) -> Played:
    row, ladder = CATALOGUE[game], list(house_bots(game).values())
    times: list[list[float]] = [[] for _ in fixture.entrants]
    bots = [
        timed(seated(ladder[entrant], seed_of_bot(fixture.seed, seat)), times[seat])
        for seat, entrant in enumerate(fixture.entrants)
    ]
    result = simulate(Match(row.game, len(bots), row.terms, fixture.seed), bots).result
    assert result is not None
    return Played(fixture, result.places, times)


class Ladder:
    """The results of all matches of a game."""

    def __init__(self, game: str) -> None:
        self.game, self.names = game, list(house_bots(game))
        self.scores: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        self.blocks: dict[tuple[int, ...], list[dict[str, int]]] = defaultdict(list)
        """The places in the matches of one pair on one seed, from both seats."""
        self.times: list[list[float]] = [[] for _ in self.names]

    def climb(self) -> None:
        """Play all matches."""
        plan = list(TurnFixtures(len(self.names), 2, MATCHES.get(self.game, 100), SEED))
        for played in in_processes(partial(play, self.game), plan, cpu_count() or 1):
            (one, two), (first, second) = played.fixture.entrants, played.places
            self.scores[one, two][
                "won" if first < second else "lost" if first > second else "drawn"
            ] += 1
            block = self.blocks[min(one, two), max(one, two), played.fixture.seed]
            block.append({self.names[one]: first, self.names[two]: second})
            for entrant, times in zip((one, two), played.times, strict=True):
                self.times[entrant] += times

    def score(self, one: int, two: int) -> tuple[int, int, int]:
        """Return the wins, draws and losses of one bot against another, from both seats."""
        here, there = self.scores[one, two], self.scores[two, one]
        return (
            here["won"] + there["lost"],
            here["drawn"] + there["drawn"],
            here["lost"] + there["won"],
        )

    def table(self) -> str:
        blocks = ([tuple(one.items()) for one in block] for block in self.blocks.values())
        rated = rate((block, 1, 1.0) for block in blocks).strengths
        lines = [
            "| bot | rating | 95 % | against the bot above | mean | p99 | slowest |",
            "|---|---|---|---|---|---|---|",
        ]
        ranked = sorted(self.names, key=lambda name: rated[name].rating)
        for below, name in zip([None, *ranked], ranked, strict=False):
            place = self.names.index(name)
            strength, times = rated[name], sorted(self.times[place])
            versus = "{}-{}-{}".format(*self.score(place, self.names.index(below))) if below else ""
            cells = [
                f"`{name}`",
                f"{strength.rating:.0f}",
                f"± {strength.margin or 0:.0f}",
                versus,
                *(
                    f"{seconds * 1000:.2f} ms"
                    for seconds in (mean(times), times[int(len(times) * 0.99)], times[-1])
                ),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)


def main(games: list[str]) -> None:
    for game in games or list(CATALOGUE):
        ladder = Ladder(game)
        ladder.climb()
        print(
            f"## {game}: {MATCHES.get(game, 100)} matches of each pair\n\n{ladder.table()}\n",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
