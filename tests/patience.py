"""How tests wait for something that must happen: without a limit that any machine reaches, and
without keeping a core busy.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 600.0
PAUSE = 0.002  # between two looks: the process that the test waits for may need the core


async def until(reading: Callable[[], T]) -> T:
    """Read a state until it is true, and return it.

    Only for states that last: a short one may fall between two readings.
    """
    async with asyncio.timeout(PATIENCE):
        while not (found := reading()):
            await asyncio.sleep(PAUSE)
    return found
