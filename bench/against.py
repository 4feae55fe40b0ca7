"""Compare this version with an earlier one, in turns on one machine.

    python -m bench.against COMMIT [--rounds N] [--seconds S] [--only WORK...]

The earlier server runs from a worktree of its commit, with the packages of its own lock; the load
is today's. The servers have the first core, the load has the second one. CPU time and memory are
those of all processes of a server. In each round both servers are started anew.
"""

import argparse
import hashlib
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.clients import number
from bench.server import ROOT, TODAY, Build, Server, server
from bench.works import FAST, FRESH, MANY_ROOMS, WORKS, Work

Pair = tuple[float, float]
"""The figures of the earlier version and of this one."""


@contextmanager
def checked_out(commit: str) -> Iterator[Build]:
    """Make a worktree of the commit. Its packages are kept in .cache for the next time."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield Build(str(environment(tree / "requirements.lock")), tree / "src")
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def environment(lock: Path) -> Path:
    """Return the interpreter of an environment with the packages of a lock."""
    folder = ROOT / ".cache" / "against" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        print(f"installing the packages of {lock.name} into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([str(python), *pip, "--require-hashes", "-r", str(lock)], check=True)
        ready.touch()
    return python


class Comparison:
    """The figures of all rounds."""

    def __init__(self, commit: str, works: Sequence[Work], seconds: float) -> None:
        self.commit, self.works, self.seconds = commit, works, seconds
        self.found: dict[str, list[Pair]] = {work.name: [] for work in works}

    def round(self, number: int, earlier: Build) -> None:
        """Measure each work on both versions. They take turns at being first."""
        builds = [earlier, TODAY]
        order = (0, 1) if number % 2 else (1, 0)
        fresh = [work for work in self.works if work.settings is FRESH]
        figures = [[0.0, 0.0] for _ in fresh]
        for which in order if fresh else ():
            with server(build=builds[which]) as running:
                running.settle()
                for work, pair in zip(fresh, figures, strict=True):
                    pair[which] = work.measure(running, self.seconds)
        for work, pair in zip(fresh, figures, strict=True):
            self.add(work, (pair[0], pair[1]))
        for settings in (FAST, MANY_ROOMS):
            works = [work for work in self.works if work.settings is settings]
            with ExitStack() as stack:
                both = [stack.enter_context(server(settings, build=it)) for it in builds if works]
                for work in works:
                    self.add(work, self.measured(work, both, order))

    def measured(self, work: Work, both: list[Server], order: tuple[int, int]) -> Pair:
        if work.baseline is not None:
            return work.baseline(), work.measure(both[1], self.seconds)
        figures = {which: work.measure(both[which], self.seconds) for which in order}
        return figures[0], figures[1]

    def add(self, work: Work, pair: Pair) -> None:
        self.found[work.name].append(pair)
        print(f"{work.name}: {number(pair[0])} {number(pair[1])}", file=sys.stderr, flush=True)

    def table(self) -> str:
        lines = [f"{'work':10}{'unit':22}{self.commit:>10}{'today':>10}{'ratio':>7}  range"]
        lines[0] += f"{'target':>19}  met"
        measured = [work for work in self.works if self.found[work.name]]
        lines += [self.row(work, self.found[work.name]) for work in measured]
        return "\n".join(lines)

    def row(self, work: Work, pairs: list[Pair]) -> str:
        old, new = (median(side) for side in zip(*pairs, strict=True))
        ratios = [after / before if before else float("inf") for before, after in pairs]
        ratio, spread = median(ratios), f"{min(ratios):.2f} to {max(ratios):.2f}"
        line = f"{work.name:10}{work.unit:22}{number(old):>10}{number(new):>10}{ratio:>7.2f}  {spread:14}"
        if not work.target:
            return line
        target = f"{'>=' if work.least else '<='} {work.target:g}"
        if work.against and git("rev-parse", work.against) != git("rev-parse", self.commit):
            return f"{line}{target:>10}  (against {work.against})"
        met = ratio >= work.target if work.least else ratio <= work.target
        return f"{line}{target:>10}  {'yes' if met else 'no'}"


def main() -> None:
    names = [work.name for work in WORKS]
    reader = argparse.ArgumentParser(description="Compare this version with an earlier one.")
    reader.add_argument("commit")
    reader.add_argument("--rounds", type=int, default=6)
    reader.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    reader.add_argument("--only", nargs="+", choices=names, default=names, metavar="WORK")
    given = reader.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    works = [work for work in WORKS if work.name in given.only]
    comparison = Comparison(given.commit, works, given.seconds)
    with checked_out(given.commit) as earlier:
        try:
            for number in range(given.rounds):
                comparison.round(number, earlier)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        print(comparison.table())


if __name__ == "__main__":
    main()
