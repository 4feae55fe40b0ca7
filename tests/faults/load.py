"""The load: clients of all five protocols at once, spectators and readers."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from tests.faults import battlebots, boaters, bombers, cubes, duellists
from tests.faults.diary import Cast, Diary
from tests.faults.trying import BREAKS, Address, ended, until_it_works

LIMIT = 480.0
"""Seconds after which something hangs; a run takes one or two."""
LOOKS = 0.05
"""Seconds between two looks of the readers."""
PLAYING: dict[str, Callable[[Address, Diary, Cast], Awaitable[None]]] = {
    "contest": battlebots.play_contest,
    "battlebot": battlebots.play_open,
    "duel": duellists.play,
    "boats": boaters.play,
    "cube": cubes.play,
    "bomberman": bombers.play,
}


async def play_all(address: Address, folder: Path, diary: Diary, cast: Cast) -> list[str]:
    """Run until all clients have their results, and return the errors.

    Readers look before, during and after.
    """
    with suppress(*BREAKS):
        await _look(address, folder, diary, cast)
    tasks = {
        name: asyncio.ensure_future(play(address, diary, cast)) for name, play in PLAYING.items()
    }
    reading = asyncio.ensure_future(_keep_looking(address, folder, diary, cast))
    try:
        _, late = await asyncio.wait(tasks.values(), timeout=LIMIT)
    finally:
        await ended(reading, *tasks.values())
    problems = [f"{name} hangs" for name, task in tasks.items() if task in late]
    tasks["reading"] = asyncio.ensure_future(
        until_it_works(lambda: _look(address, folder, diary, cast))
    )
    _, late = await asyncio.wait([tasks["reading"]], timeout=LIMIT)
    problems += ["reading hangs" for task in late]
    await ended(tasks["reading"])
    return problems + [
        f"{name}: {task.exception()!r}"
        for name, task in tasks.items()
        if not task.cancelled() and task.exception()
    ]


async def _keep_looking(address: Address, folder: Path, diary: Diary, cast: Cast) -> None:
    while True:
        with suppress(*BREAKS):
            await _look(address, folder, diary, cast)
        await asyncio.sleep(LOOKS)


async def _look(address: Address, folder: Path, diary: Diary, cast: Cast) -> bool:
    """Whether everything could be read."""
    boaters.read_files(folder / "boats", diary)
    looks = [
        await look(address, diary, cast)
        for look in (battlebots.read_standings, duellists.read_table)
    ]
    return all(looks)
