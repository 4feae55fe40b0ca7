"""A cluster of real processes: three nodes, a NATS and a PostgreSQL of its own."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import httpx

from botdrome.server.nodes.engines import NatsEngine, PostgresEngine

PATIENCE = 120.0
URL = re.compile(r"bots \(WebSocket\)\s+ws://([\d.:]+)")
DUEL = re.compile(r"duel arena \(TCP\)\s+([\d.]+):(\d+)")


class ClusterProcesses:
    def __init__(self, folder: Path, nodes: int = 3) -> None:
        self._folder, self._count = folder, nodes
        self.nats, self.postgres = NatsEngine(folder), PostgresEngine(folder)
        self._supervisor: subprocess.Popen[bytes]
        self.http, self.duel = "", ("", 0)

    def __enter__(self) -> "ClusterProcesses":
        self.nats.start()
        self.postgres.start()
        log = self._folder / "nodes.log"
        options = ["--port", "0", "--duel-port", "-1", "--drain", "5", "--db", self.postgres.url, "--nats", self.nats.url]
        command = [sys.executable, "-m", "botdrome", "serve", "--workers", str(self._count), *options]
        with log.open("wb") as out:
            self._supervisor = subprocess.Popen(command, stdout=out, stderr=out)
        until = monotonic() + PATIENCE
        while "nodes share these ports" not in (text := log.read_text()):
            if self._supervisor.poll() is not None or monotonic() > until:
                raise RuntimeError(f"the cluster did not start: {text}")
            sleep(0.05)
        self.http = URL.findall(text)[0]
        host, port = DUEL.findall(text)[0]
        self.duel = host, int(port)
        return self

    def __exit__(self, *_: object) -> None:
        self._supervisor.terminate()
        self._supervisor.wait()
        self.nats.stop()
        self.postgres.stop()

    @property
    def log(self) -> str:
        return (self._folder / "nodes.log").read_text()

    @property
    def nodes(self) -> list[int]:
        """The process ids of the nodes."""
        pid = self._supervisor.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if b"botdrome.cli.node" in Path(f"/proc/{child}/cmdline").read_bytes()]

    @property
    def postmaster(self) -> int:
        return int(self.postgres.pid_file.read_text().split()[0])

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{self.http}{path}", timeout=PATIENCE, trust_env=False)

    def until_whole(self) -> None:
        """Wait until all nodes have joined again."""
        until = monotonic() + PATIENCE
        while monotonic() < until:
            try:
                if self.get("/api/v1/nodes").json()["total"] == self._count:
                    return
            except (httpx.HTTPError, ValueError, KeyError):
                pass
            sleep(0.2)
        raise RuntimeError(f"not all nodes have come back: {self.log[-2000:]}")


def stop_and_continue(pid: int, seconds: float) -> None:
    """Freeze a process for a while."""
    os.kill(pid, signal.SIGSTOP)
    sleep(seconds)
    os.kill(pid, signal.SIGCONT)
