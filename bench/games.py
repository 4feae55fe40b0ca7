"""Whole matches of random bots through `Match`, with their news: how much of each game a CPU second plays."""

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from botdrome.bots.house import HOUSE, seated
from botdrome.formats import FORMATS
from botdrome.match.match import Match
from botdrome.match.simulate import simulate


class Ask(Struct):
    """What is counted, how many seats play, and the figure to reach."""

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
    """How many units were played, and the CPU time that it took."""
    row, bot = FORMATS[name], HOUSE[name]["random"]
    units, seed, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        seed += 1
        bots: list[Any] = [seated(bot, seed * 100 + seat) for seat in range(ask.players)]
        units += ask.count(simulate(Match(row.game, ask.players, row.terms, seed), bots))
    return units, time.process_time() - began


def main(names: list[str]) -> None:
    print(f"{'game':22}{'per CPU second':>16}  {'unit':8}{'asked':>8}")
    for name in names or list(FORMATS):
        ask = ASKS[name]
        play_for(0.3, name, ask)
        gc.collect()
        rates = sorted(units / spent for units, spent in (play_for(1.0, name, ask) for _ in range(5)))
        print(f"{name:22}{rates[2]:>16,.0f}  {ask.unit:8}{ask.figure:>8,}")


if __name__ == "__main__":
    main(sys.argv[1:])
