"""Fair turns: a queue in which clients share the work by cost, so that a client with many requests
does not delay the others.

Each client has its own queue, and the client with the lowest charge comes next. The cost of a turn
is known only after it, so the turn is first charged like the client's last turn, and corrected
afterwards. An idle client gains no credit.
"""

from collections import deque
from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T")

REMEMBERED = 1000
"""The number of clients above which those without requests or debt are forgotten."""


class ClientQueue(Generic[T]):
    """The requests of one client, and its total charge, on a clock that advances with the turns."""

    __slots__ = ("charged", "cost", "requests")

    def __init__(self, charged: float, cost: float) -> None:
        self.charged, self.cost = charged, cost
        self.requests: deque[T] = deque()


class FairTurns(Generic[T]):
    def __init__(self, first_cost: float = 0.0) -> None:
        """`first_cost` is the charge for a client's first turn."""
        self._first_cost = first_cost
        self._heap: list[tuple[float, int, str]] = []
        """A heap of the clients with requests, ordered by charge."""
        self._queues: dict[str, ClientQueue[T]] = {}
        self._now, self._order, self._waiting = 0.0, 0, 0
        self._most = REMEMBERED

    def __len__(self) -> int:
        return self._waiting

    def wait(self, client: str, request: T) -> None:
        queue = self._queues.get(client)
        if queue is None:
            queue = self._queues[client] = ClientQueue(self._now, self._first_cost)
        queue.requests.append(request)
        self._waiting += 1
        if len(queue.requests) == 1:
            self._enqueue(client, queue)

    def _enqueue(self, client: str, queue: ClientQueue[T]) -> None:
        queue.charged = max(self._now, queue.charged)
        self._order += 1
        heappush(self._heap, (queue.charged, self._order, client))

    def next(self) -> tuple[str, float, T]:
        """Return the next client, the charge for its turn, and its request."""
        since, _, client = heappop(self._heap)
        queue = self._queues[client]
        while queue.charged > since:  # the client's last turn cost more than its charge
            self._enqueue(client, queue)
            since, _, client = heappop(self._heap)
            queue = self._queues[client]
        self._now, self._waiting = since, self._waiting - 1
        request, cost = queue.requests.popleft(), queue.cost
        queue.charged = since + cost
        if queue.requests:
            self._enqueue(client, queue)
        if len(self._queues) > self._most:
            self._forget()
        return client, cost, request

    def _forget(self) -> None:
        kept = {
            client: queue
            for client, queue in self._queues.items()
            if queue.requests or queue.charged > self._now
        }
        self._queues, self._most = kept, max(REMEMBERED, 2 * len(kept))

    def settle(self, client: str, charged: float, cost: float) -> None:
        """Replace the charge of a turn by its real cost."""
        queue = self._queues.get(client)
        if queue is not None:
            queue.charged += cost - charged
            queue.cost = cost
