"""A Dask cluster of real processes: a scheduler and workers on 127.0.0.1, on ports that the system
chooses.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread

QUIET = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
"""A batch that has killed one worker is divided at once; Dask's own setting is to try four."""


class Cluster:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.scheduler, line = self._start("scheduler", "--port", "0", awaited="Scheduler at:")
        self.address = re.findall(r"tcp://[\d.:]+", line)[0]
        self.workers: dict[int, Popen[str]] = {}

    def add_worker(self) -> int:
        """Start a worker, and return its process id when it has joined."""
        options = (
            "--no-nanny",
            "--nthreads",
            "1",
            "--local-directory",
            str(self._folder / "worker"),
        )
        worker, _ = self._start("worker", self.address, *options, awaited="Registered to:")
        self.workers[worker.pid] = worker
        return worker.pid

    def kill(self, pid: int) -> None:
        _kill(self.workers.pop(pid))

    def close(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            _kill(process)

    def _start(self, kind: str, *words: str, awaited: str) -> tuple[Popen[str], str]:
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_" + kind,
            *words,
            "--host",
            "127.0.0.1",
            "--no-dashboard",
        ]
        process = Popen(command, cwd=self._folder, stderr=PIPE, text=True, env=os.environ | QUIET)
        assert process.stderr is not None
        seen = ""
        for line in process.stderr:
            seen += line
            if awaited in line:
                Thread(target=process.stderr.read).start()  # so that its log never blocks it
                return process, line
        raise AssertionError(seen)


def _kill(process: Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.close()
