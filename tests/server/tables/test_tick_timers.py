"""The tick_timers: beats ring in time, and before the messages that came when they were due."""

import asyncio
from functools import partial

import pytest

from botdrome.server.tables.timing import TickTimers

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_whoever_catches_up_rings_what_is_due_in_its_order() -> None:
    clock, rung = Clock(), list[str]()
    tick_timers = TickTimers(clock)
    for name, delay in (("third", 0.3), ("first", 0.1), ("second", 0.2)):
        tick_timers.call_later(delay, partial(rung.append, name))
    tick_timers.catch_up()
    assert rung == []
    clock.now += 0.2
    tick_timers.catch_up()
    assert rung == ["first", "second"]


async def test_a_message_that_was_read_at_a_known_time_comes_after_what_was_due_then() -> None:
    clock, rung = Clock(), list[float]()
    tick_timers = TickTimers(clock)

    def ring() -> None:
        rung.append(clock.now)
        assert tick_timers.caught_up(clock.now) == clock.now
        clock.now += 0.05

    tick_timers.call_later(0.1, ring)
    assert tick_timers.caught_up(100.05) == 100.05
    assert rung == []
    clock.now = 100.2
    assert tick_timers.caught_up(100.15) == 100.25
    assert rung == [100.2]


async def test_a_beat_that_was_called_off_does_not_ring() -> None:
    clock, rung = Clock(), list[str]()
    tick_timers = TickTimers(clock)
    tick_timers.call_later(0.1, lambda: rung.append("called off")).cancel()
    tick_timers.call_later(0.1, lambda: rung.append("rung"))
    clock.now += 1
    tick_timers.catch_up()
    assert rung == ["rung"]


async def test_who_rings_may_set_the_next_beat_and_read_a_message() -> None:
    clock, rung = Clock(), list[int]()
    tick_timers = TickTimers(clock)

    def ring() -> None:
        rung.append(len(rung))
        tick_timers.catch_up()
        tick_timers.call_later(0.1, ring)

    tick_timers.call_later(0.1, ring)
    for _ in range(3):
        clock.now += 0.1001
        tick_timers.catch_up()
    assert rung == [0, 1, 2]


async def test_where_beats_are_more_than_there_is_time_for_others_still_have_their_turn() -> None:
    clock, rung = Clock(), list[str]()
    tick_timers = TickTimers(clock)

    def slow(name: str) -> None:
        rung.append(name)
        clock.now += 0.2
        tick_timers.call_later(0.1, partial(slow, name))

    for name in "ab":
        tick_timers.call_later(0.1, partial(slow, name))
    clock.now += 0.1
    tick_timers.catch_up()
    assert rung == ["a", "b"]
    tick_timers.catch_up()
    assert rung == ["a", "b", "a"], "one is late again by the time that both took"


async def test_a_beat_that_goes_wrong_spoils_no_other() -> None:
    clock, rung = Clock(), list[str]()
    tick_timers = TickTimers(clock)
    tick_timers.call_later(0.1, lambda: rung.remove("nothing"))
    tick_timers.call_later(0.1, lambda: rung.append("rung"))
    clock.now += 0.1
    tick_timers.catch_up()
    assert rung == ["rung"]


async def test_beats_ring_by_themselves_the_sooner_one_first() -> None:
    tick_timers, rung, done = TickTimers(), list[str](), asyncio.Event()
    tick_timers.call_later(0.002, done.set)
    tick_timers.call_later(0.001, lambda: rung.append("sooner"))
    await done.wait()
    assert rung == ["sooner"]
