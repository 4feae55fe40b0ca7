"""Blocks of the event loop are measured, remembered for a minute or two, and logged
once a minute.
"""

import asyncio

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from botdrome.server.network.steady_loop import (
    AWAKE,
    BEHIND,
    HEARTBEAT,
    IDLE,
    PERIOD,
    STALL,
    WINDOW,
    LoopWatch,
    SteadyClock,
)

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def watch(clock: Clock) -> LoopWatch:
    return LoopWatch(asyncio.get_running_loop().call_later, SteadyClock(clock), clock)


async def test_the_longest_block_is_shown_for_a_minute_or_two(
    watch: LoopWatch, clock: Clock
) -> None:
    watch.note(0.02)
    watch.note(0.001)
    assert REGISTRY.get_sample_value("botdrome_loop_longest_block_seconds") == 0.02
    clock.now += WINDOW
    watch.note(0.003)
    assert watch.longest() == 0.02
    clock.now += WINDOW
    assert watch.longest() == 0.003
    clock.now += 2 * WINDOW
    assert watch.longest() == 0


async def test_a_heartbeat_that_comes_late_has_seen_a_block(watch: LoopWatch, clock: Clock) -> None:
    clock.now += 5 + IDLE
    with capture_logs() as logs:
        watch._beat()
    assert round(watch.longest(), 2) == 5
    assert [line["event"] for line in logs] == [
        "the event loop was blocked",
        "the process was stalled; no player's clock ran meanwhile",
    ]
    assert (logs[0]["milliseconds"], logs[1]["seconds"]) == (5000, 5.0)


def beats(watch: LoopWatch, clock: Clock, times: int, period: float = PERIOD) -> None:
    for _ in range(times):
        clock.now += period
        watch._beat()


async def test_the_loop_is_not_behind_after_two_fast_heartbeats(
    watch: LoopWatch, clock: Clock
) -> None:
    assert watch.behind(), "nobody knows: it was idle"
    beats(watch, clock, 1)
    assert watch.behind(), "the input may have arrived before the first heartbeat"
    beats(watch, clock, 1)
    assert not watch.behind()
    clock.now += BEHIND - PERIOD - 0.001
    assert not watch.behind()


@pytest.mark.parametrize("before", [0.0, 0.001, 0.004, PERIOD - 0.001])
@pytest.mark.parametrize("ahead", [0.0, 0.006, 0.012, BEHIND])
async def test_input_that_waited_for_20_ms_is_never_missed(
    watch: LoopWatch, clock: Clock, before: float, ahead: float
) -> None:
    """It arrives right after the loop has looked for input. Then work blocks the loop, the
    heartbeat rings, and more work blocks it, until the sockets are read again.
    """
    watch.wake()
    beats(watch, clock, 3)
    assert not watch.behind()
    clock.now += before
    clock.now += ahead
    if before + ahead >= PERIOD:
        watch._beat()
    clock.now += BEHIND - ahead + 0.0001
    assert watch.behind()


async def test_the_heartbeat_is_fast_with_input_slower_with_matches_and_slow_without(
    watch: LoopWatch, clock: Clock
) -> None:
    runs = [False]
    watch.busy.append(lambda: runs[0])
    watch._beat()
    assert (watch._period, round(watch._clock.stall, 3)) == (IDLE, 0.6)
    assert round(watch._clock.sleep, 3) == 0.45
    watch.wake()
    assert (watch._period, round(watch._clock.stall, 3)) == (PERIOD, STALL)
    clock.now += AWAKE
    runs[0] = True
    watch._beat()
    assert (watch._period, round(watch._clock.stall, 3)) == (HEARTBEAT, STALL)
    assert watch._clock.sleep == 0.0, "no player loses time"
    assert watch.behind() and watch._period == PERIOD, "a move is input, too"
    clock.now += AWAKE
    runs[0] = False
    watch._beat()
    assert watch._period == IDLE


async def test_long_blocks_are_logged_once_a_minute(watch: LoopWatch, clock: Clock) -> None:
    with capture_logs() as logs:
        for late in (0.05, 0.2, 0.3):
            watch.note(late)
        clock.now += WINDOW
        watch.note(0.4)
    assert [line["milliseconds"] for line in logs] == [200, 400]
