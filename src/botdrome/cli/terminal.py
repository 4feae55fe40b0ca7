"""The output of all commands: text without markup and without control sequences, and errors of the
command line.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.client.terminal_text import shown_lines
from botdrome.games.game import BadOption


class Terminal(Console):
    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Remove control characters from all text; Rich's own control segments pass."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown_lines(segment.text), segment.style)


REFUSED = 2
"""The exit status for an invalid command line."""


class CommandError(Exception):
    """The command cannot be executed; the text says why."""


def complain(words: object) -> None:
    Terminal(stderr=True).print(
        Text("botdrome: ", style="bold red").append(str(words), "not bold default"), soft_wrap=True
    )


def format_called(name: str) -> CatalogueEntry:
    if name not in CATALOGUE:
        raise CommandError(f"there is no game {name!r}; there are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def read_options(words: Sequence[str]) -> dict[str, Any]:
    """Read options NAME=VALUE. A value that is not JSON is text."""
    options = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise BadOption(f"an option is NAME=VALUE, not {word!r}")
        options[name] = _value(value)
    return options


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
