"""Batches on an executor: each item once, a bounded number in flight, sizes by time."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import pytest

from botdrome.offline import batches
from botdrome.offline.batches import IN_FLIGHT, Batches, in_batches, timed


class LatestFirst(Executor):
    """Works when it is waited for, on the newest batch, and counts what is in flight."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.most = 0
        self.sizes: list[int] = []
        monkeypatch.setattr(batches, "wait", self.wait)

    def submit(self, work: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: work(*args)))
        self.sizes.append(len(args[-1]))
        self.most = max(self.most, len(self.waiting))
        return future

    def wait(
        self, running: set[Future[Any]], **_: Any
    ) -> tuple[set[Future[Any]], set[Future[Any]]]:
        future, work = self.waiting.pop()
        future.set_result(work())
        return {future}, running - {future}


class Numbers:
    """A million items that are never all in memory."""

    def __init__(self) -> None:
        self.taken = 0

    def __len__(self) -> int:
        return 1_000_000

    def __iter__(self) -> Iterator[int]:
        for self.taken in range(1, 1_000_001):
            yield self.taken


def same(numbers: Sequence[int]) -> tuple[list[int], float]:
    return timed(list, numbers)


def test_a_bounded_number_of_batches_is_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, items, got = LatestFirst(monkeypatch), Numbers(), 0
    for got, _ in enumerate(in_batches(Batches(pool, same, lambda: 3, most=1000), items), 1):
        assert items.taken - got < (IN_FLIGHT * 3 + 1) * 1000
    assert got == 1_000_000 and pool.most == IN_FLIGHT * 3


def test_more_workers_get_more_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, workers = LatestFirst(monkeypatch), iter([1] * 3 + [5] * 1000)
    found = Batches(pool, same, lambda: next(workers), most=1)
    assert sorted(in_batches(found, range(100))) == [*range(100)]
    assert pool.most == IN_FLIGHT * 5


def test_a_batch_takes_about_as_long_as_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000_000))
    monkeypatch.setattr(batches, "perf_counter", lambda: next(clock))  # each batch takes a second
    pool = LatestFirst(monkeypatch)
    found = Batches(pool, same, lambda: 1, most=50, seconds=4)
    assert sorted(in_batches(found, range(1000))) == [*range(1000)]
    assert pool.sizes[:6] == [1, 1, 4, 16, 50, 50] and pool.sizes[-1] == 1


def interrupted_between_works() -> None:
    batches._begin(None)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except BaseException:
        os._exit(2)  # the pool would send it to its parent, which may not read any more


def interrupted_in_work(told: Connection) -> None:
    batches._begin(None)
    batches.unless_ended(partial(work_with_a_program, told), ())


def work_with_a_program(told: Connection, _: object) -> None:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        told.send("its program is ended")


def test_a_process_of_a_pool_ends_at_once_between_two_works() -> None:
    process = multiprocessing.get_context("spawn").Process(target=interrupted_between_works)
    process.start()
    process.join()
    assert process.exitcode == 1


def test_a_process_of_a_pool_tidies_up_in_its_work() -> None:
    context = multiprocessing.get_context("spawn")
    heard, told = context.Pipe(duplex=False)
    process = context.Process(target=interrupted_in_work, args=(told,))
    process.start()
    process.join()
    assert heard.recv() == "its program is ended"
    assert process.exitcode == 1
