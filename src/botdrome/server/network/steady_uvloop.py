"""uvloop with the steady clock. Its own timers use the system's clock, so it has others."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from time import monotonic
from typing import TypeVarTuple, Unpack, cast

import uvloop

from botdrome.server.network.loop_timers import EARLY, Alarm, LoopTimers
from botdrome.server.network.steady_loop import Steady

Ts = TypeVarTuple("Ts")


class SteadyUvLoop(Steady, uvloop.Loop):  # type: ignore[misc]  # its types differ from asyncio's
    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self._timers = LoopTimers(self)
        super().__init__(read)

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if delay <= EARLY:
            return cast(asyncio.TimerHandle, self.call_soon(callback, *args, context=context))
        return cast(asyncio.TimerHandle, self._timers.set(self.clock.now() + delay, callback, args, context))

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if when - self.clock.now() <= EARLY:
            return cast(asyncio.TimerHandle, self.call_soon(callback, *args, context=context))
        return cast(asyncio.TimerHandle, self._timers.set(when, callback, args, context))

    def set_alarm(self, delay: float) -> Alarm:
        return super().call_later(delay, self._timers.ring)
