"""A process that stores matches until it is killed, and tells each one's id once it is on disk.

`python -m tests.store.finisher URL`
"""

import asyncio
import sys
from itertools import count

from botdrome.store.store import open_store
from tests.store.entries import a_match, an_end

PRODUCERS = 20


async def main(url: str) -> None:
    store = await open_store(url)
    numbers = count()

    async def producer() -> None:
        for number in numbers:
            store.begin(a_match(f"m{number}", started=number, contest="cup"))
            await store.finish(an_end(f"m{number}"))
            print(f"m{number}", flush=True)
            store.begin(a_match(f"left {number}"))

    await asyncio.gather(*(producer() for _ in range(PRODUCERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
