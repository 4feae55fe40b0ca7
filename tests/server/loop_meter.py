"""A meter for the event loop: how much processor time its callbacks use."""

import asyncio
import gc
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any

Act = Callable[[], Awaitable[None]]
BOUND = 0.005
"""Seconds of processor time for one callback."""
USUAL = 0.005
"""Seconds that the yardstick takes on the machine on which the bound was set."""


def yardstick() -> float:
    """How long some plain Python takes here and now."""
    began = thread_time()
    words: dict[str, int] = {}
    for number in range(8_000):
        words[f"word {number % 500}"] = words.get(f"word {number % 500}", 0) + number
    return thread_time() - began


def bound() -> float:
    """The bound, and more than that on a slower machine."""
    return BOUND * max(1.0, min(yardstick() for _ in range(5)) / USUAL)


class Meter:
    """The longest callback, and its length in bounds of the machine as fast as it is then."""

    def __init__(self) -> None:
        self.longest, self.culprit, self.bounds = 0.0, "", 0.0

    def __str__(self) -> str:
        return f"{self.longest * 1000:.1f} ms, {self.bounds:.2f} bounds: {self.culprit}"

    def note(self, spent: float, handle: asyncio.Handle) -> None:
        if spent > self.longest:
            callback = getattr(handle, "_callback", None)
            task = getattr(callback, "__self__", None)
            self.longest, self.culprit = (
                spent,
                repr(task if isinstance(task, asyncio.Task) else callback),
            )


@contextmanager
def metered() -> Iterator[Meter]:
    """Measures every callback of the loop of this thread. The garbage collector is left out, since
    it runs at any time. So is the tracing of a coverage measurement, which makes traced code
    several times slower.
    """
    meter, here, run, trace = Meter(), threading.get_ident(), asyncio.Handle._run, sys.gettrace()

    def measured(self: Any) -> None:
        if threading.get_ident() != here:
            return run(self)
        began = thread_time()
        run(self)
        meter.note(thread_time() - began, self)
        return None

    gc.collect()
    gc.disable()
    sys.settrace(None)
    asyncio.Handle._run = measured  # type: ignore[method-assign]
    try:
        yield meter
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]
        meter.bounds = meter.longest / bound()
        sys.settrace(trace)
        gc.enable()


async def nothing() -> None: ...


async def shortest(act: Act, tries: int, prepare: Act = nothing) -> Meter:
    """Act until a try keeps the bound, and return the best one: caches are cold at first, and a
    busy machine adds to all of them.
    """
    found: list[Meter] = []
    while len(found) < tries and (not found or found[-1].bounds > 1):
        await prepare()
        with metered() as meter:
            await act()
            await asyncio.sleep(0)
        found.append(meter)
    return min(found, key=lambda meter: meter.bounds)
