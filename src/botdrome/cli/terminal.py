"""Terminal: where all commands print. Whatever the text, the terminal takes no orders from it, and it has no markup."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from botdrome.client.terminal_text import shown_lines


class Terminal(Console):
    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Everything that is printed comes through here; orders of our own are marked as such."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown_lines(segment.text), segment.style)
