"""Steps of each game per CPU second: whole matches of random bots through `Match`."""

import gc
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from msgspec import Struct

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match


class Ask(Struct):
    """The unit that is counted, the number of seats, and the target."""

    unit: str
    count: Callable[[Match], int]
    players: int
    figure: int


def matches(match: Match) -> int:
    return 1


def moves(match: Match) -> int:
    return sum(kind == "move" for _, kind, _, _ in match.inputs)


def steps(match: Match) -> int:
    return match.steps


ASKS: dict[str, Ask] = {
    "noughts-and-crosses": Ask("matches", matches, 2, 12_000),
    "gomoku": Ask("moves", moves, 2, 60_000),
    "battleship": Ask("shots", moves, 2, 50_000),
    "bumblebots": Ask("ticks", steps, 2, 12_000),
    "bomberman": Ask("rounds", steps, 4, 8_000),
    "battlecube": Ask("ticks", steps, 8, 8_000),
}


def play_for(seconds: float, name: str, ask: Ask) -> tuple[int, float]:
    """Return the number of units and their CPU time."""
    row, bot = CATALOGUE[name], house_bots(name)["random"]
    units, seed, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        seed += 1
        bots: list[Any] = [seated(bot, seed * 100 + seat) for seat in range(ask.players)]
        units += ask.count(simulate(Match(row.game, ask.players, row.terms, seed), bots))
    return units, time.process_time() - began


def main(names: list[str]) -> None:
    print(
        "per CPU second, best and median of 16 slices; the yardstick is plain Python, measured "
        "between them\n"
    )
    print(f"{'game':22}{'best':>10}{'median':>10}  {'unit':10}{'target':>8}{'yardstick':>16}")
    for name in names or list(CATALOGUE):
        ask = ASKS[name]
        play_for(0.3, name, ask)
        gc.collect()
        rates, lengths = [], []
        for _ in range(16):
            units, spent = play_for(0.3, name, ask)
            rates.append(units / spent)
            lengths.append(yardstick())
        worst, best = max(lengths) * 1000, min(lengths) * 1000
        row = f"{name:22}{max(rates):>10,.0f}{median(rates):>10,.0f}  {ask.unit:10}{ask.figure:>8,}"
        print(f"{row}{f'{best:.0f} to {worst:.0f} ms':>16}")


def yardstick() -> float:
    """CPU time of a fixed piece of work, to compare shared machines."""
    began, kept = time.process_time(), {}
    for number in range(100_000):
        kept[number % 97] = (number, number + 1)
    return time.process_time() - began


if __name__ == "__main__":
    main(sys.argv[1:])
