"""The server under load: the server on one core, the load on the other."""

import gc
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
from pathlib import Path
from typing import Any

from bench import echo
from bench.clients import start

TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """`botdrome serve` on the first core."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, screen: str = "") -> None:
        self.process, self.url = process, url
        self.screen = screen
        """The start-up screen."""

    def cpu(self) -> float:
        """Return the CPU seconds of all its threads, to the nanosecond: `/proc` counts
        hundredths.
        """
        return time.clock_gettime(~self.process.pid << 3 | 2)  # clock_getcpuclockid(3)

    def waited(self) -> float:
        """Return the seconds that the server waited for its core, including time stolen by the
        hypervisor.
        """
        delay = int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9
        core = re.search(r"^cpu0 .*$", Path("/proc/stat").read_text(), re.MULTILINE)
        assert core is not None
        return delay + int(core[0].split()[8]) / TICKS

    def memory(self) -> int:
        """Resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )

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

    def lateness(self) -> dict[float, float]:
        """Return the histogram of tick lateness from the server's metrics."""
        found = re.findall(r'beat_lateness_seconds_bucket\{le="([^"]+)"\} (\S+)', self._metrics())
        return {float(bound): float(count) for bound, count in found}

    def metric(self, name: str) -> float:
        found = re.search(rf"^{name} (\S+)$", self._metrics(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def _metrics(self) -> str:
        with urllib.request.urlopen(f"{self.url}/metrics") as answer:
            return str(answer.read().decode())


@contextmanager
def server(*words: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-c",
            "from botdrome.cli.app import main; main()",
            "serve",
            "--port",
            "0",
        ]
        command += ["--db", f"sqlite:///{folder}/bench.db", "--set", "match.start_delay=0", *words]
        process = subprocess.Popen(
            ["taskset", "-c", "0", *command], stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        screen = ""
        while "Ctrl-C" not in screen:
            line = process.stderr.readline()
            assert line, screen
            screen += line
        found = re.search(r"(http://[^/]+)/graphql", screen)
        assert found is not None
        try:
            yield Server(process, found[1], screen)
        finally:
            process.kill()
            process.communicate()


def load(kind: str, *words: object) -> Any:
    """Run a load of `bench.bots` on the second core, and return its report."""
    output, _ = start_load(kind, *words).communicate()
    return json.loads(output)


def start_load(kind: str, *words: object) -> "subprocess.Popen[str]":
    return start("bench.bots", kind, *words)


def first_in_line() -> None:
    """Raise the priority of a measuring process and disable its garbage collector, so that it is
    not late itself.
    """
    gc.disable()
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def moves(pairs: int, seconds: float) -> None:
    bare = echo.measure()
    with server() as running:
        passwords = [running.register(f"load {number}", "NOUGHTS_AND_CROSSES") for number in (0, 1)]
        load("noughts", running.url, *passwords, 2 * pairs, 1)
        before, began = running.cpu(), running.memory()
        done = load("noughts", running.url, *passwords, 2 * pairs, seconds)
        spent = running.cpu() - before
        rate, each = done["moves"] / spent, spent / done["matches"] * 1e6
        print(
            f"noughts and crosses, {pairs:4} pairs: {rate:8,.0f} moves per CPU second ({each:,.0f} "
            "us a match with two logins), "
            f"{done['moves'] / seconds:,.0f} a second, p99 {done['answers'][1]:.1f} ms, "
            f"memory {began / 1e6:.0f} -> {running.memory() / 1e6:.0f} MB over "
            f"{done['matches']:,.0f} matches; "
            f"{each / bare.new:.1f} times as much as a bare echo of the same messages and "
            f"connections ({bare.new:,.0f} us)"
        )


def connections(pairs: int, seconds: float, turns: int = 4) -> None:
    """Compare a new connection for each match with connections that are kept, in turns on one
    server.
    """
    bare = echo.measure()
    spent: dict[str, float] = {"noughts": 0.0, "again": 0.0}
    matches = dict.fromkeys(spent, 0.0)
    with server() as running:
        passwords = [running.register(f"load {number}", "NOUGHTS_AND_CROSSES") for number in (0, 1)]
        load("noughts", running.url, *passwords, 2 * pairs, 1)
        for kind in turns * tuple(spent):
            before = running.cpu()
            matches[kind] += load(kind, running.url, *passwords, 2 * pairs, seconds)["matches"]
            spent[kind] += running.cpu() - before
    new, kept = (spent[kind] / matches[kind] * 1e6 for kind in spent)
    print(
        f"noughts and crosses, {pairs} pairs: {new:,.0f} us of CPU a match on new connections, "
        f"{kept:,.0f} us on kept ones "
        f"(feature `again`): {new / kept:.2f} times the moves per CPU second, "
        f"{(new - kept) / 2:,.0f} us for each connection "
        f"and login; {new / bare.new:.1f} and {kept / bare.kept:.1f} times as much as a bare echo "
        "of the same messages and "
        f"connections ({bare.new:,.0f} and {bare.kept:,.0f} us)"
    )


def late_at_most(before: dict[float, float], after: dict[float, float]) -> tuple[float, float]:
    """Return the number of ticks and the 99th percentile of their lateness."""
    late = {bound: count - before[bound] for bound, count in after.items()}
    total = late[float("inf")]
    return total, min(bound for bound, count in late.items() if count >= 0.99 * total)


def beats(games: int, seconds: float) -> None:
    with server() as running:
        passwords = [running.register(f"bee {number}", "BUMBLEBOTS") for number in (0, 1)]
        arrivals = 2 * games / 200
        bees = start_load("bumblebots", running.url, *passwords, 2 * games, arrivals + seconds + 4)
        time.sleep(arrivals + 4)
        before, seen = running.cpu(), running.lateness()
        time.sleep(seconds)
        spent = running.cpu() - before
        total, p99 = late_at_most(seen, running.lateness())
        bees.communicate()
        print(
            f"Bumblebots, {games} games at once: {total:,.0f} beats, p99 lateness at most "
            f"{p99 * 1000:g} ms, "
            f"{spent / seconds * 100:.0f} % of a core"
        )


def main() -> None:
    for pairs in (50, 500):
        moves(pairs, 8)
    connections(50, 3)
    beats(500, 12)


if __name__ == "__main__":
    main()
