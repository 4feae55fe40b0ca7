"""The version of a bot that plays offline: a checksum of its file."""

import hashlib
import importlib.util
import shlex
import sys
from pathlib import Path

from botdrome import __version__
from botdrome.runner.bot import parts_of
from botdrome.runner.names import PROGRAM

DIGITS = 12


def bot_version(bot: str) -> str:
    """Return the version of a bot, as documents and commands name it; empty: no file of it was
    found.

    Of a program, all files that its command names count. A bot of the house has the version of
    Botdrome.
    """
    if bot.startswith("house:"):
        return __version__
    files = [file for file in _files(bot) if file.is_file()]
    return (
        hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:DIGITS]
        if files
        else ""
    )


def _files(bot: str) -> list[Path]:
    if PROGRAM.match(bot):
        try:
            return [Path(word) for word in shlex.split(bot.partition(":")[2])]
        except ValueError:
            return []
    _, place, _ = parts_of(bot)
    return [Path(place)] if place.endswith(".py") else module_files(place)


def module_files(name: str) -> list[Path]:
    """Find the file of a module as the runner does, which looks in the current folder first."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return []
    return [Path(spec.origin)] if spec is not None and spec.origin else []
