"""Entrants: the bots as they are named on the command line, and how each is brought to the table."""

import importlib
import importlib.util
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from botdrome.bots.house import house_bots, seated
from botdrome.client.program import CannotStart, Program
from botdrome.games.game import Raw, View
from botdrome.runner.seats import FunctionSeat, ProgramSeat, Seat
from botdrome.wire.battlebot.messages import greeting

FUNCTION = "bot"
"""The function that a Python file is asked for when no other is named."""


def check(entrant: str, game: str) -> None:
    """Raise CannotStart where a bot cannot be brought to a table."""
    if entrant.startswith("cmd:"):
        command(entrant)
    elif entrant.startswith("house:"):
        _house(entrant, game)
    else:
        _loaded(entrant)


def seat(entrant: str, game: str, name: str, seed: int) -> Seat:
    """A bot for one match, in which it has this name."""
    if entrant.startswith("cmd:"):
        return ProgramSeat(Program(command(entrant)), greeting(game, name))
    if entrant.startswith("house:"):
        return FunctionSeat(seated(_house(entrant, game), seed), trusted=True)
    loaded = _loaded(entrant)
    return FunctionSeat(_made(loaded), trusted=False)


def _made(loaded: Any) -> Callable[[View], Raw]:
    """A class is made anew for each match; a function serves them all."""
    return cast("Callable[[View], Raw]", loaded() if isinstance(loaded, type) else loaded)


def command(entrant: str) -> list[str]:
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
