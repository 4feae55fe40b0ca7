"""Cluster: this node among the others."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Wish
from botdrome.server.failures import log_failure
from botdrome.server.nodes.node import Key, Links, Members, Node, NodeId, choose, spread

RETRY = 1.0
"""Seconds until a claim is tried again."""


def rooms_of(game: str) -> Key:
    """The rooms and contests of a game, which share bots: they have one home, claimed
    in the store.
    """
    return f"rooms {game}"


PLACES: tuple[Key, ...] = tuple(map(rooms_of, CATALOGUE))
"""The keys whose homes are claimed, in the order in which they are spread over the nodes."""


class PlaceHere(Protocol):
    """The rooms of a game at this node. They open some time after it has become their home."""

    open: bool

    def when_open(self, act: Callable[[], None], elsewhere: Callable[[], None]) -> None:
        """Call `act` when they are open, or `elsewhere` when another node is their home."""


class Cluster:
    def __init__(
        self, members: Members, links: Links, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`start` runs a background task."""
        self.members, self.links, self._start = members, links, start
        self.room_games: set[str] = set()
        """The games with rooms, which also seat clients from the desk."""
        self.rooms: Mapping[Key, PlaceHere] = {}

    @property
    def here(self) -> NodeId:
        return self.members.here.id

    def has_rooms(self, game: str) -> bool:
        """Whether the rooms and contests of a game are on this node."""
        return self.members.room_home(rooms_of(game)) == self.here

    @property
    def drained(self) -> bool:
        """Whether this node is drained and another one takes its place."""
        members = self.members
        return members.here.draining and not all(node.draining for node in members.nodes.values())

    def key_of(self, wish: Wish) -> Key:
        """Return the group of a wish.

        Wishes that differ in pace alone may meet (see `Seeker.accepts`).
        """
        if wish.contest is not None or wish.game in self.room_games:
            return rooms_of(wish.game)
        return f"{wish.game} {wish.players} {wish.options} {wish.invite or ''}"

    def home(self, key: Key) -> NodeId | None:
        """Return the home of a key; None: it is claimed in the store, and has no home
        at present.
        """
        if key in PLACES:
            return self.members.room_home(key)
        return choose(key, list(self.members.nodes.values())).id

    def place(self, key: Key, nodes: list[Node] | None = None) -> Node:
        """Return the node that should be the home of one of the places."""
        return spread(PLACES, nodes or list(self.members.nodes.values()))[key]

    def with_home(self, key: Key, act: Callable[[NodeId], None], anew: bool = False) -> None:
        """Call with the home of a place: now, or once it is claimed, or `anew`, once it is read
        from the store.
        """
        home = None if anew else self.members.room_home(key)
        if home is not None:
            act(home)
        else:
            self._start(self._claim(key, act))

    async def _claim(self, key: Key, act: Callable[[NodeId], None]) -> None:
        while True:
            try:
                home = await self.members.claim(key, self.place)
                break
            except Exception:
                log_failure(f"the home of the {key} could not be claimed")
                await asyncio.sleep(RETRY)
        act(home)
