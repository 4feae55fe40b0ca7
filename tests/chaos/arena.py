"""A cluster of real processes: three nodes, a NATS and a PostgreSQL of its own."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]

from botdrome.server.nodes.engines import NatsEngine, PostgresEngine
from tests.faults import boaters, bombers

PATIENCE = 120.0
URL = re.compile(r"bots \(WebSocket\)\s+ws://([\d.:]+)")
PORTS = {
    "duel": re.compile(r"duel arena \(TCP\).*:(\d+)"),
    "xbs": re.compile(r"boat games.*:(\d+)"),
}
TOKEN = "the operator of the chaos"
NAME = "chaos"
ROOMS = bombers.ROOMS.replace("round=60000", "round=2000")
"""A game that its users have left is soon over."""
CONFIG = f"""
port = 0
drain = 5.0
processes = 2
[operator]
token = "{TOKEN}"
[cluster]
name = "{NAME}"
port = -1
[cube]
limit = 60.0
[duel]
port = -1
[bomber]
port = 0
rooms = "{ROOMS}"
[boats]
port = -1
dir = "FOLDER"
[[boats.rooms]]
title = "{boaters.PLAN.title}"
width = {boaters.SIDE}
height = {boaters.SIDE}
boats = "{boaters.PLAN.boats}"
goal = {boaters.PLAN.goal}
absence = {boaters.PLAN.absence}
"""
SWITCH = """
import os, sys
from pathlib import Path
sys.path.insert(0, Path(__file__).with_name("version").read_text())
if "botdrome.cli.workers" in sys.orig_argv:
    os.environ["PYTHONPATH"] = sys.path[0]
"""
"""Python runs this before all else.

Each node that starts takes the version that is named then, for its processes, too.
"""
NEW = Path(__file__).parents[2] / "src"


Ends = tuple[int, int]
"""The server's port and the client's: clients of two ports of a server may have the same port."""
NO_ENDS: Ends = 0, 0


class ClusterProcesses:
    def __init__(self, folder: Path, nodes: int = 3, version: Path = NEW) -> None:
        """`version` is the folder of the package `botdrome` that nodes begin with."""
        self.folder, self._count = folder, nodes
        (folder / "sitecustomize.py").write_text(SWITCH)
        self.next_version(version)
        self.nats, self.postgres = NatsEngine(folder), PostgresEngine(folder)
        self._supervisor: subprocess.Popen[bytes]
        self.http, self.ports = "", dict[str, int]()
        """The address of the HTTP port, and the numbers of the others."""

    def __enter__(self) -> "ClusterProcesses":
        self.nats.start()
        self.postgres.start()
        log, config = self.folder / "nodes.log", self.folder / "nodes.toml"
        config.write_text(CONFIG.replace("FOLDER", str(self.folder / "boats")))
        options = ["--config", str(config), "--db", self.postgres.url]
        command = [
            sys.executable,
            "-m",
            "botdrome",
            "serve",
            "--workers",
            str(self._count),
            *options,
        ]
        with log.open("wb") as out:
            self._supervisor = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                env={**os.environ, "PYTHONPATH": str(self.folder), "BOTDROME_NATS": self.nats.url},
            )
        until = monotonic() + PATIENCE
        while "nodes share these ports" not in (text := log.read_text()):
            if self._supervisor.poll() is not None or monotonic() > until:
                raise RuntimeError(f"the cluster did not start: {text}")
            sleep(0.05)
        self.http = URL.findall(text)[0]
        self.ports = {name: int(line.findall(text)[0]) for name, line in PORTS.items()}
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.nats.stop()
        self.postgres.stop()

    def next_version(self, folder: Path) -> None:
        """Nodes that start from now on have this version."""
        (self.folder / "version").write_text(str(folder.resolve()))

    def stop(self) -> None:
        """Stop the nodes, but neither NATS nor PostgreSQL."""
        self._supervisor.terminate()
        self._supervisor.wait()

    @property
    def url(self) -> str:
        return f"http://{self.http}"

    @property
    def log(self) -> str:
        return (self.folder / "nodes.log").read_text()

    @property
    def nodes(self) -> list[int]:
        """The process ids of the nodes."""
        pid = self._supervisor.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [
            int(child)
            for child in children
            if b"botdrome.cli.workers" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]

    def process_of(self, node: dict[str, Any]) -> int:
        """Return the process that listens on a node's own port."""
        port = int(node["url"].rpartition(":")[2])
        listening = {
            one.laddr.port: pid
            for pid in self.nodes
            for one in _connections(pid)
            if one.status == psutil.CONN_LISTEN
        }
        return listening[port]

    def clients_at(self, port: str) -> set[Ends]:
        """Return the connections of this process to a port of the cluster."""
        return {
            (one.raddr.port, one.laddr.port)
            for one in _connections(os.getpid())
            if one.raddr and one.raddr.port == self.ports[port]
        }

    def holders(self) -> dict[Ends, int]:
        """Return which process has the server's end of each connection."""
        return {
            (one.laddr.port, one.raddr.port): pid
            for pid in self.nodes
            for one in _connections(pid)
            if one.raddr
        }

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.url}/api/v1{path}", timeout=PATIENCE, trust_env=False).json()

    def order(self, method: str, path: str, body: Any) -> Any:
        """Send a request as the operator."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx.request(
            method,
            f"{self.url}/api/v1/operator{path}",
            json=body,
            headers=headers,
            timeout=PATIENCE,
            trust_env=False,
        )
        answer.raise_for_status()
        return answer.json()

    def until_whole(self) -> None:
        """Wait until all nodes have joined again.

        A dead node is shown for a moment, but no process has its port.
        """
        until = monotonic() + PATIENCE
        while monotonic() < until:
            with suppress(httpx.HTTPError, ValueError, KeyError):
                nodes = self.get("/nodes")["nodes"]
                if (
                    len({self.process_of(node) for node in nodes if not node["draining"]})
                    == self._count
                ):
                    return
            sleep(0.1)
        raise RuntimeError(f"not all nodes have come back: {self.log[-2000:]}")


def _connections(pid: int) -> list[Any]:
    try:
        return list(psutil.Process(pid).net_connections("tcp"))
    except psutil.NoSuchProcess:
        return []


def stop_and_continue(pid: int, seconds: float) -> None:
    """Freeze a process for a while."""
    os.kill(pid, signal.SIGSTOP)
    sleep(seconds)
    os.kill(pid, signal.SIGCONT)
