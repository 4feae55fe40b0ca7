"""Cluster: this node among the others."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Wish
from botdrome.server.failures import log_failure
from botdrome.store.nodes import Node as Node

# A node of the cluster, and the parts of the cluster as the rest of the server sees them.

NodeId = str
"""The name and the epoch of a node, as in `ant.7`: a node that comes back has another id."""
MESSAGES = 6
"""The version of the messages between nodes. Nodes with different versions do not work together."""
Key = str
"""What has to happen in one place: a group of equal wishes, or the rooms and contests of a game."""


class Members(Protocol):
    """The live nodes."""

    here: Node

    @property
    def nodes(self) -> dict[NodeId, Node]:
        """All live nodes, this one too."""

    on_change: list[Callable[[], None]]
    """Called after nodes came or went, or homes of rooms changed."""

    @property
    def leaving(self) -> bool:
        """Whether this node is drained, so that other nodes get its rooms, because one of them
        takes matches.
        """

    def room_home(self, key: Key) -> NodeId | None:
        """Return the node that has claimed rooms; None: none has, as far as this node knows."""

    async def claim(self, key: Key, choice: "Choice | None" = None) -> NodeId:
        """Return the home of rooms; if they have none, claim them for the node of the choice."""

    async def give(self, key: Key, to: NodeId) -> NodeId:
        """Make another node the home of rooms that are here.

        Return their home, which is still here if that node is dead.
        """


Choice = Callable[[Key, Iterable[Node]], Node]
"""Chooses the home of a key among live nodes."""


def choose(key: Key, nodes: Iterable[Node]) -> Node:
    """Return the home of a key by rendezvous hashing: when a node leaves, only its own
    keys move.
    """
    return max(
        able(nodes), key=lambda node: blake2b(f"{key} {node.id}".encode(), digest_size=8).digest()
    )


def spread(keys: Sequence[Key], nodes: Iterable[Node]) -> dict[Key, Node]:
    """Choose a home for each key so that all nodes have about as many: hashing alone spreads few
    keys unevenly.
    """
    homes: dict[Key, Node] = {}
    all_nodes = able(nodes)
    left: list[Node] = []
    for key in keys:
        left = left or all_nodes
        homes[key] = choose(key, left)
        left = [node for node in left if node is not homes[key]]
    return homes


def able(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that take matches; if none does, all."""
    found = list(nodes)
    return [node for node in found if not node.draining] or found


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
        self, members: Members, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`start` runs a background task."""
        self.members, self._start = members, start
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
        return self.members.leaving

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
        return choose(key, self.members.nodes.values()).id

    def place(self, key: Key, nodes: Iterable[Node] | None = None) -> Node:
        """Return the node that should be the home of one of the places."""
        return spread(PLACES, nodes or self.members.nodes.values())[key]

    def with_home(self, key: Key, act: Callable[[NodeId], object], anew: bool = False) -> None:
        """Call with the home of a place: now, or once it is claimed, or `anew`, once it is read
        from the store.
        """
        home = None if anew else self.members.room_home(key)
        if home is not None:
            act(home)
        else:
            self._start(self._claim(key, act))

    async def _claim(self, key: Key, act: Callable[[NodeId], object]) -> None:
        while True:
            try:
                home = await self.members.claim(key, self.place)
                break
            except Exception:
                log_failure(f"the home of the {key} could not be claimed")
                await asyncio.sleep(RETRY)
        act(home)
