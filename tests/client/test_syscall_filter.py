"""The filter of system calls: what the kernel would decide for each call, on both machines."""

import errno
import struct

import pytest

from botdrome.client.sandbox import ALLOW, MACHINES, REFUSE, Machine, syscall_filter

CLONE_OF_A_THREAD, CLONE_OF_A_PROCESS = 0x3D0F00, 0x1200011
NAMESPACE_FLAGS = (
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
PRIVATE, SHARED, SHARED_VALIDATE, ANONYMOUS = 2, 1, 3, 0x20
PROTOCOLS = (0, 1, 2, 6, 17, 58, 132, 136, 255, 262)
CLOSE_ON_EXEC, NON_BLOCKING = 0o2000000, 0o4000
LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
STEPS = {
    one.architecture: list(struct.iter_unpack("<HBBI", syscall_filter(one)))
    for one in MACHINES.values()
}
BOTH = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)


def verdict(machine: Machine, number: int, *arguments: int, architecture: int = 0) -> int:
    """Run the filter as the kernel does. Return the error of a call; 0: it is allowed."""
    told = struct.pack(
        "<iIQ6Q",
        number,
        architecture or machine.architecture,
        0,
        *arguments,
        *[0] * (6 - len(arguments)),
    )
    steps = STEPS[machine.architecture]
    place = held = 0
    while True:
        code, if_true, if_false, value = steps[place]
        place += 1
        if code == LOAD:
            (held,) = struct.unpack_from("<I", told, value)
        elif code == AND:
            held &= value
        elif code == RETURN:
            assert value == ALLOW or value & ~0xFFFF == REFUSE
            return 0 if value == ALLOW else value & 0xFFFF
        else:
            true = {EQUAL: held == value, AT_LEAST: held >= value, ANY_BIT: bool(held & value)}[
                code
            ]
            place += if_true if true else if_false


@BOTH
def test_the_calls_of_the_list_are_refused_and_others_allowed(machine: Machine) -> None:
    absent = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"}
    for name, number in machine.refused.items():
        assert verdict(machine, number) == (errno.ENOSYS if name in absent else errno.EPERM), name
    special = {machine.clone, machine.mmap, *machine.sockets}
    assert all(
        verdict(machine, number) == 0
        for number in {*range(480)} - {*machine.refused.values()} - special
    )


def test_both_machines_refuse_the_same_calls() -> None:
    """Five exist on x86_64 alone."""
    x86, aarch64 = (set(MACHINES[name].refused) for name in ("x86_64", "aarch64"))
    assert x86 - aarch64 == {"iopl", "ioperm", "modify_ldt", "_sysctl", "uselib"}
    assert not aarch64 - x86
    assert all(
        len(set(machine.refused.values())) == len(machine.refused) for machine in MACHINES.values()
    )


@BOTH
def test_clone_makes_threads_and_processes_but_no_namespaces(machine: Machine) -> None:
    assert (
        verdict(machine, machine.clone, CLONE_OF_A_THREAD)
        == verdict(machine, machine.clone, CLONE_OF_A_PROCESS)
        == 0
    )
    assert {
        verdict(machine, machine.clone, flag | CLONE_OF_A_PROCESS) for flag in NAMESPACE_FLAGS
    } == {errno.EPERM}


@BOTH
@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (PRIVATE | ANONYMOUS, 0),
        (SHARED, 0),
        (SHARED | ANONYMOUS, errno.EPERM),
        (SHARED_VALIDATE | ANONYMOUS, errno.EPERM),
        (SHARED | ANONYMOUS | 0x4000, errno.EPERM),
    ],
)
def test_memory_is_shared_by_files_alone(machine: Machine, flags: int, error: int) -> None:
    assert verdict(machine, machine.mmap, 0, 4096, 3, flags) == error


@BOTH
@pytest.mark.parametrize("which", [0, 1], ids=["socket", "socketpair"])
def test_sockets_are_streams_and_datagrams_of_three_families(machine: Machine, which: int) -> None:
    number = machine.sockets[which]
    open_ones = {
        (family, kind, protocol)
        for family in range(50)
        for kind in range(16)
        for protocol in PROTOCOLS
        if verdict(machine, number, family, kind | CLOSE_ON_EXEC | NON_BLOCKING, protocol) == 0
    }
    assert open_ones == {
        (family, kind, protocol)
        for family in (1, 2, 10)
        for kind in (1, 2)
        for protocol in (0, 6, 17)
    }


def test_calls_of_other_machines_are_unknown() -> None:
    one, other = MACHINES.values()
    for number in (0, 39, 359):
        assert verdict(one, number, architecture=other.architecture) == errno.ENOSYS
        assert verdict(other, number, architecture=one.architecture) == errno.ENOSYS
        assert verdict(one, number, architecture=0x40000003) == errno.ENOSYS, "32-bit x86"
        assert verdict(other, number, architecture=0x40000028) == errno.ENOSYS, "32-bit ARM"
        assert verdict(one, number | 0x40000000) == errno.ENOSYS, "x32"
