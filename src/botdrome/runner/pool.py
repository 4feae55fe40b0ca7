"""Pool: much work of one kind, in portions, in several processes."""

import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_processes(
    work: Callable[[Sequence[T]], Iterable[R]],
    items: Sequence[T],
    jobs: int,
    most: int = 50,
    ready: Callable[[], None] | None = None,
) -> Generator[R, None, None]:
    """What the work makes of the items, as it comes in; closing the generator ends what still runs. `ready` is called first in
    each process."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(ready,))
    try:
        waiting = _in_portions(items, jobs, most)
        running = {pool.submit(work, portion) for portion in islice(waiting, 2 * jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(work, portion) for portion in islice(waiting, len(done))}
            for future in done:
                yield from future.result()
    except BaseException:
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_portions(items: Sequence[T], jobs: int, most: int) -> Iterator[Sequence[T]]:
    """Portions large enough that handing them over costs little, and small enough that all processes end together."""
    size = max(1, min(most, len(items) // (8 * jobs)))
    return (items[at : at + size] for at in range(0, len(items), size))


def _begin(ready: Callable[[], None] | None) -> None:
    """Ctrl-C is the parent's; its SIGTERM unwinds, so that programs are ended too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _unwind)
    if ready is not None:
        ready()


def _unwind(*_: Any) -> None:
    raise SystemExit(1)
