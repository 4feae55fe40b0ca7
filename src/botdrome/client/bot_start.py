"""The process of a bot before it becomes the bot: its limits, its user and its control group.

Like the guard, which forks this process, it has nothing but the standard library.
"""

import os
import resource
import signal
import sys
from contextlib import suppress

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
