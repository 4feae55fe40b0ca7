"""What all commands share: output without control sequences, and problems told in one line."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Container, Coroutine, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from errno import EPIPE
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, ParamSpec

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.client.terminal_text import shown, shown_lines
from botdrome.games.game import BadOption

if TYPE_CHECKING:
    from rich.progress import Progress

REFUSED, INTERRUPTED = 2, 130
"""The exit statuses for an invalid command line, and after Ctrl-C."""
Words = ParamSpec("Words")
Status = int | None | Coroutine[Any, Any, int | None]


class Terminal(Console):
    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Remove control characters from all text; Rich's own control segments pass."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown_lines(segment.text), segment.style)


def say(words: object, style: str = "", error: bool = False) -> None:
    """Print text whose lines only the terminal itself breaks; `error`: on standard error."""
    text = words if isinstance(words, Text | Table) else Text(str(words), style)
    Terminal(stderr=error).print(text, soft_wrap=True)


def note(words: object, style: str = "") -> None:
    """Print text on standard error."""
    say(words, style, error=True)


def complain(words: object) -> None:
    note(Text("botdrome: ", "bold red").append(str(words), "not bold default"))


def table_of(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: Container[str] = ("bot", "note"),
    title: str = "",
) -> Table:
    """Return a table with numbers on the right, and on the left the columns that are named."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def unbroken(table: Table) -> Table:
    """Give a table the width that its cells need; the terminal breaks lines that are longer."""
    table.width = Terminal(width=10_000).measure(table).maximum
    return table


def progress_bar() -> "Progress":
    """Return a bar on standard error, which vanishes at its end."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    words = TextColumn("{task.description}")
    columns = words, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=Terminal(stderr=True), transient=True)


def print_json(data: Any) -> None:
    sys.stdout.write(msgspec.json.encode(data).decode() + "\n")


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in columns.

    The names of bots come last: they may be long, and are never broken.
    """
    lines = [tuple(map(shown, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, row in enumerate(lines):
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        say("  ".join([*cells, row[-1]]), "" if number else "bold")


class OptionsOf(msgspec.Struct, frozen=True):
    """The default of a parameter whose value a function makes from options of its own."""

    make: Callable[..., Any]


def expand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of the functions that make its parameters."""
    parameters: dict[str, Parameter] = {}
    made: dict[str, Callable[..., Any]] = {}
    for name, one in signature(command).parameters.items():
        if isinstance(one.default, OptionsOf):
            made[name] = one.default.make
            parameters |= signature(one.default.make).parameters
        else:
            parameters[name] = one

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        for name, make in made.items():
            own = given.keys() & signature(make).parameters.keys()
            given[name] = make(**{option: given.pop(option) for option in own})
        return command(*args, **given)

    run.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return run


class CommandError(Exception):
    """The command is not valid; the text says why."""


class CommandFailed(Exception):
    """The command is valid, but could not do its work; the text says why."""


APPS: defaultdict[str, typer.Typer] = defaultdict(typer.Typer)
"""The commands of each module."""


def command(
    *failures: type[Exception],
    name: str | None = None,
    invalid: tuple[type[Exception], ...] = (),
    refused: int = REFUSED,
    failed: int = 1,
    **settings: Any,
) -> Callable[[Callable[Words, Status]], Callable[Words, None]]:
    """Make a function a command, which returns its exit status and tells problems in one line.

    A wrong command (CommandError, BadOption, and `invalid`) has the status `refused`; failures,
    and files that cannot be used, have the status `failed`. Typer gets the name and the settings.
    """

    wrong: tuple[type[Exception], ...] = (CommandError, BadOption, *invalid)
    bad: tuple[type[Exception], ...] = (CommandFailed, *failures)

    def decorate(function: Callable[Words, Status]) -> Callable[Words, None]:
        work = expand_options(function)

        @wraps(work)
        def run(*args: Words.args, **options: Words.kwargs) -> None:
            try:
                done = work(*args, **options)
                status = asyncio.run(done) if isinstance(done, Coroutine) else done
            except wrong as problem:
                complain(problem)
                status = refused
            except bad as problem:
                complain(problem.args[0] if isinstance(problem, KeyError) else problem)
                status = failed
            except OSError as problem:
                if problem.errno == EPIPE:
                    raise
                complain(f"{problem.filename}: {problem.strerror}" if problem.filename else problem)
                status = failed
            except KeyboardInterrupt:
                status = INTERRUPTED
            raise typer.Exit(status or 0)

        APPS[function.__module__].command(name, **settings)(run)
        return run

    return decorate


def on_signal(number: int, call: Callable[..., object], *values: object) -> None:
    """Call a function on a signal; threads, in which tests run commands, get none."""
    with suppress(NotImplementedError, RuntimeError, ValueError):
        asyncio.get_running_loop().add_signal_handler(number, call, *values)


def game_called(name: str) -> CatalogueEntry:
    if name not in CATALOGUE:
        raise CommandError(f"there is no game {name!r}; {offered(name, CATALOGUE)}")
    return CATALOGUE[name]


def offered(name: str, known: Iterable[str]) -> str:
    """Say what there is in place of a name that is not known, first of all what was meant."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    return (f"did you mean {close[0]}? " if close else "") + f"there are {', '.join(names)}"


def read_options(words: Sequence[str] | None) -> dict[str, Any]:
    """Read options NAME=VALUE. A value that is not JSON is text."""
    options = {}
    for word in words or ():
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
