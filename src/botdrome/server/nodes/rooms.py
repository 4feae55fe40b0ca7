"""RoomsHere: opens the rooms of all protocols and the contests, once this node is their home."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from botdrome.server.failures import log_failure
from botdrome.server.nodes.cluster import RETRY, ROOMS, Cluster


class RoomsHere:
    def __init__(
        self, cluster: Cluster, open_rooms: Callable[[], Awaitable[None]], start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`open_rooms` reads their state from the store; `start` runs a background task."""
        self._cluster, self._open_rooms, self._start = cluster, open_rooms, start
        self._opening = self.open = False
        self._waiting: list[tuple[Callable[[], None], Callable[[], None]]] = []
        cluster.members.on_change.append(self._look)
        self._look()

    def when_open(self, act: Callable[[], None], refuse: Callable[[], None]) -> None:
        """Call `act` when the rooms are open here, or `refuse` if they are at another node."""
        if self.open:
            return act()
        self._waiting.append((act, refuse))
        return self._start(self._learn())

    async def _learn(self) -> None:
        """Another node takes this one for the home of the rooms: it may know that first."""
        try:
            await self._cluster.members.claim(ROOMS)
        except Exception:
            log_failure("the home of the rooms could not be read")
        self._look()
        if not self._cluster.has_rooms:
            waiting, self._waiting = self._waiting, []
            for _, refuse in waiting:
                refuse()

    def _look(self) -> None:
        """The rooms of a node that has died get another home at once: contests go on there."""
        if self._cluster.has_rooms and not self._opening:
            self._opening = True
            self._start(self._open())
        elif self.open and not self._cluster.has_rooms:  # this node is drained: newcomers go to the new home
            self._opening = self.open = False
        if self._cluster.home(ROOMS) is None:
            self._cluster.with_rooms(lambda _: self._look())

    async def _open(self) -> None:
        while not self.open:
            try:
                await self._open_rooms()
                self.open = True
            except Exception:
                log_failure("the rooms could not be opened")
                await asyncio.sleep(RETRY)
        waiting, self._waiting = self._waiting, []
        for act, _ in waiting:
            act()
