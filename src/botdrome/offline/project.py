"""A bot's project: a folder whose file `bot.toml` says how the bot is built and started."""

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from botdrome.catalogue import CATALOGUE
from botdrome.client.program import CannotStart
from botdrome.contest.document import BadDocument, line_of, plainly, read_toml
from botdrome.offline.bot import POLICY, PROJECT

LONGEST_NAME = 64
LARGEST = 16 << 10
"""Bytes of the file."""
KEYS: dict[str, tuple[str, str]] = {
    "command": (
        "FILE.py[:NAME], policy:FILE.py, or a program: view:..., cmd:..., pbrain:...",
        'command = "view:./bot"',
    ),
    "game": (f"one of {', '.join(CATALOGUE)}", 'game = "gomoku"'),
    "language": ("text", 'language = "rust"'),
    "build": ("a command", 'build = "cargo build --release"'),
    "name": ("1 to 64 characters", 'name = "ada"'),
    "options": ("a table with options of the game", "options = { size = 19 }"),
}
"""What each key takes, and a correct example."""
PROGRAM = re.compile("(cmd|view|pbrain):")
"""The prefix of a program."""


class BotProject(Struct, frozen=True, forbid_unknown_fields=True):
    """The file of a project. Paths in it are relative to its folder."""

    command: Annotated[
        str, Meta(pattern=r"^((cmd|view|pbrain):\s*\S|(policy:)?[^:]*[^:/]\.py(:\w+)?$)")
    ]
    """The bot, as an argument of `botdrome play` in the folder."""
    game: Annotated[str, Meta(pattern=f"^({'|'.join(CATALOGUE)})$")] = ""
    language: str = ""
    build: str = ""
    name: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)] = ""
    options: dict[str, Any] = {}
    """Of the game, in `join`, in `check` and where it is hosted."""


def project_at(entrant: str) -> BotProject | None:
    """Return the project of a folder that is named as a bot; None: it has none.

    Raise CannotStart, with the line and the key, if its file is wrong.
    """
    file = Path(entrant, PROJECT)
    if PROGRAM.match(entrant) or not file.is_file():
        return None
    try:
        return _project(file)
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise CannotStart(f"{file}: {why}") from None


def _project(file: Path) -> BotProject:
    with file.open("rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadDocument(f"the file has more than {LARGEST} bytes")
    text = data.decode()
    found = read_toml(text)
    try:
        project = msgspec.convert(found, BotProject)
    except msgspec.ValidationError as error:
        problem = plainly(str(error), found, KEYS)
        raise BadDocument(problem, line_of(problem, text)) from None
    path = Path(project.command.removeprefix(POLICY))
    if not PROGRAM.match(project.command) and (path.is_absolute() or ".." in path.parts):
        problem = "command: the file of a bot in Python is in the folder of its project"
        raise BadDocument(problem, line_of(problem, text))
    return project


def bot_of(entrant: str) -> str:
    """Return the bot of a project, with the path of a file in Python as seen from here; other bots
    unchanged.

    A program of a project runs in its folder.
    """
    project = project_at(entrant)
    if project is None or PROGRAM.match(project.command):
        return project.command if project else entrant
    kind = POLICY if project.command.startswith(POLICY) else ""
    return kind + str(Path(entrant, project.command.removeprefix(kind)))


def project_folder(entrant: str) -> Path | None:
    return Path(entrant) if project_at(entrant) else None


def project_name(entrant: str) -> str:
    """Return the name of a project's bot; empty: the bot is no project."""
    project = project_at(entrant)
    return (project.name or Path(entrant).resolve().name) if project else ""


def project_options(entrant: str) -> dict[str, Any]:
    """Return the options of the game with which the bot of a project plays on a server."""
    project = project_at(entrant)
    return project.options if project else {}
