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

# The process of a bot before it becomes the bot: its limits, its user and its control group.
#
# Like the guard, which forks this process, it has nothing but the standard library.

MEGABYTE = 1 << 20
SET_DEATH_SIGNAL = 1
"""A number of Linux's prctl."""
NEW_MOUNTS, BIND, RECURSIVE, PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
"""Flags of Linux's unshare and mount."""
CONTROL_GROUPS, OWN_GROUP = "/sys/fs/cgroup", "/proc/self/cgroup"
OPEN_FILES, OPEN_FILES_OF_ALL = 256, 1024
"""Files and sockets that a process in a sandbox may open, and all its processes together."""
THREADS = 8
"""Threads for each allowed process."""


def prctl(option: int, value: int) -> None:
    """Do nothing where there is no such call."""
    if sys.platform == "linux":
        import ctypes  # takes a third of the start-up time

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def become(
    command: list[str],
    limits: dict[str, int],
    folders: list[str],
    group: str,
    guard: int,
    failed: int,
) -> None:
    try:
        os.setsid()
        if group:
            with suppress(OSError):
                write(f"{group}/cgroup.procs", "0")
        set_limits(limits)
        if user := limits.get("sandbox"):
            give_up_root(user, folders)
        prctl(SET_DEATH_SIGNAL, signal.SIGKILL)  # a change of the user would undo it
        if os.getppid() != guard:
            os._exit(1)
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
            signal.SIGINT,
            signal.SIGTERM,
            signal.SIGCHLD,
        ):
            signal.signal(number, signal.SIG_DFL)
        if "sandbox" in limits:
            os.execve(command[0], command, {})
        os.execvp(command[0], command)
    except OSError as error:
        os.write(failed, (error.strerror or str(error)).encode())
    os._exit(127)


def set_limits(limits: dict[str, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "sandbox" in limits:
        most = min(
            OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        )  # the kernel keeps memory for each
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if "memory" in limits:
        resource.setrlimit(resource.RLIMIT_DATA, (limits["memory"] * MEGABYTE,) * 2)
    if "disk" in limits:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits["disk"] * MEGABYTE,) * 2)
    if "cpu" in limits:
        resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu"], limits["cpu"] + 1))
    if "cores" in limits and sys.platform == "linux":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(
            0, [cores[(os.getpid() + number) % len(cores)] for number in range(limits["cores"])]
        )


def give_up_root(user: int, folders: list[str]) -> None:
    try:
        give_way(folders)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as error:
        how = "run the command as an ordinary user"
        raise OSError(
            error.errno, f"root cannot become the user {user} here ({error.strerror}); {how}"
        ) from None


def give_way(folders: list[str]) -> None:
    """Let other users reach these folders, even below a folder of root alone.

    No other process sees the difference.

    A folder that bars the way is covered with an empty one, and the wanted folder is mounted into
    that.
    """
    if not any(map(bar, folders)):
        return
    call("unshare", NEW_MOUNTS)
    mount("none", "/", "", RECURSIVE | PRIVATE)
    ways = [(folder, os.open(folder, os.O_PATH)) for folder in sorted(folders)]
    for folder, opened in ways:
        while wall := bar(folder):
            mount("tmpfs", wall, "tmpfs", 0, "mode=755")
        os.makedirs(folder, exist_ok=True)
        mount(f"/proc/self/fd/{opened}", folder, "", BIND | RECURSIVE)
        os.close(opened)


def bar(folder: str) -> str:
    """Return the first folder on the way to this one that users other than its owner cannot enter;
    empty: there is none.
    """
    parts = folder.split("/")[1:-1]
    ways = ("/" + "/".join(parts[: length + 1]) for length in range(len(parts)))
    return next(
        (way for way in ways if os.path.isdir(way) and not os.stat(way).st_mode & 0o001), ""
    )


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    call("mount", *map(os.fsencode, (source, target, kind)), flags, os.fsencode(options))


def call(name: str, *arguments: bytes | int) -> None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


# The control group of the bot's processes. The kernel keeps its limits, and counts memory that no
# process maps.


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def delegated() -> str:
    """Return the folder of control groups in which this user may make groups with limits; empty:
    there is none.

    Root may write anywhere, so it needs the mark that systemd sets for `Delegate=yes`.
    """
    with suppress(OSError):
        own = next(
            (line[3:] for line in read(OWN_GROUP).splitlines() if line.startswith("0::")), "/"
        )
        above = CONTROL_GROUPS + os.path.dirname(own)
        mine = own != "/" and all(
            os.access(path, os.W_OK) for path in (above, f"{above}/cgroup.procs")
        )
        if mine and (os.geteuid() or os.getxattr(above, "user.delegate") == b"1"):
            for controller in ("cpu", "memory", "pids"):
                with suppress(OSError):
                    write(f"{above}/cgroup.subtree_control", f"+{controller}")
            return (
                above
                if {"memory", "pids"} <= set(read(f"{above}/cgroup.subtree_control").split())
                else ""
            )
    return ""


def new_group(limits: dict[str, int]) -> str:
    """Return the folder of a new control group for a sandbox; empty: none can be made."""
    if "sandbox" not in limits or not (above := delegated()):
        return ""
    group = f"{above}/botdrome-{os.getpid()}"
    settings = {"memory.swap.max": "0", "memory.oom.group": "1"}
    if "memory" in limits:
        settings["memory.max"] = str(limits["memory"] * MEGABYTE)
    if "processes" in limits:
        settings["pids.max"] = str(limits["processes"] * THREADS)
    if "cores" in limits:
        settings["cpu.max"] = f"{limits['cores'] * 100_000} 100000"
    try:
        os.mkdir(group)
    except OSError:
        return ""
    for name, value in settings.items():
        with suppress(OSError):  # such as cpu.max, if that controller is not delegated
            write(f"{group}/{name}", value)
    return group


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

        On Linux orphans are children of the guard. A sandbox ends at once with its first process.
        """
        if "sandbox" in self._limits and self._bot:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._bot, signal.SIGKILL)
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
