"""What a worker of a cluster runs: batches of matches, each thread in a host of its own."""

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from botdrome import __version__
from botdrome.runner.batches import timed
from botdrome.runner.bot_parcel import HERE, MINOR, BotParcel
from botdrome.runner.bot_process import OWN_VARIABLES, python_path
from botdrome.runner.match_host import AnyFixture, receive, send

TRIES = 3
"""How often a match is played whose host dies."""

LOOK = 1.0
"""Seconds between two looks whether a batch is cancelled."""


class WorkerRefusal(Exception):
    """A worker cannot play, and another try would not help; the text says what to do."""


class HostDied(Exception):
    """The text says how."""


class UnplayedMatch(Struct, frozen=True):
    """A match that cannot be played, because it ends the processes that play it."""

    fixture: AnyFixture
    why: str


class HostProcess:
    def __init__(self, root: Path, parcel: BotParcel) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from botdrome.runner.match_host import main; main()"],
            cwd=root / HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | OWN_VARIABLES | python_path(),
        )
        self.checksum = parcel.checksum
        send(self._pipe("stdin"), (root, replace(parcel, files=b"")))

    def _pipe(self, name: str) -> Any:
        return getattr(self._process, name)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def play(self, fixtures: Sequence[AnyFixture]) -> bytes:
        """Return the results as the host has pickled them.

        Raise HostDied if the process ends, and WorkerRefusal if a bot cannot play here, or the
        batch is cancelled.
        """
        try:
            send(self._pipe("stdin"), fixtures)
            while not select.select([self._pipe("stdout")], [], [], LOOK)[0]:
                if not _wanted():
                    self.close()
                    raise WorkerRefusal("the batch was cancelled")
            kind, value = receive(self._pipe("stdout"))
        except (EOFError, OSError):
            raise HostDied(self._end()) from None
        if kind == "problem":
            self.close()
            raise WorkerRefusal(value)
        return bytes(value)

    def _end(self) -> str:
        self.close()
        status = self._process.returncode
        how = (
            f"was ended by {signal.Signals(-status).name}"
            if status < 0
            else f"ended with status {status}"
        )
        return f"the process that played it {how}"

    def close(self) -> None:
        with suppress(OSError):
            self._pipe("stdin").close()
        self._process.wait()
        self._pipe("stdout").close()


_of_thread = threading.local()


def play_batch(parcel: BotParcel, fixtures: Sequence[AnyFixture]) -> tuple[list[bytes], float]:
    """Return for each fixture a match that was played, or an UnplayedMatch, in pickled lists; and
    the mean seconds per match.
    """
    worker = _this_worker()
    if (parcel.version, parcel.python) != (__version__, MINOR):
        told = (
            f"Botdrome {__version__} and Python {MINOR}, not {parcel.version} and {parcel.python}"
        )
        raise WorkerRefusal(
            f"the worker {worker.address} has {told}; install the same versions on each machine"
        )
    root = parcel.unpacked(Path(worker.local_directory))
    try:
        return timed(partial(_played, root, parcel), fixtures)
    except WorkerRefusal as refusal:
        raise WorkerRefusal(f"the worker {worker.address} cannot play: {refusal}") from None


def _wanted() -> bool:
    """Whether the batch of this thread is not cancelled."""
    worker = _this_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state != "cancelled"


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _played(root: Path, parcel: BotParcel, fixtures: Sequence[AnyFixture]) -> list[bytes]:
    try:
        return [_host(root, parcel).play(fixtures)]
    except HostDied as died:
        if len(fixtures) > 1:
            return [chunk for fixture in fixtures for chunk in _played(root, parcel, [fixture])]
        return [_played_again(root, parcel, fixtures[0], str(died))]


def _played_again(root: Path, parcel: BotParcel, fixture: AnyFixture, why: str) -> bytes:
    for _ in range(1, TRIES):
        try:
            return _host(root, parcel).play([fixture])
        except HostDied as died:
            why = str(died)
    return pickle.dumps([UnplayedMatch(fixture, f"{why}, {TRIES} times")])


def _host(root: Path, parcel: BotParcel) -> HostProcess:
    host: HostProcess | None = getattr(_of_thread, "host", None)
    if host is not None and not (host.alive and host.checksum == parcel.checksum):
        host.close()
        host = None
    if host is None:
        host = _of_thread.host = HostProcess(root, parcel)
    return host
