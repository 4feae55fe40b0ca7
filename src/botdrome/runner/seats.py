"""Seats: the two kinds of bot that the offline runner knows, a function and a program."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.client.program import Program
from botdrome.games.game import Raw, View


class Overdue(BaseException):
    """A function was stopped because it took far too long. (Not an Exception: bots catch those.)"""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Stop what runs inside after so many seconds. Only the main thread can be stopped so; elsewhere nothing is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Effort(Struct):
    """How many moves a bot made in a match, and the time that they took."""

    moves: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.seconds += seconds


class FunctionSeat:
    """A bot that is a function. `trusted` ones (the house's) are neither stopped nor checked for JSON."""

    def __init__(self, bot: Callable[[View], Raw], trusted: bool) -> None:
        self._bot, self.trusted = bot, trusted
        self.effort = Effort()

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        """Its move, and the seconds that it took. Whatever the function raises goes through."""
        began = perf_counter()
        if self.trusted:
            raw = self._bot(view)
        else:
            with alarm(limit):
                raw = msgspec.json.decode(msgspec.json.encode(self._bot(view)))
        spent = perf_counter() - began
        self.effort.add(spent)
        return raw, spent


class ProgramSeat:
    """A bot that is a program."""

    def __init__(self, program: Program, greeting: bytes) -> None:
        self.program = program
        self.effort = Effort()
        self.asked = perf_counter()
        self.greeted = False
        """It has sent its first message."""
        program.send([greeting])


Seat = FunctionSeat | ProgramSeat
