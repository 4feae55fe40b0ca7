"""The limits of a bot's processes, and their sandbox: bubblewrap, with the files that the bot needs
and nothing else.
"""

import errno
import os
import re
import shutil
import stat
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from msgspec import Struct

from botdrome.client.guard import THREADS

# The system calls of a sandboxed bot, as a seccomp filter: a program for the kernel's BPF machine.
#
# The filter refuses calls with an error and kills nothing, so a bot can go on without them. It
# refuses four kinds: memory that belongs to no process and so escapes the limits, new namespaces
# and mounts, calls that reach into other processes, and calls that few programs need and that have
# often had security holes.

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
"""Instructions of BPF. They compare a number with one register, the accumulator."""
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Offsets in what the kernel tells of a call. An argument has 8 bytes, the lower half first."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
X32 = 0x40000000
"""This bit marks calls of x86_64's variant with short pointers, which have other numbers."""
NEW_NAMESPACES = 0x7E020000
"""All flags of `clone` that make a namespace."""
SHARED_ANONYMOUS = 0x21
"""Flags of `mmap`. Such memory stays when a process no longer maps it, so nobody could count it."""
FAMILIES = (1, 2, 10)
"""Sockets of Unix, IPv4 and IPv6."""
KINDS = (1, 2)
"""Streams and datagrams."""
KIND_BITS = 0xF
PROTOCOLS = (0, 6, 17)
"""The usual one, TCP and UDP."""

ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Refused as if the kernel were older, since libraries then use the older calls."""
SYSTEM_CALLS = """
    memfd_create 319 279, shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, msgget 68 186,
    mq_open 240 180, sched_setaffinity 203 122, unshare 272 97, setns 308 268, mount 165 40,
    umount2 166 39, pivot_root 155 41, chroot 161 51, ptrace 101 117, process_vm_readv 310 270,
    process_vm_writev 311 271, kcmp 312 272, perf_event_open 298 241, bpf 321 280, add_key 248 217,
    request_key 249 218, keyctl 250 219, userfaultfd 323 282, quotactl 179 60, acct 163 89,
    swapon 167 224, swapoff 168 225, reboot 169 142, kexec_load 246 104, kexec_file_load 320 294,
    init_module 175 105, delete_module 176 106, finit_module 313 273, syslog 103 116,
    settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
    move_pages 279 239, mbind 237 235, set_mempolicy 238 237, migrate_pages 256 238,
    fanotify_init 300 262, name_to_handle_at 303 264, open_by_handle_at 304 265,
    lookup_dcookie 212 18, vmsplice 278 75, vhangup 153 58, iopl 172 -, ioperm 173 -,
    modify_ldt 154 -, _sysctl 156 -, uselib 134 -, io_uring_setup 425 425, io_uring_enter 426 426,
    io_uring_register 427 427, open_tree 428 428, move_mount 429 429, fsopen 430 430,
    fsconfig 431 431, fsmount 432 432, fspick 433 433, clone3 435 435, pidfd_getfd 438 438,
    process_madvise 440 440, mount_setattr 442 442, quotactl_fd 443 443, memfd_secret 447 447,
    set_mempolicy_home_node 450 450, open_tree_attr 467 467
"""
"""Each call with its number on x86_64 and on aarch64; -: it does not exist there."""


def _numbers(column: int) -> dict[str, int]:
    """Return the numbers of the calls on one machine."""
    rows = (row.split() for row in SYSTEM_CALLS.split(","))
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


class Machine(Struct, frozen=True):
    """A machine's name for itself in the filter, and its numbers of system calls."""

    architecture: int
    refused: dict[str, int]
    clone: int
    mmap: int
    sockets: tuple[int, int]
    """`socket` and `socketpair`."""
    has_x32: bool = False


MACHINES = {
    "x86_64": Machine(0xC000003E, _numbers(1), 56, 9, (41, 53), has_x32=True),
    "aarch64": Machine(0xC00000B7, _numbers(2), 220, 222, (198, 199)),
}
"""By the machine's name in `os.uname()`."""


def syscall_filter(machine: Machine) -> bytes:
    """Return the filter as bubblewrap reads it."""
    steps = [
        _step(LOAD, ARCHITECTURE),
        *_unless(EQUAL, machine.architecture, _refuse(errno.ENOSYS)),
        _step(LOAD, NUMBER),
    ]
    if machine.has_x32:
        steps += _if(AT_LEAST, X32, _refuse(errno.ENOSYS))
    steps += _if(
        EQUAL,
        machine.clone,
        [_argument(0), *_if(ANY_BIT, NEW_NAMESPACES, _refuse()), _step(RETURN, ALLOW)],
    )
    shared = _if(EQUAL, SHARED_ANONYMOUS, _refuse())
    steps += _if(
        EQUAL,
        machine.mmap,
        [_argument(3), _step(AND, SHARED_ANONYMOUS), *shared, _step(RETURN, ALLOW)],
    )
    for number in machine.sockets:
        steps += _if(EQUAL, number, _socket_steps())
    for name, number in machine.refused.items():
        steps += _if(EQUAL, number, _refuse(errno.ENOSYS if name in ABSENT else errno.EPERM))
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _socket_steps() -> list[bytes]:
    checks = [
        _argument(0),
        *_one_of(FAMILIES),
        _argument(1),
        _step(AND, KIND_BITS),
        *_one_of(KINDS),
        _argument(2),
    ]
    return [*checks, *_one_of(PROTOCOLS), _step(RETURN, ALLOW)]


def _one_of(values: Iterable[int]) -> list[bytes]:
    """Refuse other values."""
    steps = _refuse()
    for value in values:
        steps = _unless(EQUAL, value, steps)
    return steps


def _if(comparison: int, value: int, steps: list[bytes]) -> list[bytes]:
    return [_step(comparison, value, 0, len(steps)), *steps]


def _unless(comparison: int, value: int, steps: list[bytes]) -> list[bytes]:
    return [_step(comparison, value, len(steps), 0), *steps]


def _refuse(error: int = errno.EPERM) -> list[bytes]:
    return [_step(RETURN, REFUSE | error)]


def _argument(number: int) -> bytes:
    return _step(LOAD, ARGUMENTS + 8 * number)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt")
"""Folders that every sandbox has, if they exist here."""
SETTINGS = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "java-17-openjdk",
    "dotnet",
)
"""Files of /etc that interpreters need."""
NO_BUBBLEWRAP = "--sandbox needs bubblewrap; on Debian: apt-get install bubblewrap"
MARK = "positions.jsonl"
"""A folder with this file or `bot.toml` is a project: `botdrome new` writes both."""
NAMES = ("bot", "main")
"""The names of a bot in its project, without their endings.

Other files, such as bots collected in a folder, are seen alone.
"""
NOBODY = 65534
"""The user in the sandbox. Bots that root starts have this user outside it, too."""
MISSING = re.compile("no module named|no such file|cannot find", re.IGNORECASE)
"""Words of interpreters about a file that they miss."""
MEGABYTE = 1 << 20
OWN_COUNTS = (5, 14)
"""The first Linux in which each user namespace counts its own processes."""


class Limits(Struct, frozen=True):
    """What the processes of a bot may use together; None: anything."""

    memory: int | None = None
    """Megabytes."""
    processes: int | None = None
    cpu: int | None = None
    """Seconds of CPU time of each process."""
    cores: int | None = None
    disk: int | None = None
    """Megabytes of each file, and of the temporary folder."""

    def words(self) -> str:
        """Return the limits as the guard reads them."""
        names = ("memory", "processes", "cpu", "cores", "disk")
        return " ".join(
            f"{name}={value}" for name in names if (value := getattr(self, name)) is not None
        )


UNLIMITED = Limits()
SANDBOXED = Limits(memory=1024, processes=64, cpu=3600, cores=1, disk=64)


class NoSandbox(Exception):
    """A bot cannot run in a sandbox here; the text says why, and what to do."""


# The files that a bot sees.


class BotFiles(Struct, frozen=True):
    """What a bot sees in a sandbox, read-only: folders, and copies of single files."""

    folders: tuple[Path, ...] = ()
    alone: tuple[Path, ...] = ()

    def show(self, path: Path) -> bool:
        """Return True if a bot would find this path in its sandbox."""
        seen = (*self.folders, *self.alone, *map(Path, SYSTEM))
        return any(path.resolve().is_relative_to(one.resolve()) for one in seen)

    def hint(self, error: str) -> str:
        """Return an error of a bot, and what to do if a file is missing that is beside the bot, and
        that the bot does not see.
        """
        quoted = re.findall(r"'([^'\n]+)'", error) if MISSING.search(error) else []
        names = {name for path in quoted for name in (Path(path).name, path.partition(".")[0])}
        for folder in {file.parent for file in self.alone}:
            for beside in folder.iterdir():
                if {beside.name, beside.stem} & names and beside not in self.alone:
                    return (
                        f"{error}; in the sandbox a bot of one file sees that file alone, without "
                        f"{beside.name}: make a folder "
                        f"for its files, with the bot as {' or '.join(NAMES)} and an empty file "
                        f"{MARK}, which makes it a project"
                    )
        return error


def files_of(paths: Iterable[Path]) -> BotFiles:
    """Return the folders among these, the projects to which the others belong, and the files that
    belong to none.
    """
    whole, alone = [], []
    for path in paths:
        project = project_of(path) if path.is_dir() or path.stem.lower() in NAMES else None
        if project or path.is_dir():
            whole.append(project or _normal(path))
        elif path.is_file() and not _in_every_sandbox(path):
            alone.append(_normal(path))
    return BotFiles(tuple(whole), tuple(alone))


def project_of(path: Path) -> Path | None:
    """Return the next folder above that is a project.

    No home folder is one, nor a folder where every user may put files.
    """
    path = _normal(path)
    for folder in (path, *path.parents):
        if _home().is_relative_to(folder) or (
            folder.is_dir() and folder.stat().st_mode & stat.S_IWOTH
        ):
            return None
        if any((folder / mark).is_file() for mark in (MARK, "bot.toml")):
            return folder
    return None


def files_of_command(command: Sequence[str], project: Path | None = None) -> BotFiles:
    """Return the files that a command names, and its program with its libraries.

    The command of a project shows no files but those of the project, and its interpreter: its
    author wrote it, and not the user. ~/.local holds more than interpreters.
    """
    named = [project] if project else [Path(word) for word in command[1:]]
    program = _program(command[0])
    own = program.is_relative_to(_home() / ".local")
    shown = not project or not ("/" in command[0] or own)
    programs = dict.fromkeys((program, program.resolve()) if shown else ())
    libraries = dict.fromkeys(folder for path in programs if (folder := _prefix(path)))
    mine = files_of([*named, *(path for path in programs if not _prefix(path))])
    return BotFiles((*mine.folders, *libraries), mine.alone)


def _program(name: str) -> Path:
    """Return the path of a program.

    In place of a shim, such as pyenv's, which needs other files, take the system's program.
    """
    found = _normal(Path(shutil.which(name) or name))
    usual = shutil.which(name, path=os.defpath)
    return _normal(Path(usual)) if usual and not _prefix(found) else found


def _prefix(program: Path) -> Path | None:
    """Return the folder with the libraries of an interpreter, such as a virtual environment."""
    folder = _normal(program).parent
    above = folder.parent
    installed = (
        folder.name == "bin" and (above / "lib").is_dir() and not _home().is_relative_to(above)
    )
    return above if installed else None


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without an entry in /etc/passwd
        return Path("/")


def _normal(path: Path) -> Path:
    """Return the path from the root. Links stay: a virtual environment has one to its Python."""
    return Path(os.path.normpath(path.absolute()))


def _in_every_sandbox(path: Path) -> bool:
    return any(_normal(path).is_relative_to(name) for name in SYSTEM)


# Bubblewrap.


class Start(Struct, frozen=True):
    """What the guard of a program is told: the command, and for a sandbox its own words."""

    command: Sequence[str]
    words: str = ""
    folders: Sequence[Path] = ()
    """Those that the user of the sandbox must reach."""
    opened: Sequence[int] = ()
    """Files that must be open in the process of the command."""


@contextmanager
def sandboxed(
    command: Sequence[str], files: BotFiles, limits: Limits, env: Mapping[str, str]
) -> Iterator[Start]:
    """Yield the start of a command in a sandbox. Raise NoSandbox if that cannot be."""
    program = str(_program(command[0]))
    folders = sorted({_normal(folder) for folder in files.folders if not _in_every_sandbox(folder)})
    with ExitStack() as opened:
        rules = opened.enter_context(os.fdopen(_filled_pipe(_filter()), "rb")).fileno()
        copies = {file: _opened(file, opened) for file in files.alone}
        mounts = [
            *_system(limits),
            *_folders(folders),
            *_copies(copies),
            "--remount-ro",
            "/dev",
            "--remount-ro",
            "/",
        ]
        options = ["--seccomp", str(rules), *mounts, *_environment(env)]
        words = [*bubblewrap(), *options, "--", *_capped(limits), program, *command[1:]]
        yield Start(words, f" sandbox={_user(folders)}", folders, [rules, *copies.values()])


def _capped(limits: Limits) -> tuple[str, ...]:
    """Return the words before a command that bound its processes and threads.

    The guard looks ten times a second, and less often under load; a fork bomb must not fill the
    machine meanwhile. Older kernels count the processes of the user in all sandboxes together.
    """
    if limits.processes is None or _kernel() < OWN_COUNTS:
        return ()
    most = 2 * limits.processes * THREADS
    shell = f'ulimit -u {most} 2>/dev/null || ulimit -p {most}; exec "$@"'  # -p: of dash
    return ("/bin/sh", "-c", shell, "sh")


def _kernel() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def _opened(file: Path, until: ExitStack) -> int:
    try:
        if file.is_symlink() and not file.stat().st_mode & stat.S_IROTH:
            raise NoSandbox(
                f"{file} is a link to a file that not every user may read; give the file itself"
            )
        return until.enter_context(file.open("rb")).fileno()
    except OSError as error:
        raise NoSandbox(f"{file}: {error.strerror}") from None


@cache
def bubblewrap() -> tuple[str, ...]:
    path = shutil.which("bwrap")
    if path is None:
        raise NoSandbox(NO_BUBBLEWRAP)
    own = ("--uid", str(NOBODY), "--gid", str(NOBODY), "--cap-drop", "ALL", "--hostname", "sandbox")
    known = subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
    # Versions before 0.8 lack it, and one that is setuid refuses it. The filter refuses new
    # namespaces in any case.
    plain = "--disable-userns" in known and not Path(path).stat().st_mode & stat.S_ISUID
    return (
        path,
        "--unshare-all",
        "--unshare-user",
        *(("--disable-userns",) if plain else ()),
        "--die-with-parent",
        *own,
    )


@cache
def _filter() -> bytes:
    machine = os.uname().machine
    if machine not in MACHINES:
        raise NoSandbox(
            f"--sandbox needs a filter of system calls, which exists for {' and '.join(MACHINES)}, "
            f"not for {machine}"
        )
    return syscall_filter(MACHINES[machine])


def _filled_pipe(data: bytes) -> int:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(data)
    return reading


def _system(limits: Limits) -> Iterator[str]:
    size = str((limits.disk or 64) * MEGABYTE)
    for name in SYSTEM:
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        elif Path(name).exists():
            yield from ("--ro-bind", name, name)
    for name in SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    # Mapped /dev/zero is memory that belongs to no process. /dev/full reads the same, and cannot be
    # mapped.
    yield from ("--dev-bind", "/dev/full", "/dev/zero")
    yield from ("--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp")


def _folders(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        yield from ("--ro-bind", str(folder), str(folder))


def _copies(files: Mapping[Path, int]) -> Iterator[str]:
    for path, opened in files.items():
        yield from (
            "--perms",
            "0555" if os.access(path, os.X_OK) else "0444",
            "--ro-bind-data",
            str(opened),
            str(path),
        )


def _environment(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in (
        {"PATH": os.defpath, "HOME": "/tmp", "LANG": "C.UTF-8"} | dict(env)
    ).items():
        yield from ("--setenv", name, value)


def _user(folders: Iterable[Path]) -> int:
    """Return the user that a bot must become, since no bot runs as root; 0: it keeps the user of
    this process.
    """
    if os.geteuid():
        return 0
    for folder in folders:
        if folder.exists() and folder.stat().st_mode & 0o005 != 0o005:
            raise NoSandbox(
                f"bots of root run as the user {NOBODY} in the sandbox, which cannot read "
                f"{folder}: "
                f"chmod -R o+rX {folder}, or run the command as an ordinary user"
            )
    return NOBODY
