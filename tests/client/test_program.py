"""Programs on pipes: nothing that they do makes us wait."""

import os
import select
import sys

from botdrome.client.program import Program, wait_for
from tests.patience import PATIENCE


def running(code: str) -> Program:
    return Program([sys.executable, "-c", code])


def test_a_program_that_does_not_read_blocks_nobody() -> None:
    """A megabyte does not fit into a pipe: the rest is kept until it is read."""
    program = running(
        "import sys; sys.stdin.readline(); print('went'); sys.stdout.flush(); "
        "print(len(sys.stdin.read()))"
    )
    program.send([b"x" * 1000] * 1000)
    program.send([b"the end"])
    lines: list[bytes] = []
    while not lines:
        wait_for([program], PATIENCE)
        program.flush()
        lines += program.receive()
    assert lines[0] == b"went"
    program.close()


def test_a_program_that_is_gone_is_written_to_in_vain() -> None:
    program = running("pass")
    assert program.wait_for_end(PATIENCE)
    program.send([b"hello", b"anybody there?"])
    assert program.receive() == []
    assert program.ended
    assert program.last_words() == "it ended with status 0"
    program.close()
    program.close()


def test_a_program_takes_its_children_along() -> None:
    code = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '600']); print(p.pid, "
        "flush=True); p.wait()"
    )
    program = running(code)
    lines: list[bytes] = []
    while not lines:
        wait_for([program], PATIENCE)
        lines += program.receive()
    child = os.pidfd_open(int(lines[0]))
    program.close()
    assert select.select([child], [], [], PATIENCE)[0], "the child goes on"
    os.close(child)
