"""The progress bar of a tournament or a contest, and the standings below it."""

from collections.abc import Callable
from time import monotonic

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from botdrome.cli.terminal import Terminal

MOST_LIVE = 15
"""Lines of the live standings."""
REDRAW = 0.5
"""Seconds between two updates."""
SHARE = 20
"""An update that takes long is made again after this multiple of its time, as in contests with many
thousands of results.
"""


class LiveStandings:
    """On a pipe nothing is drawn."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        console = Terminal(stderr=True)
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("", total=None)
        self._table: RenderableType = ""
        self._live = Live(
            console=console, get_renderable=lambda: Group(self._bar, self._table), transient=True
        )
        self._next = 0.0 if console.is_terminal else float("inf")

    def __enter__(self) -> "LiveStandings":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(
        self,
        words: str,
        played: Callable[[], tuple[int, int | None]],
        table: Callable[[], RenderableType],
    ) -> None:
        """Draw anew, if it is time for that.

        `played` returns the number of matches, and that of all if it is known.
        """
        began = monotonic()
        if began >= self._next:
            completed, total = played()
            self._bar.update(self._task, description=words, completed=completed, total=total)
            self._table = table()
            self._next = began + max(REDRAW, SHARE * (monotonic() - began))
