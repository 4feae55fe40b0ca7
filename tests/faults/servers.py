"""Servers under test: in this process, or in one of its own that can be killed."""

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import structlog

from botdrome.app import RunningServer, open_server
from botdrome.protocols import load_settings
from botdrome.server.network.listening import stop_signal
from botdrome.server.settings import BadSetting, Settings
from botdrome.store.entries import StoreUnavailable
from tests.faults import battlebots, boaters, bombers
from tests.faults.faulty import Fault, Faults

NOBODY = 1
"""A port at which no server listens."""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.faults.servers"])


def settings(db: str, folder: Path, **changes: Any) -> Settings:
    quick: dict[str, Any] = {
        "port": 0,
        "duel_port": -1,
        "boats_port": -1,
        "bomber_port": 0,
        "cube_port": 0,
        "match_start_delay": 0.0,
        "drain": 0.0,
    }
    quick |= {"contest_games": battlebots.EACH_WAY, "contest_wait": 0.0, "processes": 2}
    quick |= {
        "boats_rooms": (boaters.PLAN,),
        "boats_dir": str(folder / "boats"),
        "bomber_rooms": bombers.ROOMS,
        "cube_limit": 60.0,
    }
    return load_settings({"db": db} | quick | changes)


def be_quiet() -> None:
    """Faults are logged, and there are many."""
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


class Here:
    """A server in this process.

    It may refuse to start while its store fails; then it is started once more.
    """

    def __init__(self, wanted: Settings) -> None:
        self._settings = wanted
        self._house: RunningServer

    @property
    def url(self) -> str:
        return self._house.url

    @property
    def ports(self) -> dict[str, int]:
        return self._house.ports

    async def open(self) -> None:
        while True:
            try:
                self._house = await open_server(self._settings)
                return
            except (BadSetting, StoreUnavailable):
                await asyncio.sleep(0)

    async def close(self) -> None:
        await self._house.close()


@asynccontextmanager
async def running_here(wanted: Settings, faults: Faults) -> AsyncIterator[Here]:
    uninstall = faults.install()
    server = Here(wanted)
    try:
        await server.open()
        yield server
        await server.close()
    finally:
        uninstall()


class Child:
    """A server in a process of its own.

    Whenever it was killed, it is started again at other ports, on the same store.
    """

    def __init__(self, wanted: Settings, fault: Fault) -> None:
        self._settings, self._fault = wanted, fault
        self.url, self.ports = f"http://127.0.0.1:{NOBODY}", {"duel": NOBODY, "xbs": NOBODY}
        self.calls = self.starts = 0
        self._process: Any = None
        self._keeping: asyncio.Task[None]

    async def open(self) -> None:
        await self._start()
        self._keeping = asyncio.ensure_future(self._keep())

    async def _start(self) -> None:
        ours, theirs = PROCESSES.Pipe()
        fault = Fault() if self.starts else self._fault
        self.starts += 1
        self._process = PROCESSES.Process(target=serve, args=(self._settings, fault, theirs))
        self._process.start()
        theirs.close()
        self._pipe = ours
        try:
            self.url, self.ports = await asyncio.to_thread(ours.recv)
        except EOFError:  # killed before it listened
            await asyncio.to_thread(self._process.join)

    async def _keep(self) -> None:
        while True:
            await asyncio.to_thread(self._process.join)
            await self._start()

    async def kill(self) -> None:
        """Start it again, too."""
        self._process.kill()

    async def close(self) -> None:
        self._keeping.cancel()
        self._process.terminate()
        await asyncio.to_thread(self._process.join)

    @property
    def killed(self) -> bool:
        return self.starts > 1


@asynccontextmanager
async def running_apart(wanted: Settings, fault: Fault) -> AsyncIterator[Child]:
    server = Child(wanted, fault)
    try:
        await server.open()
        yield server
    finally:
        await server.close()


def serve(wanted: Settings, fault: Fault, pipe: Connection) -> None:
    """The main function of the other process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    be_quiet()
    Faults(fault).install()
    asyncio.run(_serve(wanted, pipe))


async def _serve(wanted: Settings, pipe: Connection) -> None:
    async with stop_signal() as stop:
        house = await open_server(wanted)
        pipe.send((house.url, house.ports))
        await stop.wait()
        await house.close()
