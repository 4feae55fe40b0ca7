"""Keys: single key presses from a terminal."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = {
    "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end", "\r": "enter", "\n": "enter", "\x1b": "escape",
}  # fmt: skip


@contextmanager
def single_keys() -> Iterator[None]:
    """The terminal hands over every key at once, and is as before afterwards."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def next_keys(seconds: float | None) -> list[str]:
    """What was pressed; nothing if the time passes first."""
    terminal = sys.stdin.fileno()
    if not select.select([terminal], [], [], seconds)[0]:
        return []
    return list(split(os.read(terminal, 1024).decode(errors="ignore")))


def split(text: str) -> Iterator[str]:
    """Key by key; a terminal may send several at once."""
    while text:
        code = next((code for code in sorted(NAMES, key=len, reverse=True) if text.startswith(code)), text[0])
        yield NAMES.get(code, code)
        text = text[len(code) :]
