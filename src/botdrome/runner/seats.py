"""Bots of the offline runner: functions and programs."""

import importlib
import importlib.util
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, cast

import msgspec
from msgspec import Struct

from botdrome.bots.house import house_bots, seated
from botdrome.client.program import CannotStart, Program
from botdrome.games.game import Raw, View
from botdrome.wire.battlebot.messages import greeting


class Overdue(BaseException):
    """A function exceeded its time and was stopped. Not an Exception, since bots catch those."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise Overdue inside the block after some seconds. Works in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Effort(Struct):
    """The number of a bot's moves in a match, and their total time."""

    moves: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.seconds += seconds


class FunctionSeat:
    """A bot that is a function. `trusted` bots, those of the house, are neither stopped nor checked for JSON."""

    def __init__(self, bot: Callable[[View], Raw], trusted: bool) -> None:
        self._bot, self.trusted = bot, trusted
        self.effort = Effort()

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        """Return the move and its seconds. Exceptions of the function pass."""
        began = perf_counter()
        if self.trusted:
            raw = self._bot(view)
        else:
            with alarm(limit):
                raw = msgspec.json.decode(msgspec.json.encode(self._bot(view)))
        spent = perf_counter() - began
        self.effort.add(spent)
        return raw, spent


class ProgramSeat:
    """A bot that is a program."""

    def __init__(self, program: Program, greeting: bytes) -> None:
        self.program = program
        self.effort = Effort()
        self.asked = perf_counter()
        self.greeted = False
        """Whether it has sent its first message."""
        program.send([greeting])


Seat = FunctionSeat | ProgramSeat


FUNCTION = "bot"
"""The default function of a Python file."""


def check_bot(entrant: str, game: str) -> None:
    """Raise CannotStart if a bot cannot be started."""
    if entrant.startswith("cmd:"):
        program_command(entrant)
    elif entrant.startswith("house:"):
        _house(entrant, game)
    else:
        _loaded(entrant)


def make_seat(entrant: str, game: str, name: str, seed: int) -> Seat:
    """Make a bot for one match, under this name."""
    if entrant.startswith("cmd:"):
        return ProgramSeat(Program(program_command(entrant)), greeting(game, name))
    if entrant.startswith("house:"):
        return FunctionSeat(seated(_house(entrant, game), seed), trusted=True)
    loaded = _loaded(entrant)
    return FunctionSeat(_made(loaded), trusted=False)


def _made(loaded: Any) -> Callable[[View], Raw]:
    """Instantiate a class for each match; a function is used as it is."""
    return cast("Callable[[View], Raw]", loaded() if isinstance(loaded, type) else loaded)


def program_command(entrant: str) -> list[str]:
    try:
        words = shlex.split(entrant.removeprefix("cmd:"))
    except ValueError as error:
        raise CannotStart(f"{entrant}: {error}") from None
    if not words:
        raise CannotStart(f"{entrant}: a program is missing after cmd:")
    if shutil.which(words[0]) is None:
        raise CannotStart(f"{entrant}: there is no program {words[0]!r}")
    return words


def _house(entrant: str, game: str) -> Any:
    name, bots = entrant.removeprefix("house:"), house_bots(game)
    if name not in bots:
        raise CannotStart(f"{entrant}: for {game} the house has {', '.join(bots)}")
    return bots[name]


@cache
def _loaded(entrant: str) -> Any:
    place, _, name = entrant.rpartition(":") if ":" in entrant else (entrant, "", FUNCTION)
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
    except Exception as error:
        raise CannotStart(f"{entrant}: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise CannotStart(f"{entrant}: there is no function {name!r} in {place}")
    return found


def _from_module(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    path = path.resolve(strict=True)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
