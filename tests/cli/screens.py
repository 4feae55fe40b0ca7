"""A command in a pseudo-terminal, with an emulated screen to look at."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

from tests.patience import PATIENCE as PATIENCE

BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]
NOT_EMULATED = re.compile(rb"\x1b\[[<>=][0-9;]*u")
"""Ways to ask for more about keys, which the emulator would print."""


class Terminal:
    """Keys in, a screen out. Every wait is for something to be seen."""

    def __init__(self, *words: str, columns: int = 80, lines: int = 24) -> None:
        self._master, slave = pty.openpty()
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._size(columns, lines)
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("COLUMNS", "LINES", "COLORTERM")
        }
        self.process = subprocess.Popen(
            [*BOTDROME, *words], stdin=slave, stdout=slave, stderr=slave,
            env=environment | {"TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        os.close(slave)

    def _size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns: int, lines: int) -> None:
        self.screen.resize(lines, columns)
        self._size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def click(self, column: int, line: int, button: int = 0) -> None:
        """Press and release, as terminals tell it; both from 0."""
        for end in "Mm":
            self.press(f"\x1b[<{button};{column + 1};{line + 1}{end}")

    def see(self, *texts: str) -> str:
        """Wait until all of these are on the screen together."""
        deadline = time.monotonic() + PATIENCE
        while not all(text in self.text for text in texts):
            assert self._read(deadline - time.monotonic()), (
                f"{texts} is not to be seen:\n{self.text}"
            )
        return self.text

    def _read(self, seconds: float) -> bool:
        """Something has come; False: the time is over, or the program."""
        if seconds <= 0 or not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self._stream.feed(NOT_EMULATED.sub(b"", data))
        return bool(data)

    def vanish(self) -> int:
        """The window is closed, and the program not told; its exit status."""
        os.close(self._master)
        self._master = -1
        return self.process.wait(PATIENCE)

    def end(self) -> int:
        """Read to the end; the exit status."""
        while self._read(PATIENCE):
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """End it, if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        if self._master >= 0:
            os.close(self._master)
