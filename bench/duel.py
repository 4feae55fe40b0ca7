"""Players of duel arena, with Nagle's algorithm (the default), who play gomoku.

`python -m bench.duel NAME PORT PLAYERS PAUSE PHASE...`

Bots think for a random time. With a fixed time, moves that once arrived together would always
arrive together.
"""

import random
import sys
import time
from functools import partial

from bench.clients import Tally, first_in_line
from bench.pacing import Line, Loop

FIND = b'{"event": "find_opponent"}'
PATTERN = [(x, y) for y in range(2, 15) for x in range(15)]
CROSSES, CIRCLES = ([(x, y) for x, y in PATTERN if (x // 2 + y) % 2 == side] for side in (0, 1))
"""Points on which neither side ever has more than two in a row."""
WINNING = [(x, 0) for x in range(5)]
LENGTH, LONG = 49, 171
"""Moves of a board. Two long boards of probes last to the end, so that probes are not paired with
bots of the load.
"""


def point(stones: int, length: int) -> tuple[int, int]:
    """Return the next move on a board that the first player wins with stone number `length`."""
    turn, left = divmod(stones, 2)[0], (length - stones + 1) // 2
    if stones % 2 == 0:
        return WINNING[-left] if left <= 5 else CROSSES[turn]
    return CIRCLES[turn]


class DuelTally(Tally):
    """Its answers are those to the opponent, if both bots are in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[bytes, tuple[Bot, float]] = {}
        """The bot that made the last move on each board, and the time."""

    def asked(self, bot: "Bot", board: bytes) -> None:
        sender, sent = self.sent.pop(board, (bot, 0.0))
        if sender is not bot:
            self.answers.append(time.perf_counter() - sent)


class Bot:
    """Plays one match after the other. `pause` is its average thinking time in seconds."""

    def __init__(self, name: str, length: int, pause: float, tally: DuelTally, loop: Loop) -> None:
        self._name, self._length, self._pause, self._tally, self._loop = (
            name,
            length,
            pause,
            tally,
            loop,
        )
        self._rest, self._played = b"", False

    def connected(self, line: Line) -> None:
        self._line = line
        self._send(b'{"username": "%b"}' % self._name.encode())

    def received(self, data: bytes) -> None:
        data = self._rest + data
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], "big")):
            self._told(data[4:end])
            data = data[end:]
        self._rest = data

    def _send(self, body: bytes) -> None:
        self._line.send(len(body).to_bytes(4, "big") + body)

    def lost(self) -> None:
        pass

    def _told(self, message: bytes) -> None:
        if message.startswith(b'{"event": "get_move"'):
            board = message[message.index(b'"_id": ') : message.index(b', "_size"')]
            self._tally.asked(self, board)
            if self._pause:
                self._loop.call_later(
                    random.expovariate(1 / self._pause), partial(self._answer, message, board)
                )
            else:
                self._answer(message, board)
        elif message.startswith(b'{"event": "player_is_free"'):
            self._tally.matches += self._played / 2
            self._played = True
            self._send(FIND)

    def _answer(self, message: bytes, board: bytes) -> None:
        start = message.index(b'"id": "') + 7
        stones = message.count(b"[") - 1
        x, y = point(stones, self._length)
        self._tally.done += 1
        if stones + 1 < self._length:
            self._tally.sent[board] = self, time.perf_counter()
        self._send(
            b'{"event": "make_move", "id": "%b", "x": %d, "y": %d}'
            % (message[start : message.index(b'"', start)], x, y)
        )


def main(name: str, port: str, players: str, pause: str, *phases: str) -> None:
    if name == "probe":
        first_in_line()
    tally, loop = DuelTally(), Loop()
    length = LONG if name == "probe" else LENGTH
    for number in range(int(players)):
        loop.connect(int(port), Bot(f"{name} {number}", length, float(pause), tally, loop))
    for seconds in phases:
        loop.run(float(seconds))
        tally.report()


if __name__ == "__main__":
    main(*sys.argv[1:])
