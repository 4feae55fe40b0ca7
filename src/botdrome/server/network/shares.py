"""Fair shares of the event loop, so that no client slows down the others.

Theory of operation. Every address has a budget of loop time: the work on what its clients send is measured and taken from it.
Input within the budget is served at once. When the budget is used up, the input is held, and served between everything else: in
each turn of the loop for one SLICE, by turns for each such address, and for each account or guest of that address. So a client
that is alone has the whole server, and one that floods it has what the others leave.
"""

import asyncio
from collections import OrderedDict, deque
from time import monotonic
from typing import Protocol
from weakref import WeakValueDictionary

from botdrome.server import metrics

SHARED = 0.5
"""Of all loop time, what the addresses that are active share evenly, to be served at once. The rest is for all by turns."""
BURST = 0.005
"""Seconds of loop time that a budget holds at most."""
DEBT = 0.05
"""Seconds of loop time that a budget lacks at most: when the rush is over, it is soon forgotten."""
SLICE = 0.001
"""Seconds for which held input is served in one turn of the loop."""
REST = 0.001
"""Seconds from one slice to the next, where clients of several addresses are active."""
PERIOD = 0.5
"""Seconds over which the active addresses are counted."""
REMEMBERED = 10_000
"""Addresses whose budgets are kept; the least recently used is forgotten first."""


class Held(Protocol):
    """A connection with input that waits, or other work for a client."""

    @property
    def later(self) -> float:
        """Seconds of work that one piece is taken to cause after it was served."""

    def serve_held(self) -> bool:
        """Serve a piece of it; whether there is more."""


class Budget:
    """The loop time of one address, and those of its clients whose input is held."""

    __slots__ = ("filled", "left", "line", "period")

    def __init__(self, now: float) -> None:
        self.left, self.filled, self.period = BURST, now, 0
        self.line: deque[Sharer] = deque()


class Sharer:
    """An account, or the guests of an address: the one takes turns with the other."""

    __slots__ = ("__weakref__", "budget", "held")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.held: deque[Held] = deque()


class Shares:
    """The budgets, and whose held input is served next."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[str, Budget] = OrderedDict()
        self._sharers: WeakValueDictionary[tuple[str, str], Sharer] = WeakValueDictionary()
        self._line: deque[Budget] = deque()
        self._loop = asyncio.get_running_loop()
        self._serving = False
        self._period, self._period_end = 0, 0.0
        self._active = self._counted = 1
        """Addresses in the last period, and in this one so far."""

    def sharer(self, source: str, account: str = "") -> Sharer:
        """The account, or the guests, at an address."""
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
        """Whether input has to be held, because its budget is used up."""
        budget = sharer.budget
        if now > self._period_end:
            self._period, self._period_end = self._period + 1, now + PERIOD
            self._active, self._counted = max(1, self._counted), 0
        if budget.period != self._period:
            budget.period = self._period
            self._counted += 1
        return budget.left <= 0 and self._used_up(budget, now)

    def _used_up(self, budget: Budget, now: float) -> bool:
        """Whether nothing is left, with what it has gained until now."""
        share = SHARED / max(self._active, self._counted)
        budget.left = min(BURST, max(-DEBT, budget.left) + (now - budget.filled) * share)
        budget.filled = now
        return budget.left <= 0

    def hold(self, sharer: Sharer, held: Held) -> None:
        metrics.HELD.inc()
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
        """Once in a turn of the loop, so that everything else gets its turn in between."""
        budget = self._line.popleft()
        sharer = budget.line.popleft()
        began, spent = monotonic(), 0.0
        while sharer.held and spent < SLICE:
            held = sharer.held.popleft()
            if held.serve_held():
                sharer.held.append(held)
            began -= held.later
            spent = monotonic() - began
        budget.left -= spent
        if sharer.held:
            budget.line.append(sharer)
        if budget.line:
            self._line.append(budget)
        self._serving = bool(self._line)
        if self._serving:
            self._set_next()

    def _set_next(self) -> None:
        """Where others are active, the loop rests in between: threads that store results need the interpreter too."""
        if max(self._active, self._counted) > 1:
            self._loop.call_later(REST, self._serve)
        else:
            self._loop.call_soon(self._serve)
