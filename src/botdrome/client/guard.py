"""The guard of a bot's processes: it starts the bot, watches its limits, and lets no process of it
survive.

It runs as the module `guard`, with nothing but the standard library, and gets the words FD LIMITS
FOLDERS COMMAND... FD is a socket to the runner. The guard tells it when the bot has started and
ended, and why the bot was killed. When the runner closes the socket, or dies by whatever cause, the
guard kills all processes of the bot. LIMITS are words such as `memory=256`.

With `sandbox=USER`, the command starts without environment variables, and as that user unless it is
0. FOLDERS are those that the user must reach, one on each line.
"""

import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress

TYPE_CHECKING = False  # the module typing takes long to import
if TYPE_CHECKING or __name__ != "guard":
    from botdrome.client.bot_start import (
        MEGABYTE,
        OPEN_FILES,
        OPEN_FILES_OF_ALL,
        THREADS,
        become,
        new_group,
        prctl,
        read,
    )
else:
    from bot_start import (
        MEGABYTE,
        OPEN_FILES,
        OPEN_FILES_OF_ALL,
        THREADS,
        become,
        new_group,
        prctl,
        read,
    )

INTERVAL = 0.1
"""Seconds between two checks of the limits."""
SET_CHILD_SUBREAPER = 36
"""A number of Linux's prctl."""
ATTEMPTS = 100


def descendants(process: int) -> Iterator[int]:
    """Yield the processes below a process, parents first. Their order is that of their start."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    yield child
                    yield from descendants(child)


def status_of(process: int) -> dict[str, int]:
    """Return the numbers that the kernel tells of a process, by name."""
    with suppress(OSError), open(f"/proc/{process}/status") as file:
        rows = (line.split() for line in file)
        return {row[0]: int(row[1]) for row in rows if row[0] in ("VmPTE:", "Threads:")}
    return {}


def open_files_of(process: int) -> int:
    """Return how many files and sockets are open; the most possible if the process hides them."""
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except PermissionError:
        return OPEN_FILES
    except OSError:
        return 0


def memory_of(process: int) -> int:
    """Return the bytes that a process uses; memory that it shares with others counts in part, where
    the system says how much.
    """
    with suppress(OSError), open(f"/proc/{process}/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
    with suppress(OSError), open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
    return 0


class Guard:
    def __init__(self, runner: socket.socket, limits: dict[str, int]) -> None:
        self._runner, self._limits = runner, limits
        self._bot = 0
        """The bot's first process; 0 before its start and after its end."""
        self._group = new_group(limits)
        self._alone = False
        """Whether the bot and all processes that it started have ended."""

    def run(self, command: list[str], folders: list[str]) -> None:
        waker, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(SET_CHILD_SUBREAPER, 1)
        if not self._start(command, folders):
            return
        interval = INTERVAL if {"memory", "processes"} & self._limits.keys() else None
        while not self._alone:
            ready, _, _ = select.select([self._runner, waker], [], [], interval)
            if waker in ready:
                waker.recv(4096)
                self._reap()
            if self._runner in ready and not self._obey():
                break
            if not self._within_limits():
                break
        self._kill_all()
        if self._group:
            with suppress(OSError):
                os.rmdir(self._group)

    def _start(self, command: list[str], folders: list[str]) -> bool:
        failure, failed = os.pipe()
        guard = os.getpid()
        self._bot = os.fork()
        if not self._bot:
            become(command, self._limits, folders, self._group, guard, failed)
        os.close(failed)
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (0, 1, 2):
            os.dup2(
                nothing, pipe
            )  # only the bot holds its pipes, so that the runner sees when it closes them
        why = os.read(failure, 1000)
        self._tell(b"failed " + why if why else b"started %d" % self._bot)
        return not why

    def _tell(self, words: bytes) -> None:
        with suppress(OSError):
            self._runner.sendall(words + b"\n")

    def _obey(self) -> bool:
        """Return False if the bot must end. The runner may also ask where the bot is."""
        with suppress(OSError):
            if self._runner.recv(1):
                self._show_traceback()
                return True
        return False

    def _show_traceback(self) -> None:
        """Let Python write its traceback to standard error: the first process whose command names
        the host of a bot.
        """
        for process in (self._bot, *descendants(self._bot)):
            with suppress(OSError):
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                if words[:1] == [os.fsencode(sys.executable)]:
                    with open(f"/proc/{process}/stat") as file:
                        stopped = file.read().rpartition(")")[2].split()[0] == "T"
                    self._tell(b"state stopped" if stopped else b"state running")
                    os.kill(process, signal.SIGUSR1)
                    return
        self._tell(b"state unknown")

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self._note_end(process, status)
        self._alone = True

    def _note_end(self, process: int, status: int) -> None:
        if process == self._bot:
            self._bot = 0
            self._explain_end()
            self._tell(b"ended %d" % os.waitstatus_to_exitcode(status))

    def _explain_end(self) -> None:
        with suppress(OSError):
            if self._group and "oom_kill 0\n" not in read(f"{self._group}/memory.events"):
                self._tell(b"killed it used more than %d MB of memory" % self._limits["memory"])

    def _within_limits(self) -> bool:
        if excess := self._excess():
            self._tell(b"killed it " + excess.encode())
        return not excess

    def _excess(self) -> str:
        """Return what the bot has too much of; empty: nothing."""
        most, memory = self._limits.get("processes"), self._limits.get("memory")
        if not most and not memory:
            return ""
        processes = list(descendants(os.getpid()))
        if most and len(processes) > most:
            return f"had more than {most} processes"
        statuses = [status_of(process) for process in processes]
        if most and sum(status.get("Threads:", 0) for status in statuses) > most * THREADS:
            return f"had more than {most * THREADS} threads"
        if "sandbox" in self._limits and sum(map(open_files_of, processes)) > OPEN_FILES_OF_ALL:
            return f"had more than {OPEN_FILES_OF_ALL} open files"
        tables = sum(status.get("VmPTE:", 0) for status in statuses) * 1024
        if memory and sum(map(memory_of, processes)) + tables > memory * MEGABYTE:
            return f"used more than {memory} MB of memory"
        return ""

    def _kill_all(self) -> None:
        """Stop all processes first, so that none can start another one unseen.

        On Linux orphans are children of the guard.
        """
        for _ in range(ATTEMPTS):
            if self._alone:
                return
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for process in descendants(os.getpid()):
                    with suppress(ProcessLookupError):
                        os.kill(process, number)
            if self._bot:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._bot, signal.SIGKILL)
            with suppress(ChildProcessError):
                self._note_end(*os.waitpid(-1, 0))
            self._reap()


def main(number: str, limits: str, folders: str, *command: str) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    os.set_inheritable(int(number), False)  # the bot could speak to the runner in the guard's name
    wanted = {
        name: int(value) for name, _, value in (word.partition("=") for word in limits.split())
    }
    Guard(socket.socket(fileno=int(number)), wanted).run(list(command), folders.splitlines())
