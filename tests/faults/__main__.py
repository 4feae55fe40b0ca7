"""All faults at all calls to both databases: `make faults`."""

import argparse
import asyncio
import os
import sys
from asyncio.subprocess import PIPE

from tests.faults.faulty import KINDS

SEVERAL = {"error": (1, 5), "unknown": (1, 3), "full": (10,)}
"""At how many calls in a row a fault is tried, where that is not one."""


async def sweep(database: str, kind: str, calls: int, turns: asyncio.Semaphore) -> bool:
    """Whether all was well."""
    async with turns:
        words = (database, kind, "--calls", str(calls))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.sweep", *words, stdout=PIPE
        )
        assert process.stdout is not None
        async for line in process.stdout:
            print(line.decode(), end="", flush=True)
        return await process.wait() == 0


async def main() -> int:
    turns = asyncio.Semaphore(os.cpu_count() or 1)
    plan = [
        (database, kind, calls)
        for database in KINDS
        for kind in KINDS[database]
        for calls in SEVERAL.get(kind, (1,))
    ]
    well = await asyncio.gather(*(sweep(*words, turns) for words in plan))
    print(f"{len(well)} sweeps, {well.count(False)} with failures")
    return int(not all(well))


if __name__ == "__main__":
    argparse.ArgumentParser(
        "python -m tests.faults",
        description="Fail each call to the store under load, in both databases, and compare what"
        " was told with what is stored. It takes 15 to 35 minutes. `python -m tests.faults.sweep"
        " --help` has one kind of fault alone. Exit code 1: a result was lost.",
    ).parse_args()
    sys.exit(asyncio.run(main()))
