"""Blocks of the event loop are measured, remembered for a minute or two, and logged
once a minute.
"""

from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from botdrome.server.network.steady_loop import BEHIND, PERIOD, WINDOW, LoopWatch

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
async def watch(clock: Clock) -> AsyncIterator[LoopWatch]:
    watch = LoopWatch(clock)
    yield watch
    watch.close()


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


async def test_a_timer_that_comes_late_has_seen_a_block(watch: LoopWatch, clock: Clock) -> None:
    clock.now += 5
    with capture_logs() as logs:
        watch._look()
    assert round(watch.longest(), 2) == 4.99
    assert [(line["event"], line["milliseconds"]) for line in logs] == [
        ("the event loop was blocked", 4990)
    ]


async def test_the_loop_is_behind_after_a_late_check_and_while_one_is_overdue(
    watch: LoopWatch, clock: Clock
) -> None:
    assert not watch.behind()
    clock.now += PERIOD + BEHIND + 0.001
    assert watch.behind(), "the next check is overdue"
    watch._look()
    assert watch.behind(), "the last check was late"
    clock.now += PERIOD
    watch._look()
    assert not watch.behind()


async def test_long_blocks_are_logged_once_a_minute(watch: LoopWatch, clock: Clock) -> None:
    with capture_logs() as logs:
        for late in (0.05, 0.2, 0.3):
            watch.note(late)
        clock.now += WINDOW
        watch.note(0.4)
    assert [line["milliseconds"] for line in logs] == [200, 400]
