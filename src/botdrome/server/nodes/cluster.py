"""Cluster: this node among the others."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import replace

from botdrome.contest.lobby import Wish
from botdrome.server.failures import log_failure
from botdrome.server.nodes.node import Key, Links, Members, NodeId, choose

ROOMS: Key = "rooms"
"""The rooms of all protocols and the contests, which share bots: they have one home, claimed in the store."""
RETRY = 1.0
"""Seconds until a claim is tried again."""


class Cluster:
    def __init__(self, members: Members, links: Links, start: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """`start` runs a background task."""
        self.members, self.links, self._start = members, links, start
        self.room_wishes: set[Wish] = set()
        """The wishes of rooms that also seat clients from the desk. Protocols enter theirs."""

    @property
    def here(self) -> NodeId:
        return self.members.here.id

    @property
    def has_rooms(self) -> bool:
        """Whether the rooms and contests are on this node."""
        return self.members.room_home(ROOMS) == self.here

    def key_of(self, wish: Wish) -> Key:
        """Return the group of a wish. Wishes that differ in pace alone may meet (see `Seeker.accepts`)."""
        if wish.contest is not None or replace(wish, pace="usual") in self.room_wishes:
            return ROOMS
        return f"{wish.game} {wish.players} {wish.options} {wish.invite or ''}"

    def home(self, key: Key) -> NodeId | None:
        """Return the home of a key; None: the rooms have no home at present."""
        if key == ROOMS:
            return self.members.room_home(key)
        return choose(key, list(self.members.nodes.values())).id

    def with_rooms(self, act: Callable[[NodeId], None]) -> None:
        """Call with the home of the rooms: now, or once it is claimed."""
        home = self.members.room_home(ROOMS)
        if home is not None:
            act(home)
        else:
            self._start(self._claim_rooms(act))

    async def _claim_rooms(self, act: Callable[[NodeId], None]) -> None:
        while True:
            try:
                home = await self.members.claim(ROOMS)
                break
            except Exception:
                log_failure("the home of the rooms could not be claimed")
                await asyncio.sleep(RETRY)
        act(home)
