"""The system calls of a sandboxed bot, as a seccomp filter: a program for the kernel's BPF machine.

The filter refuses calls with an error and kills nothing, so a bot can go on without them. It
refuses four kinds: memory that belongs to no process and so escapes the limits, new namespaces and
mounts, calls that reach into other processes, and calls that few programs need and that have often
had security holes.
"""

import errno
import struct
from collections.abc import Iterable

from msgspec import Struct

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
NEWER = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443,
    "memfd_secret": 447, "set_mempolicy_home_node": 450, "open_tree_attr": 467,
}  # fmt: skip
"""Calls that have the same number on all machines."""
X86_64 = {
    "memfd_create": 319, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "msgget": 68,
    "mq_open": 240, "sched_setaffinity": 203, "unshare": 272, "setns": 308, "mount": 165,
    "umount2": 166, "pivot_root": 155, "chroot": 161, "ptrace": 101, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "perf_event_open": 298, "bpf": 321, "add_key": 248,
    "request_key": 249, "keyctl": 250, "userfaultfd": 323, "quotactl": 179, "acct": 163,
    "swapon": 167, "swapoff": 168, "reboot": 169, "kexec_load": 246, "kexec_file_load": 320,
    "init_module": 175, "delete_module": 176, "finit_module": 313, "syslog": 103,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305,
    "move_pages": 279, "mbind": 237, "set_mempolicy": 238, "migrate_pages": 256,
    "fanotify_init": 300, "name_to_handle_at": 303, "open_by_handle_at": 304, "lookup_dcookie": 212,
    "vmsplice": 278, "vhangup": 153, "iopl": 172, "ioperm": 173, "modify_ldt": 154, "_sysctl": 156,
    "uselib": 134,
}  # fmt: skip
AARCH64 = {
    "memfd_create": 279, "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "msgget": 186,
    "mq_open": 180, "sched_setaffinity": 122, "unshare": 97, "setns": 268, "mount": 40,
    "umount2": 39, "pivot_root": 41, "chroot": 51, "ptrace": 117, "process_vm_readv": 270,
    "process_vm_writev": 271, "kcmp": 272, "perf_event_open": 241, "bpf": 280, "add_key": 217,
    "request_key": 218, "keyctl": 219, "userfaultfd": 282, "quotactl": 60, "acct": 89,
    "swapon": 224, "swapoff": 225, "reboot": 142, "kexec_load": 104, "kexec_file_load": 294,
    "init_module": 105, "delete_module": 106, "finit_module": 273, "syslog": 116,
    "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "clock_adjtime": 266,
    "move_pages": 239, "mbind": 235, "set_mempolicy": 237, "migrate_pages": 238,
    "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265, "lookup_dcookie": 18,
    "vmsplice": 75, "vhangup": 58,
}  # fmt: skip


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
    "x86_64": Machine(0xC000003E, X86_64 | NEWER, 56, 9, (41, 53), has_x32=True),
    "aarch64": Machine(0xC00000B7, AARCH64 | NEWER, 220, 222, (198, 199)),
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
