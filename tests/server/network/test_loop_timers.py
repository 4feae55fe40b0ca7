"""The timers of a loop, with a clock and an alarm that the test moves."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from botdrome.server.network.steady_loop import MOST_CANCELLED, LoopTimer, LoopTimers

WHO: ContextVar[str] = ContextVar("who", default="nobody")


class SetAlarm:
    def __init__(self, at: float) -> None:
        self.at = at
        self.is_set = True

    def cancel(self) -> None:
        self.is_set = False


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.alarms: list[SetAlarm] = []
        self.problems: list[dict[str, Any]] = []

    def time(self) -> float:
        return self.now

    def set_alarm(self, delay: float, ring: Callable[[], None]) -> SetAlarm:
        self.alarms.append(SetAlarm(self.now + delay))
        return self.alarms[-1]

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.problems.append(context)

    @property
    def due(self) -> list[float]:
        return [alarm.at for alarm in self.alarms if alarm.is_set]


def timers() -> tuple[Clock, LoopTimers, Callable[[float], None]]:
    clock = Clock()
    made = LoopTimers(clock)

    def ring_at(now: float) -> None:
        clock.now, clock.alarms = now, []
        made.ring()

    return clock, made, ring_at


def test_one_alarm_is_set_for_the_earliest() -> None:
    clock, made, ring_at = timers()
    rung = list[str]()
    for when, name in ((3.0, "late"), (1.0, "early"), (2.0, "next"), (2.0, "and next")):
        made.set(when, rung.append, (name,), None)
    assert clock.due == [1.0]
    ring_at(1.0)
    assert (rung, clock.due) == (["early"], [2.0])
    ring_at(5.0)
    assert (rung, clock.due) == (["early", "next", "and next", "late"], [])


def test_an_alarm_that_rings_early_is_set_again() -> None:
    clock, made, ring_at = timers()
    rung = list[str]()
    made.set(1.0, rung.append, ("rung",), None)
    ring_at(0.9)
    assert (rung, clock.due) == ([], [1.0])
    ring_at(0.9996)
    assert rung == ["rung"]


def test_cancelled_timers_do_not_ring_and_are_forgotten() -> None:
    clock, made, ring_at = timers()
    rung = list[str]()
    kept = made.set(2.0, rung.append, ("kept",), None)
    many = [made.set(1.0, rung.append, ("cancelled",), None) for _ in range(MOST_CANCELLED + 1)]
    for timer in many:
        timer.cancel()
        timer.cancel()
    assert all(timer.cancelled() for timer in many) and not kept.cancelled()
    assert len(made) == 1
    made.set(1.5, rung.append, ("cancelled",), None).cancel()
    ring_at(1.0)
    assert clock.due == [2.0], "the loop does not wake up for a cancelled timer"
    ring_at(2.0)
    assert rung == ["kept"] and len(made) == 0


def test_timers_that_are_set_or_cancelled_by_others_while_they_ring() -> None:
    clock, made, ring_at = timers()
    rung = list[str]()
    others = list[LoopTimer]()

    def stop_others() -> None:
        others[0].cancel()

    made.set(1.0, stop_others, (), None)
    others.append(made.set(1.0, rung.append, ("cancelled",), None))
    made.set(1.0, lambda: made.set(1.5, rung.append, ("set",), None), (), None)
    ring_at(1.0)
    assert (rung, clock.due) == ([], [1.5])
    ring_at(1.5)
    assert rung == ["set"]


def test_a_timer_that_fails_is_reported_and_the_others_ring() -> None:
    clock, made, ring_at = timers()
    rung = list[str]()
    made.set(1.0, {}.__getitem__, ("missing",), None)
    made.set(1.0, rung.append, ("rung",), None)
    ring_at(1.0)
    assert rung == ["rung"]
    assert [type(problem["exception"]) for problem in clock.problems] == [KeyError]


def test_a_timer_has_the_context_in_which_it_was_set() -> None:
    _, made, ring_at = timers()
    seen = list[str]()
    token = WHO.set("ada")
    timer = made.set(1.0, lambda: seen.append(WHO.get()), (), None)
    WHO.reset(token)
    assert timer.when() == 1.0
    ring_at(1.0)
    assert seen == ["ada"] and WHO.get() == "nobody"
