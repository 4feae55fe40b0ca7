"""Run the example bots of the docs as programs."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import blocks

PROGRAMS = {
    "python": ("bot.py", [sys.executable]),
    "javascript": ("bot.js", ["node", "--experimental-websocket"]),
    "java": ("Bot.java", ["java"]),
}


def java(*values: Any) -> Any:
    """Return the parameters of a test that `make templates` runs, since it needs Java."""
    return pytest.param(*values, marks=pytest.mark.toolchain)


def command(page: str, folder: Path, language: str) -> list[str]:
    """Return the command for the page's bot; an empty list if the language is not installed."""
    (code,) = blocks(page, language)
    file, words = PROGRAMS[language]
    (folder / file).write_text(code)
    return [*words, str(folder / file)] if shutil.which(words[0]) else []
