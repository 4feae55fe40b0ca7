"""The memory that the process of a bot uses."""

import os
import subprocess
from pathlib import Path

from botdrome.runner.seats import Seat

PAGE = os.sysconf("SC_PAGE_SIZE")


def memory_of(seat: Seat) -> int:
    """Return the resident bytes of a bot's process; 0 if it has none of its own."""
    pid = getattr(seat, "pid", None)
    return resident(pid) if pid else 0


def resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 if it is gone."""
    statm = Path(f"/proc/{pid}/statm")
    try:
        return int(statm.read_text().split()[1]) * PAGE
    except FileNotFoundError:
        return _as_ps_says(pid)


def _as_ps_says(pid: int) -> int:
    """For systems without /proc."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
    return int(told) * 1024 if told else 0
