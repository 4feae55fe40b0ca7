"""A pool of workers on many machines: a Dask cluster, as an executor of batches of matches.

Dask plays a batch again elsewhere if its worker dies, and tells each result once. A batch whose
workers died several times is divided. A single match is a suspect then: it is played once more
while no other match is, and if that kills workers again, it is told as unplayed.
"""

import asyncio
import logging
import os
import pickle
import pkgutil
import platform
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import count
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from botdrome import __version__
from botdrome.runner.batches import PoolTrouble
from botdrome.runner.bot_parcel import MINOR, BotParcel
from botdrome.runner.match_worker import UnplayedMatch, WorkerRefusal

NO_DASK = "--dask needs distributed: pip install 'botdrome[dask]'"
CONNECT = 10.0
"""Seconds in which the scheduler must answer, also after a lost connection."""
JOIN = 30.0
"""Seconds in which the first worker must join the scheduler."""
WATCH = 1.0
"""Seconds between two looks at the cluster."""
PATIENCE = 10.0
"""Seconds without any worker until that is told."""
ADDRESS = re.compile(r"[a-z]+://.+:\d+")


class DaskExecutor(Executor):
    """Works on batches on the workers of a cluster, each with the same parcel, which is sent once
    to each worker.
    """

    def __init__(self, client: Any, address: str, parcel: Any) -> None:
        """`parcel` is a Dask future."""
        self._client, self._address, self._parcel = client, address, parcel
        self._name, self._keys = f"botdrome-{os.urandom(8).hex()}", count()
        self._open: set[Future[Any]] = set()
        self._tasks: set[Any] = set()
        self._waiting: deque[_Part] = deque()
        self._suspects: deque[_Part] = deque()
        """Single matches on workers that died. Each is played again while no other match is."""
        self._in_flight, self._alone = 0, False
        self._lock = Lock()
        self._threads = 1

    def workers(self) -> int:
        """Return the number of matches that can be played at once.

        It changes as workers come and go.
        """
        return self._threads

    def submit(self, work: Callable[..., Any], batch: Sequence[Any], /) -> Future[Any]:  # type: ignore[override]
        """Call `work(parcel, batch)` on a worker. It returns pickled lists with a result for each
        item, and the seconds per item. The future has one list, and the seconds.
        """
        whole = _Batch(work, len(batch))
        with self._lock:
            self._open.add(whole.future)
            self._waiting.append(_Part(whole, 0, batch))
        whole.future.add_done_callback(self._forget)
        self._go_on()
        return whole.future

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._open.discard(future)

    def _go_on(self) -> None:
        """Send what waits; if there is nothing, and nothing is being played, the next suspect."""
        with self._lock:
            ready = list(self._waiting) if not self._alone else []
            if ready:
                self._waiting.clear()
            elif self._suspects and not self._in_flight:
                ready, self._alone = [self._suspects.popleft()], True
            self._in_flight += len(ready)
        for part in ready:
            task = self._client.submit(
                part.whole.work, self._parcel, part.items, key=f"{self._name}-{next(self._keys)}"
            )
            self._tasks.add(task)
            task.add_done_callback(partial(self._done, part))

    def _done(self, part: "_Part", task: Any) -> None:
        self._tasks.discard(task)
        killed = 0
        try:
            chunks, each = task.result()
            part.whole.add(
                part.first, [result for chunk in chunks for result in pickle.loads(chunk)], each
            )
        except BaseException as problem:
            if type(problem).__name__ == "KilledWorker":
                killed = problem.args[2] + 1
            else:
                part.whole.fail(self._explained(problem))
        if killed:
            self._play_again(part, killed)
        with self._lock:
            self._in_flight -= 1
            self._alone = self._alone and not part.deaths
        self._go_on()

    def _play_again(self, part: "_Part", deaths: int) -> None:
        """Divide what was on workers that died.

        A single match gets another try alone, since it may not be the one that kills.
        """
        whole, first, items = part.whole, part.first, part.items
        if half := len(items) // 2:
            self._waiting += (
                _Part(whole, first, items[:half]),
                _Part(whole, first + half, items[half:]),
            )
        elif not part.deaths:
            self._suspects.append(_Part(whole, first, items, deaths))
        else:
            why = f"all workers that played it died, {part.deaths + deaths} in a row"
            whole.add(first, [UnplayedMatch(items[0], why)], 1.0)

    def _explained(self, problem: BaseException) -> PoolTrouble:
        if isinstance(problem, WorkerRefusal):
            return PoolTrouble(str(problem))
        if type(problem).__name__ in ("CancelledError", "FutureCancelledError"):
            return self._lost()
        try:
            check_workers(self._client)  # a worker may have joined that has another version
        except PoolTrouble as trouble:
            return trouble
        except Exception:
            return self._lost()
        return PoolTrouble(
            f"a worker failed: {type(problem).__name__}: {problem}; its log says more"
        )

    def _lost(self) -> PoolTrouble:
        return PoolTrouble(
            f"the connection to the Dask scheduler at {self._address} is lost; start it again, and "
            "its workers"
        )

    async def watch(self, notice: Callable[[str], None]) -> None:
        """Follow the number of workers, and notice the end of the scheduler."""
        there = monotonic()
        while self._client.status == "running":
            with suppress(OSError):
                threads = sum((await self._client.scheduler.ncores()).values())
                self._threads = max(1, threads)
                if threads:
                    there = monotonic()
                elif monotonic() - there > PATIENCE:
                    there = float("inf")
                    notice(f"no worker is connected: {_to_start(self._address)}")
            await asyncio.sleep(WATCH)
        with self._lock:
            left = list(self._open)
        for future in left:
            _settle(future, self._lost())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all batches.

        A match that is being played is played to its end, and its result is dropped.
        """
        with suppress(Exception):
            self._client.cancel([*self._tasks])


class _Part(NamedTuple):
    """A part of a batch."""

    whole: "_Batch"
    first: int
    items: Sequence[Any]
    deaths: int = 0
    """The workers that died while they had this single match, and perhaps others."""


class _Batch:
    """The results of a batch that may have been divided."""

    def __init__(self, work: Callable[..., Any], size: int) -> None:
        self.work = work
        self.future: Future[tuple[list[Any], float]] = Future()
        self._results: list[Any] = [None] * size
        self._left = size
        self._lock = Lock()

    def add(self, first: int, results: list[Any], each: float) -> None:
        with self._lock:
            self._results[first : first + len(results)] = results
            self._left -= len(results)
            complete = not self._left
        if complete:
            _settle(self.future, (self._results, each))

    def fail(self, problem: PoolTrouble) -> None:
        _settle(self.future, problem)


def _settle(future: Future[Any], value: Any) -> None:
    """Set the result or exception, unless the future is cancelled or done."""
    if future.done() or not (future.running() or future.set_running_or_notify_cancel()):
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)


def _same(value: Any) -> Any:
    return value


@contextmanager
def dask_pool(
    address: str, parcel: BotParcel, notice: Callable[[str], None]
) -> Iterator[DaskExecutor]:
    """Connect to a cluster.

    Raise PoolTrouble if that fails, or if its workers have other versions.
    """
    client = _connected(address)
    try:
        _wait_for_workers(client, address)
        check_workers(client)
        with warnings.catch_warnings(
            action="ignore"
        ):  # Dask advises against large arguments, but this one may not be lost
            sent = client.submit(_same, parcel, key=f"botdrome-bots-{parcel.checksum}")
        executor = DaskExecutor(client, address, sent)
        watching = asyncio.run_coroutine_threadsafe(
            executor.watch(notice), client.loop.asyncio_loop
        )
        try:
            yield executor
        finally:
            watching.cancel()
            executor.shutdown()
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT)


def _connected(address: str) -> Any:
    if not ADDRESS.fullmatch(address):
        raise PoolTrouble(
            f"--dask is the address of a scheduler such as tcp://10.0.0.5:8786, not {address!r}"
        )
    try:
        distributed = import_module("distributed")
    except ModuleNotFoundError:
        raise PoolTrouble(NO_DASK) from None
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as problem:
        reason = str(problem).partition("\n")[0]
        raise PoolTrouble(
            f"no Dask scheduler answers at {address} ({reason}); start one with: dask scheduler"
        ) from None


def _wait_for_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=JOIN)
    except OSError:  # TimeoutError
        raise PoolTrouble(
            f"no worker has joined the scheduler at {address}; {_to_start(address)}"
        ) from None


def _to_start(address: str) -> str:
    return f"start some with: dask worker {address} --nworkers auto --nthreads 1"


def check_workers(client: Any) -> None:
    """Raise PoolTrouble that names a worker without the same versions of Botdrome and Python."""
    pythons = client.run(platform.python_version, on_error="return")
    versions = client.run(pkgutil.resolve_name, "botdrome:__version__", on_error="return")
    for worker, python in pythons.items():
        found = versions.get(worker)
        if isinstance(found, ImportError):
            raise PoolTrouble(
                f"the worker {worker} has no Botdrome; install it there: pip install "
                f"'botdrome[dask]=={__version__}'"
            )
        if found != __version__ or not str(python).startswith(f"{MINOR}."):
            told = (
                f"Botdrome {found} and Python {python}, not {__version__} and "
                f"{platform.python_version()}"
            )
            raise PoolTrouble(
                f"the worker {worker} has {told}; install the same versions on each machine"
            )
