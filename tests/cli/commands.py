"""Commands run in the process of the test: for tests to which a process of its own is not the
point.
"""

import asyncio

from typer.testing import CliRunner, Result

from botdrome.cli.app import app


def run(*words: str, width: int = 200) -> Result:
    return CliRunner().invoke(
        app, list(words), env={"COLUMNS": str(width), "TERM": "dumb"}, catch_exceptions=False
    )


async def run_beside(*words: str, width: int = 200) -> Result:
    """In a thread, while the server of the test goes on."""
    return await asyncio.to_thread(run, *words, width=width)
