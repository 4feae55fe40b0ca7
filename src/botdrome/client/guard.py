"""The guard of a bot's processes: it starts the bot, watches its limits, and lets no process of it survive.

It runs as a script with nothing but the standard library: `python -I -S guard.py FD LIMITS COMMAND...`. FD is a socket to the
runner. The guard tells it when the bot has started and ended, and why the bot was killed. When the runner closes the socket, or
dies by whatever cause, the guard kills all processes of the bot. LIMITS are words such as `memory=256`.
"""

import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress

INTERVAL = 0.1
"""Seconds between two checks of the limits."""
MEGABYTE = 1 << 20
SET_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
"""Numbers of Linux's prctl."""
ATTEMPTS = 100


def prctl(option: int, value: int) -> None:
    """Do nothing where there is no such call."""
    if sys.platform == "linux":
        import ctypes  # takes a third of the start-up time

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# The bot's process, before it becomes the bot.


def become(command: list[str], limits: dict[str, int], guard: int, failed: int) -> None:
    try:
        os.setsid()
        prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        set_limits(limits)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(failed, (error.strerror or str(error)).encode())
    os._exit(127)


def set_limits(limits: dict[str, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "memory" in limits:
        resource.setrlimit(resource.RLIMIT_DATA, (limits["memory"] * MEGABYTE,) * 2)
    if "disk" in limits:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits["disk"] * MEGABYTE,) * 2)
    if "cpu" in limits:
        resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu"], limits["cpu"] + 1))
    if "cores" in limits and sys.platform == "linux":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, [cores[(os.getpid() + number) % len(cores)] for number in range(limits["cores"])])


# The guard.


def descendants(process: int) -> Iterator[int]:
    """Yield the processes below a process, parents first. Their order is that of their start."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    yield child
                    yield from descendants(child)


def memory_of(process: int) -> int:
    """Return the bytes that a process uses; memory that it shares with others counts in part, where the system says how much."""
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
        self._alone = False
        """Whether the bot and all processes that it started have ended."""

    def run(self, command: list[str]) -> None:
        waker, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(SET_CHILD_SUBREAPER, 1)
        if not self._start(command):
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

    def _start(self, command: list[str]) -> bool:
        failure, failed = os.pipe()
        guard = os.getpid()
        self._bot = os.fork()
        if not self._bot:
            become(command, self._limits, guard, failed)
        os.close(failed)
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (0, 1, 2):
            os.dup2(nothing, pipe)  # only the bot holds its pipes, so that the runner sees when it closes them
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
        """Let Python write its traceback to standard error: the first process whose command names the host of a bot."""
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
            self._tell(b"ended %d" % os.waitstatus_to_exitcode(status))

    def _within_limits(self) -> bool:
        most, memory = self._limits.get("processes"), self._limits.get("memory")
        if not most and not memory:
            return True
        processes = list(descendants(os.getpid()))
        if most and len(processes) > most:
            self._tell(b"killed it had more than %d processes" % most)
            return False
        if memory and sum(map(memory_of, processes)) > memory * MEGABYTE:
            self._tell(b"killed it used more than %d MB of memory" % memory)
            return False
        return True

    def _kill_all(self) -> None:
        """Stop all processes first, so that none can start another one unseen. On Linux orphans are children of the guard."""
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


def main() -> None:
    number, limits, *command = sys.argv[1:]
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    wanted = {name: int(value) for name, _, value in (word.partition("=") for word in limits.split())}
    Guard(socket.socket(fileno=int(number)), wanted).run(command)


if __name__ == "__main__":
    main()
