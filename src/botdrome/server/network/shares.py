"""Fair shares of the event loop, so that no client slows down the others.

Theory of operation. Each address has a budget of loop time. The time spent on its clients' input is
charged to it. Input within the budget is served at once. When the budget is used up, input is held
and served in the background: one SLICE per turn of the loop, round-robin over the addresses, and
over the accounts and guests of an address. So a single client can use the whole server, and a
flooding client gets only the time that others leave.

Debt is repaid in full before input is served at once again. Slices are time that others leave, so
they cost at most DEBT; what exceeds a slice costs all of it.

What is charged is CPU time: while other programs use the cores, a client does not pay for them. The
CPU clock costs a system call, so it is read only if something took longer than BRIEF, and once in
BRIEF at most for the beginning.
"""

import asyncio
from collections import OrderedDict, deque
from time import monotonic, thread_time
from typing import Final, Protocol
from weakref import WeakValueDictionary

from botdrome.server import metrics

# Budget: the loop time of one address, which its clients share.

BURST: Final = 0.005
"""Maximum seconds of loop time in a budget."""


class Held(Protocol):
    """A connection with held input, or other queued work for a client."""

    @property
    def later(self) -> float:
        """Estimated seconds of work that one piece causes after it was served."""

    def serve_held(self) -> bool:
        """Serve one piece. Return whether there is more."""


class Budget:
    """The loop time of one address, and its clients with held input."""

    __slots__ = ("filled", "left", "line", "period")

    def __init__(self, now: float) -> None:
        self.left, self.filled, self.period = BURST, now, 0
        self.line: deque[Sharer] = deque()


class Sharer:
    """An account at an address, or all guests there. Sharers of an address take turns."""

    __slots__ = ("__weakref__", "budget", "held")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.held: deque[Held] = deque()


SHARED: Final = 0.5
"""The part of loop time that active addresses share evenly for immediate service.

The rest serves held input.
"""
DEBT: Final = 0.05
"""Maximum debt in seconds that slices bring about.

It is small, so that a budget recovers soon after a burst.
"""
BRIEF: Final = 0.001
"""Seconds by the wall clock up to which they are charged as they are."""
SLICE: Final = 0.001
"""Seconds spent on held input in one turn of the loop."""
REST: Final = 0.001
"""Seconds between two slices while clients of several addresses are active."""
PERIOD: Final = 0.5
"""Seconds over which the active addresses are counted."""
REMEMBERED = 10_000
"""Maximum number of budgets kept. The least recently used is dropped first."""


class OpenConnection(Protocol):
    """What is asked of a transport when the server closes."""

    def get_write_buffer_size(self) -> int: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Shares:
    """The budgets of all addresses, and the queue of held input."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[str, Budget] = OrderedDict()
        self._sharers: WeakValueDictionary[tuple[str, str], Sharer] = WeakValueDictionary()
        self._line: deque[Budget] = deque()
        self._loop = asyncio.get_running_loop()
        self.connections: set[OpenConnection] = set()
        """All that are open."""
        self._serving = False
        self._held = 0
        """Pieces of work that were queued since the last slice."""
        self.period, self._period_end = 0, 0.0
        self.look, self._cpu = 0.0, 0.0
        """When the CPU clock is due to be read, and what it said at most BRIEF before the current
        input.
        """
        self._active = self._counted = 1
        """Active addresses in the last period, and in the current one so far."""

    def sharer(self, source: str, account: str = "") -> Sharer:
        """Return the sharer for an account at an address; without an account, for its guests."""
        found = self._sharers.get((source, account))
        if found is None:
            found = self._sharers[source, account] = Sharer(self._budget(source))
        return found

    def _budget(self, source: str) -> Budget:
        found = self._budgets.get(source)
        if found is None:
            found = self._budgets[source] = Budget(monotonic())
            if len(self._budgets) > REMEMBERED:
                self._budgets.popitem(last=False)
        self._budgets.move_to_end(source)
        return found

    def must_wait(self, sharer: Sharer, now: float) -> bool:
        """Whether input must be held because the budget is used up."""
        budget = sharer.budget
        if now > self.look:
            self._look_at_clocks(now)
        if budget.period != self.period:
            budget.period = self.period
            self._counted += 1
        return budget.left <= 0 and self._used_up(budget, now)

    def _look_at_clocks(self, now: float) -> None:
        self.look, self._cpu = now + BRIEF, thread_time()
        if now > self._period_end:
            self.period, self._period_end = self.period + 1, now + PERIOD
            self._active, self._counted = max(1, self._counted), 0

    def spent(self, began: float) -> float:
        """Return the loop time that was spent since then on the current input."""
        wall = monotonic() - began
        return wall if wall <= BRIEF else min(wall, thread_time() - self._cpu)

    def charge(self, sharer: Sharer, seconds: float, now: float) -> None:
        """Charge work that began now.

        What a full budget could not take in before does not pay for it.
        """
        budget = sharer.budget
        left = budget.left - seconds
        if left <= 0 < budget.left:
            left += min(BURST - budget.left, (now - budget.filled) * self._share)
            budget.filled = now
        budget.left = left

    @property
    def _share(self) -> float:
        return SHARED / max(self._active, self._counted)

    def _used_up(self, budget: Budget, now: float) -> bool:
        """Refill the budget up to now, and return whether nothing is left."""
        budget.left = min(BURST, budget.left + (now - budget.filled) * self._share)
        budget.filled = now
        return budget.left <= 0

    def hold(self, sharer: Sharer, held: Held) -> None:
        self._held += 1
        budget = sharer.budget
        if not budget.line:
            self._line.append(budget)
        if not sharer.held:
            budget.line.append(sharer)
        sharer.held.append(held)
        if not self._serving:
            self._serving = True
            self._set_next()

    def _serve(self) -> None:
        """Serve held input for one slice per turn of the loop, so that other events are handled in
        between.
        """
        metrics.HELD.inc(self._held)
        self._held = 0
        budget = self._line.popleft()
        sharer = budget.line.popleft()
        began = monotonic()
        if began > self.look:
            self._look_at_clocks(began)
        line, later, spent = sharer.held, 0.0, 0.0
        while line and spent < SLICE:
            held = line.popleft()
            if held.serve_held():
                line.append(held)
            later += held.later
            spent = monotonic() - began + later
        spent = self.spent(began) + later
        budget.left = max(budget.left - spent, min(budget.left, -DEBT) - max(0.0, spent - SLICE))
        if line:
            budget.line.append(sharer)
        if budget.line:
            self._line.append(budget)
        self._serving = bool(self._line)
        if self._serving:
            self._set_next()

    def _set_next(self) -> None:
        """Schedule the next slice.

        With several active addresses the loop pauses, so that storing threads get the interpreter.
        """
        if max(self._active, self._counted) > 1:
            self._loop.call_later(REST, self._serve)
        else:
            self._loop.call_soon(self._serve)
