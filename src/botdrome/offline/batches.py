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
from typing import Any, Protocol, TypeVar

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


def in_batches(
    pool: Executor,
    work: Callable[[Sequence[T]], tuple[list[R], float]],
    items: Items[T],
    workers: Callable[[], int],
    most: int,
    seconds: float = 0.0,
) -> Generator[R, None, None]:
    """Yield what the work makes of the items, as it comes in.

    The work also tells the mean seconds per item.

    `workers` is asked again and again, since it may change. `seconds`: about how long a batch
    takes; 0: batches are as large as `most` allows. The last ones are small, so that all workers
    end together.
    """
    waiting, left, each = iter(items), len(items), seconds
    running: set[Future[tuple[list[R], float]]] = set()
    while left or running:
        while left and len(running) < IN_FLIGHT * workers():
            usual = int(seconds / each) if each else most
            size = min(
                most,
                usual,
                max(left // (4 * workers()), int(SMALLEST * seconds / each) if each else 1),
            )
            batch = list(islice(waiting, max(1, size)))
            left -= len(batch)
            running.add(pool.submit(work, batch))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            results, spent = future.result()
            each = spent if seconds else each
            yield from results


def timed(work: Callable[[Sequence[T]], Iterable[R]], batch: Sequence[T]) -> tuple[list[R], float]:
    """Do the work, and return the results with the mean seconds per item."""
    began = perf_counter()
    results = list(work(batch))
    return results, (perf_counter() - began) / len(batch)


def in_processes(
    work: Callable[[Sequence[T]], Iterable[R]],
    items: Items[T],
    jobs: int,
    most: int = 50,
    seconds: float = 0.0,
    ready: Callable[[], None] | None = None,
) -> Generator[R, None, None]:
    """What the work makes of the items, as it comes in; closing the generator ends what still runs.
    `ready` is called first in each process.
    """
    with worker_pool(jobs, ready) as pool:
        yield from in_batches(
            pool, partial(unless_ended, partial(timed, work)), items, lambda: jobs, most, seconds
        )


@contextmanager
def worker_pool(
    jobs: int, ready: Callable[[], None] | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Processes that work; an exception ends what still runs.

    `ready` is called first in each process.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(ready,))
    try:
        yield pool
    except BaseException:
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(ready: Callable[[], None] | None) -> None:
    """Leave Ctrl-C to the parent, whose SIGTERM raises an exception here, so that programs are
    ended. End with the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _unwind)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if ready is not None:
        ready()


def unless_ended(work: Callable[[T], R], item: T) -> R:
    """Do the work in a process of a pool; SIGTERM ends the process, although the pool would take
    the exception for a result.
    """
    try:
        return work(item)
    except SystemExit:
        os._exit(1)


def _unwind(*_: Any) -> None:
    raise SystemExit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
