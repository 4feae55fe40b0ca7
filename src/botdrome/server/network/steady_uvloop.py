"""uvloop with the steady clock. Its timers use the system's clock, so each is checked when it fires."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeVarTuple, Unpack

import uvloop

from botdrome.server.network.steady_loop import Steady

Ts = TypeVarTuple("Ts")
EARLY = 0.02
"""Seconds by which a timer may fire early. uvloop rounds to milliseconds; after a stall a timer is much earlier."""


class SteadyTimer(asyncio.TimerHandle):
    """A timer that is set again if it fires too early by the loop's clock."""

    __slots__ = ("_inner",)

    def __init__(
        self, when: float, callback: Callable[..., object], args: tuple[Any, ...], loop: "SteadyUvLoop", context: Context | None
    ) -> None:
        super().__init__(when, callback, args, loop, context)
        self._inner: asyncio.TimerHandle | None = None

    def set(self, inner: asyncio.TimerHandle) -> None:
        self._inner = inner

    def cancel(self) -> None:
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.cancel()
        asyncio.Handle.cancel(self)


class SteadyUvLoop(Steady, uvloop.Loop):  # type: ignore[misc]  # its types differ from asyncio's
    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = SteadyTimer(self.clock.now() + delay, callback, args, self, context)
        timer.set(super().call_later(max(0.0, delay), self._ring, timer))
        return timer

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_later(when - self.clock.now(), callback, *args, context=context)

    def _ring(self, timer: SteadyTimer) -> None:
        left = timer.when() - self.clock.now()
        if left > EARLY:
            timer.set(super().call_later(left, self._ring, timer))
        else:
            timer._run()
