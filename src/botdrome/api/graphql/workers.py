"""Workers: a few threads that work on queries; whoever waits for somebody outside makes room for another meanwhile."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Semaphore
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class NoPhone(Exception):
    """All who may wait for somebody outside do so already."""


class Workers(ThreadPoolExecutor):
    """There is a thread for everybody who works or waits, and a desk for everybody who works."""

    def __init__(self, desks: int, phones: int) -> None:
        super().__init__(desks + phones, "graphql")
        self._desks, self._phones = Semaphore(desks), Semaphore(phones)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(self._at_a_desk, partial(fn, *args, **kwargs))

    def _at_a_desk(self, work: Callable[[], T]) -> T:
        with self._desks:
            return work()

    @contextmanager
    def at_the_phone(self) -> Iterator[None]:
        """For one who works, as long as it only waits; NoPhone where too many do."""
        if not self._phones.acquire(blocking=False):
            raise NoPhone
        self._desks.release()
        try:
            yield
        finally:
            self._desks.acquire()
            self._phones.release()
