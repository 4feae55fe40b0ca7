"""Viewer: where in a reel one looks, and what the keys do."""

from collections.abc import Callable
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
        """A moment has passed while it plays."""
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
        " ": _toggle, "right": _step, "n": _step, "enter": _step, "left": _back, "b": _back, "+": _faster, "-": _slower,
        "q": _quit, "escape": _quit, "home": _home, "end": _end,
    }  # fmt: skip
