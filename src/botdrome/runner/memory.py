"""The memory that the process of a bot uses."""

import os
import subprocess
from pathlib import Path

from botdrome.client.guard import descendants
from botdrome.runner.seats import FunctionSeat, Seat

PAGE = os.sysconf("SC_PAGE_SIZE")


def memory_of(seat: Seat) -> tuple[int, int]:
    """Return the process of a bot, and the resident bytes of it and the processes below; zeros if
    it has none of its own.
    """
    pid = None if isinstance(seat, FunctionSeat) else seat.pid
    return (pid, sum(map(resident, (pid, *descendants(pid))))) if pid else (0, 0)


def resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 if it is gone."""
    statm = Path(f"/proc/{pid}/statm")
    try:
        return int(statm.read_text().split()[1]) * PAGE
    except OSError:
        return _as_ps_says(pid)


def _as_ps_says(pid: int) -> int:
    """For systems without /proc."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return int(told) * 1024 if told else 0
