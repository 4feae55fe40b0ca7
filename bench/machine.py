"""The machine under test, and its timer jitter: the lateness of a 1 ms timer on one core while the
other core is busy.

A server on that core cannot be more punctual. On a shared machine, the jitter shows how much of a
latency the machine causes.
"""

import json
import platform
import subprocess
import sys
import time

from bench.clients import percentiles, shown
from botdrome.version import __version__

SECONDS = 4.0


def jitter() -> list[float]:
    """The median and the 99th percentile, in milliseconds."""
    neighbour = subprocess.Popen(
        ["taskset", "-c", "1", sys.executable, "-m", "bench.machine", "work"]
    )
    command = ["taskset", "-c", "0", sys.executable, "-m", "bench.machine", "wait"]
    found: list[float] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    )
    neighbour.wait()
    return found


def jitter_shown() -> str:
    return f"afterwards a bare timer on that core is late by {shown(jitter())}"


def _wait() -> None:
    late, due = [], time.perf_counter()
    until = due + SECONDS
    while due < until:
        due += 0.001
        time.sleep(max(0.0, due - time.perf_counter()))
        late.append(time.perf_counter() - due)
    print(json.dumps(percentiles(late)))


def _work() -> None:
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        pass


def _tell() -> None:
    print(f"Python {platform.python_version()}, Botdrome {__version__}")


if __name__ == "__main__":
    {"wait": _wait, "work": _work, "": _tell}[sys.argv[1] if len(sys.argv) > 1 else ""]()
