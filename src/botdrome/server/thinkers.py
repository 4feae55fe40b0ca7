"""Thinkers: a few threads for work that takes long, shared fairly by those for whom it is done."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Lock
from time import thread_time
from typing import Any, TypeVar

from botdrome.server.turns import Turns

T = TypeVar("T")

USUAL = 0.01
"""Seconds that a thought is taken to last as long as nothing is known of whom it is for."""


class Thinkers:
    """The threads take what is next, and not what came first."""

    def __init__(self, threads: Executor, clock: Callable[[], float] = thread_time) -> None:
        """`clock` tells a thread how long it has worked."""
        self._threads, self._clock = threads, clock
        self._turns: Turns[tuple[Future[Any], Callable[[], Any]]] = Turns(USUAL)
        self._lock = Lock()

    def think(self, guest: str, thought: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._turns.wait(guest, (future, thought))
        self._threads.submit(self._think)
        return future

    def _think(self) -> None:
        with self._lock:
            guest, taken, (future, thought) = self._turns.next()
        if not future.set_running_or_notify_cancel():
            return  # nobody wants to know any more
        began = self._clock()
        try:
            future.set_result(thought())
        except BaseException as problem:  # whoever asked must not wait for ever
            future.set_exception(problem)
        with self._lock:
            self._turns.settle(guest, taken, self._clock() - began)
