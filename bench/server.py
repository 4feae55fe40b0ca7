"""A server under measurement: its processes on the first core, the load on the second."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bench.clients import Process
from botdrome.client.guard import descendants

ROOT = Path(__file__).parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
FORMER_NAMES = {
    "match.start_delay": "start_delay", "limits.waiting": "waiting_limit",
    "boats.port": "xbs_port",
}  # fmt: skip
"""Settings whose names changed when sections were added."""


class Build(NamedTuple):
    """A version of Botdrome: its sources, and an interpreter with its packages."""

    python: str = sys.executable
    sources: Path = ROOT / "src"

    def command(self, *words: str) -> list[str]:
        return [self.python, "-c", "from botdrome.cli.app import main; main()", "serve", *words]

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
        return kept | {"PYTHONPATH": str(self.sources), "COLUMNS": "200"}

    def options(self, settings: dict[str, object]) -> list[str]:
        """Return the options for these settings, by the names that this version has for them."""
        told = subprocess.run(
            self.command("--help"), env=self.environment, capture_output=True, text=True, check=True
        )
        if "SECTION.KEY" not in told.stdout:
            former = {key: FORMER_NAMES.get(key, key.replace(".", "_")) for key in settings}
            settings = {former[key]: value for key, value in settings.items()}
        return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


TODAY = Build()
DEFAULTS: dict[str, object] = {"match.start_delay": 0, "duel.port": -1, "boats.port": -1}


class Server:
    """A running server, with all its processes."""

    def __init__(self, process: Process, url: str = "", screen: str = "") -> None:
        self.process, self.url = process, url
        self.screen = screen
        """The start-up screen."""

    @property
    def processes(self) -> list[int]:
        return [self.process.pid, *descendants(self.process.pid)]

    def cpu(self) -> float:
        """Return the CPU seconds of all its processes, also of those that have ended."""
        return sum(map(_cpu, self.processes))

    def memory(self, kind: str = "Pss") -> int:
        """Return the bytes of all its processes; pages that they share count once.

        `Pss_Anon` is without pages of files, which the system may drop.
        """
        found = (_number(Path(f"/proc/{pid}/smaps_rollup"), f"{kind}:") for pid in self.processes)
        return 1024 * sum(found)

    def wakeups(self) -> int:
        """Return how often its threads have slept and been woken."""
        return sum(
            _number(thread / "status", "voluntary_ctxt_switches:")
            for pid in self.processes
            for thread in Path(f"/proc/{pid}/task").glob("*")
        )

    def waited(self) -> float:
        """Return the seconds that the server waited for its core, including time stolen by the
        hypervisor.
        """
        delay = int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9
        core = re.search(r"^cpu0 .*$", Path("/proc/stat").read_text(), re.MULTILINE)
        assert core is not None
        return delay + int(core[0].split()[8]) / TICKS

    def settle(self) -> None:
        """Wait until the server is idle, for 30 s at most."""
        for _ in range(100):
            before = self.cpu()
            time.sleep(0.3)
            if self.cpu() - before < 0.03:
                break

    def port(self, title: str) -> int:
        """Return a port by its title on the start-up screen."""
        found = re.search(rf"{title}.*?:(\d+)", self.screen)
        assert found is not None, self.screen
        return int(found[1])

    @cached_property
    def tokens(self) -> tuple[str, str]:
        """The tokens of the two names under which bots play noughts and crosses."""
        one, two = (self.register(f"load {number}", "NOUGHTS_AND_CROSSES") for number in (0, 1))
        return one, two

    def register(self, name: str, game: str) -> str:
        query = (
            f'mutation {{ registerBot(gameType: {game}, name: "{name}", owner: "bench") {{ '
            f"password }} }}"
        )
        request = urllib.request.Request(
            f"{self.url}/graphql",
            json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return str(json.load(answer)["data"]["registerBot"]["password"])

    def live(self) -> list[dict[str, Any]]:
        """Return the running matches."""
        with urllib.request.urlopen(f"{self.url}/api/v1/live") as answer:
            return list(json.load(answer)["tables"])

    def lateness(self) -> dict[float, float]:
        """Return the histogram of tick lateness from the server's metrics."""
        with urllib.request.urlopen(f"{self.url}/metrics") as answer:
            metrics = answer.read().decode()
        found = re.findall(r'beat_lateness_seconds_bucket\{le="([^"]+)"\} (\S+)', metrics)
        return {float(bound): float(count) for bound, count in found}


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process, to the nanosecond, and of its children that have ended,
    which the system counts in hundredths.
    """
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        own = time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3)
        return own + (int(fields[13]) + int(fields[14])) / TICKS
    return 0.0


def _number(file: Path, key: str) -> int:
    with suppress(OSError), file.open() as lines:
        return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)
    return 0


def late_at_most(before: dict[float, float], after: dict[float, float]) -> tuple[float, float]:
    """Return the number of ticks and the 99th percentile of their lateness."""
    late = {bound: count - before[bound] for bound, count in after.items()}
    total = late[float("inf")]
    return total, min(bound for bound, count in late.items() if count >= 0.99 * total)


@contextmanager
def server(
    settings: dict[str, object] | None = None, *words: str, build: Build = TODAY
) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        words = "--port", "0", "--db", f"sqlite:///{folder}/bench.db", *words
        command = build.command(*words, *build.options(DEFAULTS | (settings or {})))
        with started(command, "Ctrl-C", build.environment) as running:
            yield running


@contextmanager
def started(
    command: list[str], last: str, environment: dict[str, str] | None = None
) -> Iterator[Server]:
    """Start a server on the first core. `last` ends its start-up screen."""
    process = subprocess.Popen(
        ["taskset", "-c", "0", *command], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        screen = ""
        while last not in screen:
            line = process.stderr.readline()
            assert line, screen
            screen += line
        found = re.search(r"(http://[^/\s]+)/graphql", screen)
        yield Server(process, found[1] if found else "", screen)
    finally:
        process.kill()
        process.communicate()
