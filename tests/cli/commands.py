"""Commands run in the process of the test: for tests to which a process of its own is not the
point.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import typer
from typer.testing import CliRunner, Result

from botdrome.cli.app import LazyGroup, Unloaded, app


def all_commands(group: Any = None, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its name, as the words that one types."""
    for name, command in (group or typer.main.get_group(app)).commands.items():
        yield (*path, name), command.loaded() if isinstance(command, Unloaded) else command
        if isinstance(command, LazyGroup):
            yield from all_commands(command, *path, name)


def run(*words: str, width: int = 200) -> Result:
    return CliRunner().invoke(
        app, list(words), env={"COLUMNS": str(width), "TERM": "dumb"}, catch_exceptions=False
    )


async def run_beside(*words: str, width: int = 200) -> Result:
    """In a thread, while the server of the test goes on."""
    return await asyncio.to_thread(run, *words, width=width)
