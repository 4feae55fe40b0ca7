"""The speed of a machine for bots in Python: the CPU time of a fixed piece of work in the sandbox,
and the class of runners that follows from it.
"""

import sys
from statistics import median
from time import perf_counter, process_time

from botdrome.client.program import CannotStart, Program
from botdrome.client.sandbox import BotFiles, Limits
from botdrome.offline.isolation import OWN_VARIABLES, PYTHON

REFERENCE = 0.025
"""Seconds of CPU time for the work at speed 1."""
TIMES = 11
LONGEST = 60.0
"""Seconds for all of it, on a slow and busy machine."""
STEPS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
"""The speeds of the classes that are made from it."""


def measured_speed(limits: Limits) -> float:
    """Return the speed of this machine in the sandbox. Raise CannotStart if there is no answer."""
    command = [sys.executable, "-P", "-m", "botdrome.offline.speed"]
    program = Program(command, limits, OWN_VARIABLES, BotFiles(PYTHON))
    try:
        lines = program.next_lines(perf_counter() + LONGEST)
        if not lines:
            raise CannotStart(f"the speed cannot be measured: {program.last_words()}")
        return round(REFERENCE / float(lines[-1]), 2)
    finally:
        program.close(farewell=0)


def class_of(speed: float) -> str:
    """Return the class of runners of about this speed: `speed-1.4` from 1.18 to 1.67."""
    return f"speed-{min(STEPS, key=lambda step: max(step, speed) / min(step, speed))}"


def work() -> float:
    """Return the CPU time of what bots do: loops over a board, counts and new lists."""
    began = process_time()
    board = [[row * column % 7 for column in range(20)] for row in range(20)]
    for step in range(500):
        counts: dict[int, int] = {}
        for row in board:
            for cell in row:
                counts[cell] = counts.get(cell, 0) + 1
        board = [[(cell + counts[cell] + step) % 7 for cell in row] for row in board]
    return process_time() - began


if __name__ == "__main__":
    sys.stdout.write(f"{median(work() for _ in range(TIMES))}\n")
