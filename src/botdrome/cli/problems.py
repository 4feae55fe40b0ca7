"""Problems: what a command says when it cannot do what it was asked, and how the options of a game are read."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.text import Text

from botdrome.cli.terminal import Terminal
from botdrome.formats import FORMATS, Format
from botdrome.games.game import BadOption

REFUSED = 2
"""The exit status for a command line that makes no sense."""


class Refusal(Exception):
    """Words for the one who typed the command."""


def complain(words: object) -> None:
    Terminal(stderr=True).print(Text("botdrome: ", style="bold red").append(str(words), "not bold default"), soft_wrap=True)


def format_called(name: str) -> Format:
    if name not in FORMATS:
        raise Refusal(f"there is no game {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def read_options(words: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE; a value that is JSON is taken as such, any other as text."""
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
