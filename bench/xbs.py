"""Players of boat games, with default socket options.

`python -m bench.xbs NAME PORT PLAYERS PAUSE PHASE...`

Games start and end throughout, not all at once: the first phase has to last `arrivals()`.
"""

import random
import sys
import time
from functools import partial

from bench.clients import Tally, first_in_line
from bench.pacing import Line, Loop

BOARD = b".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
SHOTS = [b"|%d|%d\n" % (x, y) for y in range(1, 11) for x in range(1, 11)]
TURNS = 2 * 96
"""Turns per game."""
GAP = 1 / 400
"""Seconds between two connecting clients at the start of a load at full speed."""


def arrivals(players: int, pause: float) -> float:
    """Return the seconds in which the players come."""
    return max(GAP * players, pause * TURNS)


class Sailor:
    """Joins a game, shoots at one square after the other, and reconnects after the game."""

    def __init__(self, load: "Load", name: bytes) -> None:
        self._load, self._name = load, name
        self._turn, self._rest = b"N|" + name, b""
        self._target, self._shots, self._sent = b"", 0, 0.0

    def connected(self, line: Line) -> None:
        self._line = line
        line.send(b"J|%b|%b\n" % (self._name, BOARD))

    def received(self, data: bytes) -> None:
        if self._sent:
            self._load.tally.answers.append(time.perf_counter() - self._sent)
            self._sent = 0.0
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line == self._turn:
                self._load.turn(self)
            elif line[:2] == b"S|":
                self._target = next(name for name in line.split(b"|")[1:] if name != self._name)

    def shoot(self) -> None:
        self._load.tally.done += 1
        self._sent = time.perf_counter()
        self._line.send(b"S|" + self._target + SHOTS[self._shots])
        self._shots += 1

    def lost(self) -> None:
        self._load.again(self._name)


class Load:
    """A number of players at once. A random pause before each shot limits the load."""

    def __init__(self, loop: Loop, port: int, name: bytes, players: int, pause: float) -> None:
        self._loop, self._port, self._pause = loop, port, pause
        self.tally = Tally()
        gap = arrivals(players, pause) / players
        for number in range(players):
            loop.call_later(number * gap, partial(self.again, name + b"%d" % number))

    def again(self, name: bytes) -> None:
        self._loop.connect(self._port, Sailor(self, name))

    def turn(self, sailor: Sailor) -> None:
        self._loop.call_later(
            self._pause * random.uniform(0.5, 1.5), sailor.shoot
        ) if self._pause else sailor.shoot()


def main(name: str, port: str, players: str, pause: str, *phases: str) -> None:
    if name == "probe":
        first_in_line()
    loop = Loop()
    load = Load(loop, int(port), name.encode(), int(players), float(pause))
    for seconds in phases:
        loop.run(float(seconds))
        load.tally.report()


if __name__ == "__main__":
    main(*sys.argv[1:])
