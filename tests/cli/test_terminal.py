"""The commands in a real terminal and as real processes."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

from botdrome.catalogue import restored
from botdrome.cli.pictures import frames
from tests.cli.commands import run
from tests.cli.test_commands import saved
from tests.offline.programs import program
from tests.patience import PATIENCE

BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]
HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
HEEDING = [sys.executable, "-c", f"{HEED}from botdrome.cli.app import main; main()"]
"""A shell may ignore interrupts for tests in the background."""


class Terminal:
    """A command in a pseudo-terminal of 80 by 24."""

    def __init__(self, *words: str) -> None:
        self._master, slave = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
        self._process = subprocess.Popen(
            [*BOTDROME, *words], stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        self._seen = ""

    def expect(self, text: str) -> None:
        """Read on until this text has come."""
        while text not in self._seen:
            assert select.select([self._master], [], [], PATIENCE)[0], (
                f"{text!r} did not come; there was {self._seen!r}"
            )
            self._seen += re.sub(
                r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(self._master, 65536).decode()
            )
        self._seen = self._seen.partition(text)[2]

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self) -> int:
        status = self._process.wait(PATIENCE)
        os.close(self._master)
        return status


def test_replay_steps_jumps_and_plays(tmp_path: Path) -> None:
    file = saved(tmp_path)
    last = len(frames(*restored(file.read_bytes()))) - 1
    terminal = Terminal("replay", str(file), "--speed", "60")
    terminal.expect(f"0 of {last}  paused")
    terminal.press("\x1b[C")
    terminal.expect(f"1 of {last}  paused")
    terminal.press("n\x1b[D")
    terminal.expect(f"1 of {last}")
    terminal.press("4")
    terminal.expect("jump to 4")
    terminal.press("\r")
    terminal.expect(f"4 of {last}  paused")
    terminal.press(" ")
    terminal.expect(f"5 of {last}  playing")
    terminal.expect(f"{last} of {last}  paused")
    terminal.press("q")
    assert terminal.end() == 0


def test_ctrl_c_prints_the_table_so_far_and_leaves_nothing_running(tmp_path: Path) -> None:
    """The program says that it runs through a named pipe, then never answers."""
    fifo = tmp_path / "running"
    os.mkfifo(fifo)
    deaf = program(
        tmp_path,
        f"import os, time\nopen({str(fifo)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)",
    )
    for jobs in ("1", "2"):
        words = [
            "play",
            "noughts-and-crosses",
            deaf,
            "house:random",
            "-n",
            "1",
            "-j",
            jobs,
            "--json",
        ]
        process = subprocess.Popen(
            [*HEEDING, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        running = os.pidfd_open(int(fifo.read_text()))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert json.loads(output)["matches"] == []
        assert select.select([running], [], [], PATIENCE)[0], "the program goes on"
        os.close(running)


def test_help_answers() -> None:
    result = run("--help")
    for command in ("games", "play", "replay", "verify", "demo"):
        assert command in result.stdout
