"""The cost of Dask: CPU time per match on a local cluster of two workers, against two processes of
the runner.

`python -m bench.dask_overhead` plays noughts and crosses between house bots, two numbers of matches
each way. The difference leaves out what it costs to start. All processes count: client, scheduler,
workers and their hosts.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.offline.dask_cluster import Cluster, cluster

from botdrome.client.guard import descendants

PLAY = ("play", "noughts-and-crosses", "house:random", "house:random")


def spent(pids: list[int]) -> float:
    """Return the CPU seconds of these processes and all below them, also those that have ended."""
    tree = {one for pid in pids for one in (pid, *descendants(pid))}
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in tree)
    return sum(sum(map(int, one[11:15])) for one in fields) / os.sysconf("SC_CLK_TCK")


def played(matches: int, *words: str) -> float:
    """Return the CPU seconds of the command."""
    before = os.times()
    command = [sys.executable, "-m", "botdrome", *PLAY, "-n", str(matches), *words]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def on_cluster(it: Cluster, matches: int) -> float:
    members = [it.scheduler.pid, *it.workers]
    before = spent(members)
    return played(matches, "--dask", it.address) + spent(members) - before


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--few", type=int, default=2_000)
    reader.add_argument("--many", type=int, default=22_000)
    given = reader.parse_args()
    extra = given.many - given.few
    with TemporaryDirectory() as folder, cluster(Path(folder)) as it:
        it.add_worker()
        it.add_worker()
        on_cluster(it, 100)
        for _ in range(2):
            here = [played(matches, "-j", "2") for matches in (given.few, given.many)]
            there = [on_cluster(it, matches) for matches in (given.few, given.many)]
            one, two = ((many - few) / extra * 1e6 for few, many in (here, there))
            print(
                f"-j 2: {one:.0f} us a match; --dask: {two:.0f} us a match, {two / one:.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
