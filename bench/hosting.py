"""What a hosted bot costs, in CPU time: against the same bot with `join --sandbox`, its start
against that of `play --sandbox`, and the runner with idle bots.

`python -m bench.hosting`; two minutes. Other load changes the figures little.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time, sleep

from tests.chaos.arena import TOKEN
from tests.chaos.hosting_kills import Site
from tests.kit.hosted import FIRST_FREE, GAME

from botdrome.client.guard import descendants
from botdrome.client.sandbox import SANDBOXED
from botdrome.offline.build import build
from botdrome.offline.isolation import START, Isolation, close_idle
from botdrome.offline.seats import ProcessSeat, make_seat
from botdrome.wire.upload import PackedFile, UploadLimits, packed

WAYS = ("runner", "join")
"""The processes, and the names of their bots."""
WARM, PLAYING = 10, 60.0
"""Matches of each before the measurement, and its seconds."""
STARTS = 9
IDLE, SECONDS = 50, 20.0
TICK = os.sysconf("SC_CLK_TCK")
IN_SANDBOX = Isolation(sandbox=True, limits=SANDBOXED)


def cpu_of(process: int) -> float:
    """Return the seconds of CPU time of a process and of all that it has started."""
    ticks = 0
    for one in (process, *descendants(process)):
        try:
            stat = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, stat[11:15]))
    return ticks / TICK


def played(site: Site, name: str) -> int:
    query = f"""SELECT count(*) FROM seats JOIN matches ON matches.number = seats.number
        WHERE status = 'ended' AND name = '{name}'"""
    return int(site.rows(query)[0][0])


def matches(folder: Path) -> None:
    """Both bots play on the ladder at the same time, so other load slows down both."""
    site = Site(folder, ("--ladder-wait", "0", "--ladder-per-hour", "3600"))
    site.start_server()
    for name in WAYS:
        site.tokens[name] = site.rest.register(GAME, name, "")
    file = folder / "bot.py"
    file.write_text(FIRST_FREE)
    token = site.tokens.pop("join")
    site.push("runner", "v")
    site.start_runner()
    words = ("join", GAME, str(file), "--sandbox", "--ladder", "--name", "join", "--token", token)
    site.start("join", *words, "--server", site.rest.url)
    site.until("both play", lambda: all(played(site, name) >= WARM for name in WAYS))
    began = {name: (cpu_of(site.processes[name].pid), played(site, name)) for name in WAYS}
    sleep(PLAYING)
    cost = {}
    for name, (cpu, count) in began.items():
        spent = cpu_of(site.processes[name].pid) - cpu
        cost[name] = spent / (played(site, name) - count) * 1000
    for process in ("join", "runner", "server"):
        site.stop(process)
    print(
        f"a match of a hosted bot: {cost['runner']:.1f} ms of CPU; with join --sandbox: "
        f"{cost['join']:.1f} ms; ratio {cost['runner'] / cost['join']:.2f}; {site.problems or ''}"
    )


def start_of(entrant: str) -> float:
    """Return the milliseconds of CPU time until a bot in the sandbox is ready to play: here, and in
    the processes that were started, while they live.
    """
    before = process_time()
    seat = make_seat(entrant, GAME, "one", 1, IN_SANDBOX)
    assert isinstance(seat, ProcessSeat)
    seat.begin({"game": GAME, "players": ["one", "two"], "you": 0, "seed": 1}, START)
    tasks = [
        path for one in descendants(os.getpid()) for path in Path(f"/proc/{one}/task").iterdir()
    ]
    nanoseconds = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    spent = process_time() - before + nanoseconds / 1e9
    seat.close()
    close_idle()
    return spent * 1000


def starts(folder: Path) -> None:
    file, cached = folder / "bot.py", folder / "builds" / "cached"
    file.write_text(FIRST_FREE)
    archive = packed({"bot.py": PackedFile(FIRST_FREE.encode())})
    build(archive, UploadLimits(1 << 20, 1 << 20, 10), cached)
    pairs = [(start_of(str(cached)), start_of(str(file))) for _ in range(STARTS)]
    times = [median(column) for column in zip(*pairs, strict=True)]
    ratio = median(one / other for one, other in pairs)
    print(
        f"start of a cached version: {times[0]:.0f} ms of CPU; as play --sandbox starts the file: "
        f"{times[1]:.0f} ms; ratio {ratio:.2f}"
    )


def idle(folder: Path) -> None:
    """Each bot has one match in the hour."""
    site = Site(folder, ("--ladder-wait", "0", "--ladder-per-hour", "1"))
    site.start_server()
    names = [f"bot{number}" for number in range(IDLE)]
    for name in names:
        site.tokens[name] = site.rest.register(GAME, name, "")
        site.push(name, "v")
    accept_all(site)
    site.start_runner()
    site.until("all bots play", site.all_play)
    processes = [0]

    def busy() -> bool:
        processes.append(len(list(descendants(site.processes["runner"].pid))))
        return all(played(site, name) for name in names) and not processes[-1]

    site.until("all bots are idle", busy)
    pid = site.processes["runner"].pid
    cpu = cpu_of(pid)
    sleep(SECONDS)
    print(
        f"{IDLE} idle hosted bots: {(cpu_of(pid) - cpu) / SECONDS * 1000:.1f} ms of CPU a second; "
        f"{processes[-1]} processes of bots, {max(processes)} at most before; "
        f"{site.problems or ''}"
    )
    for process in ("runner", "server"):
        site.stop(process)


def accept_all(site: Site) -> None:
    """Accept the versions that wait: their checks are not measured."""
    token = site.rest.get("operator/runners", TOKEN, {"name": "checks"})["token"]
    machine = {"about": "", "runnerClass": "", "speed": 0.0}
    body = {"machine": machine, "held": [], "checks": IDLE, "bots": 0}
    for lease in site.rest.get("runner/beats", token, body)["given"]:
        report = {"accepted": True, "report": ""}
        site.rest.get("runner/reports", lease["credential"], report)


def main(*chosen: str) -> None:
    parts: dict[str, Callable[[Path], None]] = {
        "matches": matches, "starts": starts, "idle": idle,
    }  # fmt: skip
    for name in chosen or parts:
        with tempfile.TemporaryDirectory(prefix="botdrome-bench-") as folder:
            Path(folder).chmod(0o755)
            parts[name](Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
