"""ConnectionTimeouts: only connections over their time limit are closed, at little cost."""

import asyncio
import gc
import sys
from collections.abc import Callable
from operator import methodcaller
from types import FrameType
from typing import Any

import pytest

from botdrome.server.network.limits import ConnectionTimeouts


class Clock:
    """A loop whose time passes by hand."""

    def __init__(self) -> None:
        self._now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], None]) -> None:
        self.timers.append((self._now + delay, callback))

    def pass_until(self, end: float) -> None:
        while due := [timer for timer in self.timers if timer[0] <= end]:
            first = min(due, key=lambda timer: timer[0])
            self.timers.remove(first)
            self._now = first[0]
            first[1]()
        self._now = end


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    return clock


class Guest:
    def __init__(self) -> None:
        self.aborted = 0

    def abort(self) -> None:
        self.aborted += 1


class Waiting:
    """Ten seconds of patience with guests."""

    def __init__(self) -> None:
        self._patience = ConnectionTimeouts(10.0, methodcaller("abort"))

    def begin(self, guest: Guest) -> Guest:
        self._patience.begin(guest)  # type: ignore[arg-type]
        return guest

    def end(self, guest: Guest) -> None:
        self._patience.end(guest)  # type: ignore[arg-type]


def test_each_is_waited_for_equally_long(clock: Clock) -> None:
    waiting, guests = Waiting(), list[Guest]()
    for moment, coming, gone in [
        (0, 1, 0),
        (3, 2, 0),
        (9, 1, 0),
        (9.9, 0, 0),
        (10, 0, 1),
        (12.9, 0, 1),
        (13, 0, 3),
        (19, 1, 4),
    ]:
        clock.pass_until(moment)
        assert [guest.aborted for guest in guests] == [1] * gone + [0] * (len(guests) - gone)
        guests += [waiting.begin(Guest()) for _ in range(coming)]
    clock.pass_until(1000)
    assert [guest.aborted for guest in guests] == [1] * 5


def test_who_is_done_in_time_is_left_alone(clock: Clock) -> None:
    waiting = Waiting()
    quick, slow, stranger = waiting.begin(Guest()), waiting.begin(Guest()), Guest()
    clock.pass_until(9.9)
    waiting.end(quick)
    waiting.end(stranger)
    clock.pass_until(1000)
    assert (quick.aborted, slow.aborted, stranger.aborted) == (0, 1, 0)


def test_one_timer_does_for_all_and_none_where_nobody_is_awaited(clock: Clock) -> None:
    waiting = Waiting()
    assert not clock.timers
    for moment in range(100):
        clock.pass_until(moment / 20)
        waiting.begin(Guest())
        assert len(clock.timers) == 1
    clock.pass_until(12)
    assert len(clock.timers) == 1
    clock.pass_until(15)
    assert not clock.timers


def lines_run(work: Callable[[], None]) -> int:
    """The number of operations, which does not depend on the machine's load."""
    lines, before = 0, sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    gc.disable()  # else finalizers run here too
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return lines


def test_it_is_as_little_work_to_wait_for_a_thousand_as_for_one(clock: Clock) -> None:
    efforts = []
    for guests in (1, 1000):
        waiting, start = Waiting(), clock.time()
        waiting.end(waiting.begin(Guest()))
        clock.pass_until(start + 5)
        for _ in range(guests):
            waiting.begin(Guest())
        efforts.append(lines_run(lambda start=start: clock.pass_until(start + 11)))  # type: ignore[misc]
        clock.pass_until(start + 100)
    assert efforts[0] == efforts[1] > 0
