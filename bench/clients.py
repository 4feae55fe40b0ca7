"""Load processes: clients on the second core, which report what they counted after each phase.

A load is `python -m bench.LOAD NAME ADDRESS... CLIENTS PAUSE PHASE...`: the phases in seconds, the
average pause of a client before a move in seconds. The first phase is for warming up.
"""

import gc
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

Process = subprocess.Popen[str]


class Tally:
    """What the clients of this process did in this phase."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.done = 0
        self.matches = 0.0
        self.answers: list[float] = []
        """Seconds from a move to its answer, while the match goes on."""
        self.ends: list[float] = []
        """Seconds from the last move to the result, which is sent after it is on disk."""
        self._began = time.perf_counter()

    def report(self) -> None:
        """Print what was counted, and begin again."""
        found = {"done": self.done, "matches": self.matches}
        found["rate"] = self.done / (time.perf_counter() - self._began)
        spread = {"answers": percentiles(self.answers), "ends": percentiles(self.ends)}
        print(json.dumps(found | spread), flush=True)
        self.begin()


def start(module: str, *words: object, cores: str = "1") -> Process:
    command = ["taskset", "-c", cores, sys.executable, "-m", module, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def report(load: Process) -> Any:
    """Wait for the next report."""
    assert load.stdout is not None
    return json.loads(load.stdout.readline())


def stop(load: Process) -> None:
    load.kill()
    load.communicate()


def first_in_line() -> None:
    """Raise the priority of a measuring process and disable its garbage collector, so that it is
    not late itself.
    """
    gc.disable()
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def percentiles(seconds: list[float]) -> list[float]:
    """The median and the 99th percentile, in milliseconds."""
    found = sorted(seconds) or [0.0]
    return [found[int(len(found) * part)] * 1000 for part in (0.5, 0.99)]


def shown(found: list[float]) -> str:
    return "{:.2f} ms (p99 {:.2f} ms)".format(*found)


def number(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}"
