"""A NATS server on this machine, to try out a cluster. The extra `botdrome[cluster]` has its program."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

MISSING = "pip install 'botdrome[cluster]' brings it"
PATIENCE = 60.0
"""Seconds in which an engine has to start."""


class EngineFailed(Exception):
    """An engine did not start, with the reason."""


class NatsEngine:
    """A NATS server on a free port of 127.0.0.1. Its log is in the folder. Options are those of `nats-server`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._options = folder, options
        self._port = -1
        self.process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Return once it listens. When it is started again, it is on the same port."""
        where = ["-a", "127.0.0.1", "-p", str(self._port), "--ports_file_dir", str(self._folder)]
        log = self._folder / "nats.log"
        command = [_nats_program(), *where, "-l", str(log), *self._options]
        # A signal from the terminal is for the command that runs the engine: that stops it last.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        ports = self._folder / f"nats-server_{self.process.pid}.ports"
        until = monotonic() + PATIENCE
        while not (text := ports.read_text() if ports.exists() else "").endswith("}"):
            if self.process.poll() is not None or monotonic() > until:
                self.stop()
                raise EngineFailed(f"nats-server did not start: see {log}")
            sleep(0.01)
        self._port = int(json.loads(text)["nats"][0].rpartition(":")[2])

    def stop(self) -> None:
        self.process.kill()  # it stores nothing
        self.process.wait()


def _nats_program() -> str:
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise EngineFailed(f"there is no program nats-server: {MISSING}")
    return found
