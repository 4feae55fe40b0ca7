"""A process that plays matches for a worker of a cluster.

Workers play in threads, and a bot may end the process that it plays in. So each thread of a worker
has a host: a process with a main thread, which time limits need, with a current folder for the
bots, and that may die alone. It reads batches from standard input and writes results to standard
output. It ends with the worker, and when it is idle.
"""

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from botdrome.client.program import CannotStart, check_sandbox
from botdrome.contest.formats.format import ContestFixture
from botdrome.contest.schedule import Fixture
from botdrome.runner.bot_parcel import ROOT, BotParcel
from botdrome.runner.bot_process import close_idle
from botdrome.runner.contest_players import PlayedFixture, play_portion
from botdrome.runner.seats import load_fault
from botdrome.runner.tournament import MatchOutcome, play_fixture

IDLE = 60.0
"""Seconds without work after which a host ends, with the processes of its bots."""
LENGTH = struct.Struct(">Q")

AnyFixture = Fixture | ContestFixture


class PlayedMatch(Struct, frozen=True):
    """The outcome of a match of a tournament, and its files if they are to be saved."""

    outcome: MatchOutcome
    files: dict[str, bytes]


class BatchHost:
    """Plays the matches of one parcel."""

    def __init__(self, root: Path, parcel: BotParcel) -> None:
        self._root, self._parcel, self._plan = root, parcel, parcel.plan_in(root)
        self._unloaded = {entrant.replace(ROOT, str(root)) for entrant in parcel.sound}
        """Bots that the sender could load, and that were not loaded here yet."""
        if self._plan.isolation.sandbox:
            check_sandbox()

    def play(self, fixture: AnyFixture) -> PlayedMatch | PlayedFixture:
        """Raise CannotStart if a bot cannot play here, although it can where the tournament was
        started.
        """
        for number in fixture.entrants:
            self._load(self._plan.entrants[number])
        if isinstance(fixture, Fixture):
            return self._match(fixture)
        (played,) = play_portion(self._plan, [fixture])
        if played.absent:
            raise CannotStart("; ".join(played.absent.values()))
        return played

    def _load(self, entrant: str) -> None:
        if entrant in self._unloaded:
            self._unloaded.remove(entrant)
            if fault := load_fault(entrant, self._plan.isolation):
                told = self._parcel.as_at_home(fault.removeprefix(f"{entrant}: "), self._root)
                raise CannotStart(
                    f"{Path(entrant).name} can be loaded where you started it, but not here: {told}"
                )

    def _match(self, fixture: Fixture) -> PlayedMatch:
        if not self._plan.save:
            return PlayedMatch(self._as_at_home(play_fixture(self._plan, fixture)), {})
        with TemporaryDirectory() as folder:
            outcome = play_fixture(replace(self._plan, save=folder), fixture)
            files = {file.name: self._file(file) for file in Path(folder).iterdir()}
        return PlayedMatch(self._as_at_home(replace(outcome, file=Path(outcome.file).name)), files)

    def _file(self, file: Path) -> bytes:
        data = file.read_bytes()
        return data if file.suffix == ".jsonl" else self._home(data.decode()).encode()

    def _as_at_home(self, outcome: MatchOutcome) -> MatchOutcome:
        if not (outcome.faults or outcome.logs):
            return outcome
        faults, logs = (
            {seat: self._home(text) for seat, text in texts.items()}
            for texts in (outcome.faults, outcome.logs)
        )
        return replace(
            outcome, faults=faults, logs=logs, headlines=tuple(map(self._home, outcome.headlines))
        )

    def _home(self, text: str) -> str:
        return self._parcel.as_at_home(text, self._root)


def send(to: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    to.write(LENGTH.pack(len(data)) + data)
    to.flush()


def receive(source: IO[bytes]) -> Any:
    """Raise EOFError if the other side has ended."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def _listen(source: IO[bytes], tasks: "queue.SimpleQueue[Any]") -> None:
    try:
        while True:
            tasks.put(receive(source))
    except EOFError:
        os._exit(1)  # the guards of the bots end them


def _serve(tasks: "queue.SimpleQueue[Any]", answers: IO[bytes]) -> None:
    host: BatchHost | None = None
    while True:
        try:
            task = tasks.get(timeout=IDLE)
        except queue.Empty:
            return
        try:
            if host is None:
                host = BatchHost(*task)
                continue
            told: tuple[str, Any] = (
                "results",
                pickle.dumps([host.play(fixture) for fixture in task]),
            )
        except CannotStart as problem:
            told = ("problem", str(problem))
        except Exception:
            told = ("problem", traceback.format_exc())
        send(answers, told)


def main() -> NoReturn:
    """Standard input and output are for the worker alone; what is printed here goes to standard
    error, its log.
    """
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, tasks), daemon=True).start()
    _serve(tasks, answers)
    close_idle()
    sys.stdout.flush()
    os._exit(0)
