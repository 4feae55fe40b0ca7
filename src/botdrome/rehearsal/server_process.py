"""ServerProcess: a real server in a process of its own, which can be killed and started again at
the same ports.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

from msgspec import Struct

from botdrome.client.rest import RestServer, ServerProblem

START = 60.0
"""Seconds in which a server starts."""


class ServerUsage(Struct):
    """What the server's processes have used so far."""

    cpu_seconds: float = 0.0
    peak_megabytes: float = 0.0


class ServerProcess:
    def __init__(self, folder: Path, flags: Sequence[str] = ()) -> None:
        port, duel, boats = free_ports(3)
        self.ports, self.token, self.usage = (
            {"http": port, "duel": duel, "xbs": boats},
            secrets.token_hex(16),
            ServerUsage(),
        )
        self.rest = RestServer(f"http://127.0.0.1:{port}")
        self._log = folder / "server.log"
        self._command = [
            sys.executable, "-m", "botdrome", "serve", "--port", str(port), "--duel-port",
            str(duel), "--boats-port", str(boats), "--cube-port", "0", "--db",
            f"sqlite:///{folder / 'rehearsal.db'}", "--operator-token", self.token, "--log-level",
            "warning", *flags,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers. Raise ServerProblem if it does not start."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        deadline = monotonic() + START
        while monotonic() < deadline:
            if self._process.poll() is not None:
                raise ServerProblem(f"the server has ended: {self._log.read_text()[-500:]}")
            try:
                self.rest.get("server")
                return
            except ServerProblem:
                sleep(0.05)
        raise ServerProblem(f"the server does not answer within {START:g} s")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server, and add up what it used."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.usage.cpu_seconds += used.ru_utime + used.ru_stime
        self.usage.peak_megabytes = max(self.usage.peak_megabytes, used.ru_maxrss / 1024)


def free_ports(count: int) -> list[int]:
    """Return ports that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
