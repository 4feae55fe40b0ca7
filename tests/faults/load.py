"""The load: clients of all five protocols at once, spectators and readers."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.faults import battlebots, boaters, bombers, cubes, duellists
from tests.faults.diary import Cast, Diary
from tests.faults.trying import BREAKS, Address, ended

LIMIT = 200.0
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
    """Until all have what they came for; who has not after a long time."""
    tasks = {name: asyncio.ensure_future(play(address, diary, cast)) for name, play in PLAYING.items()}
    reading = asyncio.ensure_future(_read(address, folder, diary, cast))
    try:
        _, late = await asyncio.wait(tasks.values(), timeout=LIMIT)
        hanging = [name for name, task in tasks.items() if task in late]
    finally:
        await ended(reading, *tasks.values())
    failed = {"reading": reading} | {name: task for name, task in tasks.items() if name not in hanging}
    problems = [f"{name}: {task.exception()!r}" for name, task in failed.items() if not task.cancelled() and task.exception()]
    return [f"{name} hangs" for name in hanging] + problems


async def _read(address: Address, folder: Path, diary: Diary, cast: Cast) -> None:
    while True:
        boaters.read_files(folder / "boats", diary)
        for look in (battlebots.read_standings, duellists.read_table):
            with contextlib.suppress(*BREAKS):
                await look(address, diary, cast)
        await asyncio.sleep(LOOKS)
