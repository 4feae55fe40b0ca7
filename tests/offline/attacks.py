"""A bot that tries everything a sandboxed bot must not be able to do, and what it may do.

It prints the answers as one line.

It is run in the sandbox, so it has only the standard library and itself.
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

X86 = platform.machine() == "x86_64"
LIBC = ctypes.CDLL(None, use_errno=True)
MEGABYTES = 1 << 20
NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000
TRIES: dict[str, Callable[[], Any]] = {}


def answers(try_one: Callable[[Any], Any], values: Iterable[Any]) -> Any:
    return sorted({answer(partial(try_one, value)) for value in values}, key=str)


def tried(function: Callable[[], Any]) -> Callable[[], Any]:
    TRIES[function.__name__] = function
    return function


def answer(try_it: Callable[[], Any]) -> Any:
    """What it returns, or the name of its error."""
    try:
        return try_it()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    except BaseException as error:
        return type(error).__name__


def call(x86: int, aarch64: int, *arguments: Any) -> Any:
    """Make a system call by its number, and return the name of its error."""
    LIBC.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = LIBC.syscall(ctypes.c_long(x86 if X86 else aarch64), *values)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "done"


CALLS: dict[str, tuple[Any, ...]] = {
    "memfd_create": (319, 279, b"x", 0),
    "memfd_secret": (447, 447, 0),
    "shmget": (29, 194, 0, 4096, 0o1666),
    "semget": (64, 190, 0, 1, 0o1666),
    "msgget": (68, 186, 0, 0o1666),
    "mq_open": (240, 180, b"x", 0o102, 0o600, None),
    "sched_setaffinity": (203, 122, 0, 8, b"\xff" * 8),
    "unshare": (272, 97, NEW_USER | NEW_MOUNTS),
    "setns": (308, 268, 0, 0),
    "clone": (56, 220, NEW_USER | signal.SIGCHLD, 0, 0, 0, 0),
    "clone3": (435, 435, bytes(64), 64),
    "mount": (165, 40, b"none", b"/tmp", b"tmpfs", 0, None),
    "umount2": (166, 39, b"/tmp", 0),
    "pivot_root": (155, 41, b"/tmp", b"/tmp"),
    "chroot": (161, 51, b"/tmp"),
    "open_tree": (428, 428, -100, b"/tmp", 1),
    "move_mount": (429, 429, -100, b"/tmp", -100, b"/tmp", 0),
    "fsopen": (430, 430, b"tmpfs", 0),
    "fsconfig": (431, 431, 0, 0, None, None, 0),
    "fsmount": (432, 432, 0, 0, 0),
    "fspick": (433, 433, -100, b"/tmp", 0),
    "mount_setattr": (442, 442, -100, b"/tmp", 0, bytes(32), 32),
    "ptrace": (101, 117, 16, 1, 0, 0),
    "process_vm_readv": (310, 270, 1, None, 0, None, 0, 0),
    "process_vm_writev": (311, 271, 1, None, 0, None, 0, 0),
    "pidfd_getfd": (438, 438, 0, 0, 0),
    "kcmp": (312, 272, 1, 1, 0, 0, 0),
    "perf_event_open": (298, 241, bytes(128), 0, -1, -1, 0),
    "bpf": (321, 280, 0, bytes(64), 64),
    "io_uring_setup": (425, 425, 1, bytes(128)),
    "io_uring_enter": (426, 426, 0, 0, 0, 0, None, 0),
    "io_uring_register": (427, 427, 0, 0, None, 0),
    "add_key": (248, 217, b"user", b"x", b"x", 1, -2),
    "request_key": (249, 218, b"user", b"x", None, 0),
    "keyctl": (250, 219, 0, -2, 0),
    "userfaultfd": (323, 282, 1),
    "open_by_handle_at": (304, 265, -100, None, 0),
    "syslog": (103, 116, 10, None, 0),
    "settimeofday": (164, 170, bytes(16), None),
    "clock_settime": (227, 112, 0, bytes(16)),
}


@tried
def calls() -> Any:
    return {name: call(*words) for name, words in CALLS.items()}


@tried
def namespaces() -> Any:
    """The flags of all namespaces that `clone` can make, one by one."""
    flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
    return [call(56, 220, flag | signal.SIGCHLD, 0, 0, 0, 0) for flag in flags]


INT80 = bytes.fromhex("534889f889f7cd805bc3")
"""push rbx; mov rax, rdi; mov edi, esi; int 0x80; pop rbx; ret: a call of 32-bit Linux from a
program of 64 bits.
"""


@tried
def foreign_calls() -> Any:
    """`getpid` with the numbers of 32-bit Linux and of x32; elsewhere there are none."""
    if not X86:
        return ["ENOSYS", "ENOSYS"]
    page = mmap.mmap(
        -1,
        4096,
        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
        mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC,
    )
    page.write(INT80)
    code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)(
        ctypes.addressof(ctypes.c_char.from_buffer(page))
    )
    old = code(20, 0)
    return [errno.errorcode.get(-old, "done"), call(0x40000000 | 39, 0)]


@tried
def unusual_sockets() -> Any:
    unusual = [
        (17, 3, 0),
        (17, 2, 0),
        (16, 3, 0),
        (2, 3, 1),
        (2, 3, 255),
        (10, 3, 58),
        (1, 5, 0),
        (2, 1, 132),
        (38, 5, 0),
        (40, 1, 0),
    ]
    return answers(lambda words: socket.socket(*words) and "open", unusual)


@tried
def network() -> Any:
    """Look at the interfaces, and at an address that any machine with a network can route to."""
    names = [
        line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]
    ]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return [names, answer(lambda: one.connect(("192.0.2.1", 9)))]


@tried
def own_sockets() -> Any:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()),
    ):
        one, two = socket.socketpair()
        one.send(b"x")
        return two.recv(1).decode()


@tried
def environment() -> Any:
    return [
        sorted(os.environ),
        Path("/proc/1/environ").read_text(),
        "do not tell" in Path("/proc/1/cmdline").read_text(),
    ]


@tried
def user() -> Any:
    return [
        os.getuid(),
        os.getgid(),
        answer(lambda: os.setuid(0)),
        Path("/proc/self/status").read_text().partition("CapEff:\t")[2][:16],
    ]


@tried
def settings_of_the_kernel() -> Any:
    names = (
        "kernel/core_pattern",
        "vm/overcommit_memory",
        "user/max_user_namespaces",
        "net/ipv4/ip_forward",
        "kernel/hostname",
    )
    return answers(lambda name: Path("/proc/sys", name).open("w"), names)


@tried
def processes() -> Any:
    words = [
        (one / "cmdline").read_text().split("\0")[0]
        for one in Path("/proc").iterdir()
        if one.name.isdigit()
    ]
    return sorted(Path(word).name.rstrip("0123456789.") for word in words)


@tried
def signals() -> Any:
    """Process 1 is that of the sandbox; others do not exist."""
    return [answers(lambda number: os.kill(number, 0), range(10, 6000)), os.getppid()]


@tried
def own_files() -> Any:
    return [
        Path(__file__).read_text() != "",
        sorted(path.name for path in Path(__file__).parent.iterdir()),
    ]


@tried
def files_of_others() -> Any:
    names = (
        "/etc/passwd",
        "/etc/shadow",
        "/home",
        "/var",
        "/run",
        "/sys",
        "/mnt",
        "/root/.ssh",
        "/proc/1/root/etc/passwd",
    )
    return [name for name in names if Path(name).exists()]


@tried
def writing() -> Any:
    places = (__file__, f"{sys.prefix}/x", "/x", "/dev/x", "/usr/x")
    return [
        told
        for told in answers(lambda name: Path(name).open("a") and name, places)
        if told not in ("EACCES", "EROFS")
    ]


@tried
def chmod() -> Any:
    return answer(lambda: Path(__file__).chmod(0o777))


def fill(folder: str) -> Any:
    """Megabytes that fit in."""
    written = 0
    try:
        for number in range(4):
            with Path(folder, str(number)).open("wb", buffering=0) as file:
                for _ in range(40):
                    written += file.write(bytes(MEGABYTES))
    except OSError as error:
        return [written // MEGABYTES, errno.errorcode[error.errno or 0]]
    finally:
        for number in range(4):
            Path(folder, str(number)).write_bytes(b"")
    return written


@tried
def temporary_folders() -> Any:
    return [fill("/tmp"), fill("/dev/shm")]


@tried
def hidden_memory() -> Any:
    """Memory that stays although no process maps it."""
    zero = os.open("/dev/zero", os.O_RDWR)
    try:
        return [
            answer(lambda: mmap.mmap(-1, 4096)),
            answer(lambda: mmap.mmap(zero, 4096)),
            os.read(zero, 4).hex(),
        ]
    finally:
        os.close(zero)


@tried
def memory() -> Any:
    return answer(lambda: len(bytearray(1 << 31)))


@tried
def cores() -> Any:
    return [len(os.sched_getaffinity(0)), answer(lambda: os.sched_setaffinity(0, range(64)))]


@tried
def limits_of_a_process() -> Any:
    import resource

    kinds = (
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_CPU,
        resource.RLIMIT_CORE,
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_NPROC,
    )
    return [resource.getrlimit(kind)[0] for kind in kinds] + [
        answer(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)))
    ]


@tried
def threads_and_processes() -> Any:
    seen: list[int] = []
    thread = threading.Thread(target=seen.append, args=(1,))
    thread.start()
    thread.join()
    return [
        seen,
        subprocess.run(
            [sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True, check=True
        ).stdout.strip(),
    ]


@tried
def open_files() -> Any:
    """Sockets and files of the runner that it inherited; it has its pipes."""
    kinds = {
        str(one.readlink()).partition(":")[0] for one in list(Path("/proc/self/fd").iterdir())[:-1]
    }
    return sorted(kinds - {"pipe", "/dev/null"})


@tried
def libraries() -> Any:
    """One that a bot's author has installed, and that has threads and much code outside Python."""
    import numpy

    return int(numpy.ones((50, 50)) @ numpy.ones(50) @ numpy.ones(50))


def everything() -> str:
    return json.dumps({name: answer(function) for name, function in TRIES.items()})


def bot(view: Any) -> None:
    print(everything())
    raise SystemExit("tried everything")


if __name__ == "__main__":
    sys.exit(everything())
