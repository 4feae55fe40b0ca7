"""The state of `botdrome replay` in a terminal, and its keys."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

HELP = "space play/pause   → ← step, back   number Enter jump   + - speed   Home End   q quit"
FASTEST, SLOWEST = 64.0, 0.25


class Viewer:
    def __init__(self, frames: int, speed: float) -> None:
        self.at = 0
        self.playing = False
        self.done = False
        self.speed = speed
        self.typed = ""
        self._last = frames - 1

    def press(self, key: str) -> None:
        if key.isdigit():
            self.typed = (self.typed + key)[:9]
            return
        number, self.typed = self.typed, ""
        if key == "enter" and number:
            self.go(int(number))
        elif key in self._KEYS:
            self._KEYS[key](self)

    def go(self, to: int) -> None:
        self.at = min(max(to, 0), self._last)
        self.playing = self.playing and self.at < self._last

    def tick(self) -> None:
        """Show the next frame during playback."""
        if self.playing:
            self.go(self.at + 1)

    def _toggle(self) -> None:
        if not self.playing and self.at == self._last:
            self.at = 0
        self.playing = not self.playing

    def _quit(self) -> None:
        self.done = True

    def _step(self) -> None:
        self.playing = False
        self.go(self.at + 1)

    def _back(self) -> None:
        self.playing = False
        self.go(self.at - 1)

    def _faster(self) -> None:
        self.speed = min(self.speed * 2, FASTEST)

    def _slower(self) -> None:
        self.speed = max(self.speed / 2, SLOWEST)

    def _home(self) -> None:
        self.go(0)

    def _end(self) -> None:
        self.go(self._last)

    _KEYS: ClassVar[dict[str, Callable[["Viewer"], None]]] = {
        " ": _toggle, "right": _step, "n": _step, "enter": _step, "left": _back, "b": _back,
        "+": _faster, "-": _slower, "q": _quit, "escape": _quit, "home": _home, "end": _end,
    }  # fmt: skip


NAMES = {
    "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home",
    "\x1b[4~": "end", "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end",
    "\r": "enter", "\n": "enter", "\x1b": "escape",
}  # fmt: skip


@contextmanager
def single_keys() -> Iterator[None]:
    """Let the terminal deliver single keys, and restore its mode afterwards."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def next_keys(seconds: float | None) -> list[str]:
    """Return the pressed keys; none after a timeout."""
    terminal = sys.stdin.fileno()
    if not select.select([terminal], [], [], seconds)[0]:
        return []
    return list(split(os.read(terminal, 1024).decode(errors="ignore")))


def split(text: str) -> Iterator[str]:
    """Split input into keys, as a terminal may send several at once."""
    while text:
        code = next(
            (code for code in sorted(NAMES, key=len, reverse=True) if text.startswith(code)),
            text[0],
        )
        yield NAMES.get(code, code)
        text = text[len(code) :]
