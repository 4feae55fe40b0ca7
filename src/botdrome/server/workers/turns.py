"""Turns: who is next, where one who wants much must not keep others waiting.

Guests stand in line, each with all its wishes, and whoever has had little goes before whoever has had much. What a turn will
cost is not known before it is over, so it is taken to cost what the last one of the same guest did, and set right afterwards.
Who comes after a rest has no credit: nobody can save up turns, and nobody is owed any for having been away.
"""

from collections import deque
from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T")

REMEMBERED = 1000
"""Guests that are remembered though they may be level with everybody else."""


class Account(Generic[T]):
    """What one guest has had, on a clock that goes on with the turns that are given, and what it still wants."""

    __slots__ = ("cost", "had", "wishes")

    def __init__(self, had: float, cost: float) -> None:
        self.had, self.cost = had, cost
        self.wishes: deque[T] = deque()


class Turns(Generic[T]):
    def __init__(self, first_cost: float = 0.0) -> None:
        """`first_cost` is what the first turn of a guest is taken to cost."""
        self._first_cost = first_cost
        self._line: list[tuple[float, int, str]] = []
        """A heap of the guests who want something, by what they have had."""
        self._accounts: dict[str, Account[T]] = {}
        self._now, self._tickets, self._waiting = 0.0, 0, 0
        self._most = REMEMBERED

    def __len__(self) -> int:
        return self._waiting

    def wait(self, guest: str, wish: T) -> None:
        account = self._accounts.get(guest)
        if account is None:
            account = self._accounts[guest] = Account(self._now, self._first_cost)
        account.wishes.append(wish)
        self._waiting += 1
        if len(account.wishes) == 1:
            self._line_up(guest, account)

    def _line_up(self, guest: str, account: Account[T]) -> None:
        account.had = max(self._now, account.had)
        self._tickets += 1
        heappush(self._line, (account.had, self._tickets, guest))

    def next(self) -> tuple[str, float, T]:
        """Whose turn it is, what it is taken to cost, and the wish."""
        since, _, guest = heappop(self._line)
        account = self._accounts[guest]
        while account.had > since:  # its last turn has cost more than was thought
            self._line_up(guest, account)
            since, _, guest = heappop(self._line)
            account = self._accounts[guest]
        self._now, self._waiting = since, self._waiting - 1
        wish, cost = account.wishes.popleft(), account.cost
        account.had = since + cost
        if account.wishes:
            self._line_up(guest, account)
        if len(self._accounts) > self._most:
            self._forget()
        return guest, cost, wish

    def _forget(self) -> None:
        kept = {guest: account for guest, account in self._accounts.items() if account.wishes or account.had > self._now}
        self._accounts, self._most = kept, max(REMEMBERED, 2 * len(kept))

    def settle(self, guest: str, taken: float, cost: float) -> None:
        """A turn that was taken to cost so much has cost something else."""
        account = self._accounts.get(guest)
        if account is not None:
            account.had += cost - taken
            account.cost = cost
