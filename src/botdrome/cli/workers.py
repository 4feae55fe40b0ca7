"""`botdrome serve --workers N`: N nodes on this machine, and the engines they lack.

A node or an engine that dies is started again. This module is also the program of a node.
"""

import asyncio
import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct, json
from platformdirs import user_data_path

from botdrome.app import RunningServer, first_worker, serve
from botdrome.cli.logs import configure_logs
from botdrome.cli.serve import show
from botdrome.cli.terminal import REFUSED, Terminal, complain, note
from botdrome.protocols import load_settings
from botdrome.server.network.steady_loop import run
from botdrome.server.nodes.engines import EngineFailed, Engines
from botdrome.server.nodes.shared_ports import Front, FrontNode, SharedPorts
from botdrome.server.settings import BadSetting, Settings
from botdrome.server.workers.pool import WorkerProcess
from botdrome.store.entries import BadStoreUrl, StoreUnavailable


class NodeOrder(Struct):
    """The first line that a node reads."""

    flags: dict[str, Any]
    config: str | None
    first: bool
    """The first node shows the start-up screen."""


async def _serve(
    settings: Settings,
    first: bool,
    control: socket.socket,
    sockets: socket.socket,
    worker: WorkerProcess | None,
) -> None:
    shared = SharedPorts(control, sockets)
    await shared.open()

    def opened(server: RunningServer) -> None:
        if first:
            show(server, Terminal(stderr=True))
        shared.opened()

    try:
        await serve(settings, opened, shared, worker)
    finally:
        shared.close()


def run_node(control: socket.socket, sockets: socket.socket) -> int:
    line = b""
    while not line.endswith(b"\n"):
        if not (data := control.recv(1 << 16)):
            return REFUSED
        line += data
    order = json.decode(line, type=NodeOrder)
    settings = load_settings(order.flags, os.environ, Path(order.config) if order.config else None)
    configure_logs(settings)
    run(_serve(settings, order.first, control, sockets, first_worker()))
    return 0


if __name__ == "__main__":
    ends = [socket.socket(fileno=int(handle)) for handle in sys.argv[1:]]
    try:
        sys.exit(run_node(*ends))
    except (BadSetting, BadStoreUrl, StoreUnavailable) as problem:
        complain(problem)
        sys.exit(REFUSED)

log = structlog.get_logger()

SOON = 10.0
"""A node that dies within so many seconds is started again later and later."""
LATEST = 30.0
"""Seconds before such a node is started again, at most."""
PROCESSES = 2
"""Processes for heavy work of each node, if the setting does not say."""


class Supervisor:
    """Flags are the settings of the nodes, by their paths or names."""

    def __init__(
        self, settings: Settings, flags: Mapping[str, Any], config: Path | None, engines: Engines
    ) -> None:
        self._settings, self._flags, self._config = settings, {**flags, **engines.settings}, config
        self._engines = engines
        self._front = Front(settings)
        self._base = settings.cluster.name or f"{_host_name()}-{secrets.token_hex(2)}"
        self._stopping = asyncio.Event()
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._status = 0

    async def run(self) -> int:
        """Run until a signal comes and all nodes have drained. Return the status of the command."""
        loop, count = asyncio.get_running_loop(), self._settings.workers
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        engines = asyncio.create_task(self._engines.supervise())
        opened = [asyncio.Event() for _ in range(count)]
        first = asyncio.create_task(self._keep(1, opened[0]))
        await opened[0].wait()  # it brings the store up to date, and makes the operator's token
        others = [
            asyncio.create_task(self._keep(number, event))
            for number, event in enumerate(opened[1:], 2)
        ]
        for event in opened:
            await event.wait()
        if not self._stopping.is_set():
            words = (
                f"\n{count} nodes share these ports: "
                f"{', '.join(map(self._name, range(1, count + 1)))}."
            )
            note(words)
        await asyncio.gather(first, *others)
        engines.cancel()
        self._front.close()
        return self._status

    def _name(self, number: int) -> str:
        return f"{self._base}-{number}"

    def _stop(self) -> None:
        """Let all nodes drain; at a second signal, let them end at once."""
        self._stopping.set()
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.terminate()

    async def _keep(self, number: int, opened: asyncio.Event) -> None:
        """Run a node, again and again. `opened` is set when it has started, or never will."""
        loop, pause = asyncio.get_running_loop(), 0.0
        while not self._stopping.is_set():
            since = loop.time()
            status = await self._run(number, opened)
            if self._stopping.is_set():
                break
            if number == 1 and not opened.is_set():  # it has said why
                self._status = status
                self._stop()
                break
            pause = min(2 * pause + 1, LATEST) if loop.time() - since < SOON else 0.0
            log.error(
                "a node has ended: it is started again",
                node=self._name(number),
                status=status,
                seconds=pause,
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
        opened.set()

    async def _run(self, number: int, opened: asyncio.Event) -> int:
        """Run a node until it ends, and return its status."""
        port, pipes = self._settings.cluster.port, self._settings.cluster.pipes
        own = {
            "cluster.name": self._name(number),
            "cluster.port": port + number - 1 if port > 0 else port,
            "cluster.pipes": pipes + number - 1 if pipes > 0 else pipes,
        }
        flags = {**self._flags, **own, "workers": 1}
        order = NodeOrder(
            flags,
            str(self._config) if self._config else None,
            first=number == 1 and not opened.is_set(),
        )
        control, its_control = socket.socketpair()
        sockets, its_sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with its_control, its_sockets:
            handles = [its_control.fileno(), its_sockets.fileno()]
            process = self._processes[number] = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "botdrome.cli.workers", *map(str, handles),
                pass_fds=[*handles, self._engines.hold],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for the supervisor alone
            )  # fmt: skip
        sockets.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=control)
        node = FrontNode(writer, sockets, opened)
        writer.write(json.encode(order) + b"\n")
        if self._stopping.is_set():
            process.terminate()
        with sockets:
            await self._front.serve(node, reader)
            status = await process.wait()
        writer.close()
        return status


def run_workers(settings: Settings, flags: Mapping[str, Any], config: Path | None) -> int:
    """Start the engines that the settings do not name, then the nodes."""
    if settings.db and not settings.db.startswith("postgres"):
        raise BadSetting(
            f"db: several workers need PostgreSQL, not {settings.db!r}; without --db, one is "
            "started"
        )
    try:
        engines = Engines(
            user_data_path("botdrome") / "cluster", db=not settings.db, nats=not settings.nats
        )
        engines.start()
    except EngineFailed as problem:
        raise BadSetting(f"workers: {problem}") from None
    try:
        return asyncio.run(
            _supervise(
                settings, {**flags, "processes": settings.processes or PROCESSES}, config, engines
            )
        )
    finally:
        engines.stop()


async def _supervise(
    settings: Settings, flags: Mapping[str, Any], config: Path | None, engines: Engines
) -> int:
    """On asyncio's own loop: uvloop does not end when listening sockets were copied."""
    return await Supervisor(settings, flags, config, engines).run()


def _host_name() -> str:
    return (
        "".join(
            letter if letter.isalnum() else "-" for letter in socket.gethostname().partition(".")[0]
        )
        or "node"
    )
