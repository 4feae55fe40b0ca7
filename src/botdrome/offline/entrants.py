"""The names of bots in the matches of the offline runner."""

import hashlib
import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from botdrome.offline.bot import parts_of
from botdrome.offline.project import PROGRAM, bot_of, project_folder, project_name
from botdrome.version import __version__


def distinct_names(bots: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the bots without folders, numbered if one occurs twice."""
    short = [
        project_name(bot)
        or " ".join(
            word.rstrip("/").rpartition("/")[2] for word in PROGRAM.sub("", bot, count=1).split()
        )
        or bot
        for bot in bots
    ]
    counts = [short[:number].count(name) for number, name in enumerate(short)]
    return tuple(
        f"{name} #{again + 1}" if again else name for name, again in zip(short, counts, strict=True)
    )


# The version of a bot that plays offline: a checksum of its file.

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
    command, folder = bot_of(bot), project_folder(bot) or Path()
    if PROGRAM.match(command):
        try:
            return [folder / word for word in shlex.split(command.partition(":")[2])]
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
