"""Interrupts: Ctrl-C takes effect where the command waits, and nowhere in the middle of
its work.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    def __init__(self) -> None:
        self._came = self._waiting = False

    def listen(self) -> None:
        """Handle Ctrl-C and SIGTERM from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        if self._waiting:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise KeyboardInterrupt here, also for a signal that came before."""
        self._waiting = True
        try:
            if self._came:
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = False
