"""Work in batches on an executor: processes of this machine, or workers on many machines."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")

BATCH_SECONDS = 0.5
"""About how long a batch of matches takes: long against the cost of sending it, short enough to
show progress.
"""
LARGEST_BATCH = 500
SMALLEST = 0.1
"""The shortest batch, as a part of the time that one should take."""
IN_FLIGHT = 2
"""Batches per worker that are sent at a time, so that no worker waits for the next one, and memory
is bounded.
"""


class PoolTrouble(Exception):
    """The workers of a pool cannot be used; the text says what to do."""


class Items(Sized, Iterable[T_co], Protocol[T_co]):
    """Things to work on, which need not be in memory."""


class Batches(Generic[T, R]):
    """An executor that works on items in batches. Its workers are kept busy, and end together."""

    def __init__(
        self,
        pool: Executor,
        work: Callable[[Sequence[T]], tuple[list[R], float]],
        workers: Callable[[], int],
        most: int,
        seconds: float = 0.0,
    ) -> None:
        """The work also tells the mean seconds per item.

        `workers` is asked again and again, since it may change. `seconds`: about how long a batch
        takes; 0: batches are as large as `most` allows. The last ones are small.
        """
        self._pool, self._work, self.workers = pool, work, workers
        self._most, self._seconds, self._each = most, seconds, seconds

    def size(self, left: int) -> int:
        """Return the size of the next batch if that many items are left."""
        usual, least = self._most, 1
        if self._each:
            usual = int(self._seconds / self._each)
            least = int(SMALLEST * self._seconds / self._each)
        return max(1, min(self._most, usual, max(left // (4 * self.workers()), least)))

    def send(
        self, items: Iterator[T], left: int, running: int
    ) -> Iterator[tuple[list[T], Future[tuple[list[R], float]]]]:
        """Send batches while that many are running, and yield them with their futures.

        About that many items are left.
        """
        while running < IN_FLIGHT * self.workers() and (
            batch := list(islice(items, self.size(left)))
        ):
            left, running = left - len(batch), running + 1
            yield batch, self._pool.submit(self._work, batch)

    def results(self, told: tuple[list[R], float]) -> list[R]:
        """Return the results of a future, and learn how long an item takes."""
        results, spent = told
        self._each = spent if self._seconds else 0.0
        return results


def in_batches(batches: Batches[T, R], items: Items[T]) -> Generator[R, None, None]:
    """Yield what the work makes of the items, as it comes in."""
    waiting, left = iter(items), len(items)
    running: set[Future[tuple[list[R], float]]] = set()
    while left or running:
        for batch, future in batches.send(waiting, left, len(running)):
            left -= len(batch)
            running.add(future)
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield from batches.results(future.result())


def timed(work: Callable[[Sequence[T]], Iterable[R]], batch: Sequence[T]) -> tuple[list[R], float]:
    """Do the work, and return the results with the mean seconds per item."""
    began = perf_counter()
    results = list(work(batch))
    return results, (perf_counter() - began) / len(batch)


def in_processes(
    work: Callable[[Sequence[T]], Iterable[R]], items: Items[T], jobs: int, most: int = 50
) -> Generator[R, None, None]:
    """Yield what the work makes of the items; closing the generator ends what still runs."""
    with process_batches(work, jobs, most) as batches:
        yield from in_batches(batches, items)


@contextmanager
def process_batches(
    work: Callable[[Sequence[T]], Iterable[R]],
    jobs: int,
    most: int,
    seconds: float = 0.0,
    ready: Callable[[], None] | None = None,
) -> Iterator[Batches[T, R]]:
    """Processes that work; an exception ends what still runs.

    `ready` is called first in each process.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(ready,))
    try:
        timed_work = partial(unless_ended, partial(timed, work))
        yield Batches(pool, timed_work, lambda: jobs, most, seconds)
    except BaseException:
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(ready: Callable[[], None] | None) -> None:
    """Leave Ctrl-C to the parent, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if ready is not None:
        ready()


_working = False
"""Whether this process of a pool does a piece of work."""


def _end(*_: Any) -> None:
    """SIGTERM raises an exception in work alone, so that programs are ended. The pool would take
    it for a result, and wait for ever until its broken parent reads that.
    """
    if _working:
        raise SystemExit(1)
    os._exit(1)


def unless_ended(work: Callable[[T], R], item: T) -> R:
    """Do the work in a process of a pool, unless SIGTERM ends it."""
    global _working
    _working = True
    try:
        return work(item)
    except SystemExit:
        os._exit(1)
    finally:
        _working = False


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
