"""Turns: who is next, where one who wants much must not keep others waiting.

Whoever has had little goes before whoever has had much. What a turn will cost is not known before it is over, so it is taken to
cost what the last one of the same guest did, and set right afterwards. Who comes after a rest has no credit: nobody can save
up turns, and nobody is owed any for having been away.
"""

from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T")

REMEMBERED = 1000
"""Guests that are remembered though they may be level with everybody else."""


class Account:
    """What one guest has had, on a clock that goes on with the turns that are given."""

    __slots__ = ("cost", "had")

    def __init__(self, had: float, cost: float) -> None:
        self.had, self.cost = had, cost


class Turns(Generic[T]):
    def __init__(self, first_cost: float = 0.0) -> None:
        """`first_cost` is what the first turn of a guest is taken to cost."""
        self._first_cost = first_cost
        self._queue: list[tuple[float, int, str, float, T]] = []
        self._accounts: dict[str, Account] = {}
        self._now, self._tickets = 0.0, 0

    def __len__(self) -> int:
        return len(self._queue)

    def wait(self, guest: str, wish: T) -> None:
        account = self._accounts.get(guest)
        if account is None:
            account = self._accounts[guest] = Account(self._now, self._first_cost)
        since, cost = max(self._now, account.had), account.cost
        account.had = since + cost
        self._tickets += 1
        heappush(self._queue, (since, self._tickets, guest, cost, wish))

    def next(self) -> tuple[str, float, T]:
        """Whose turn it is, what it is taken to cost, and the wish."""
        since, _, guest, cost, wish = heappop(self._queue)
        self._now = since
        if len(self._accounts) > REMEMBERED:
            self._accounts = {name: account for name, account in self._accounts.items() if account.had > self._now}
        return guest, cost, wish

    def settle(self, guest: str, taken: float, cost: float) -> None:
        """A turn that was taken to cost so much has cost something else."""
        account = self._accounts.get(guest)
        if account is not None:
            account.had += cost - taken
            account.cost = cost
