"""Cluster: this node among the others."""

from msgspec.structs import replace

from botdrome.contest.lobby import Wish
from botdrome.server.nodes.node import Key, Links, Members, NodeId, choose


class Cluster:
    def __init__(self, members: Members, links: Links) -> None:
        self.members, self.links = members, links
        self.rooms: set[Key] = set()
        """The keys whose homes are claimed in the store. Protocols enter theirs."""
        self.rooms_of: dict[Wish, Key] = {}
        """The rooms that also seat clients that wait at the desk, by their wish: both need one home."""

    @property
    def here(self) -> NodeId:
        return self.members.here.id

    def key_of(self, wish: Wish) -> Key:
        """Return the group of a wish. Wishes that differ in pace alone may meet (see `Seeker.accepts`)."""
        room = self.rooms_of.get(replace(wish, pace="usual"))
        return room or f"{wish.game} {wish.players} {wish.options} {wish.contest or ''} {wish.invite or ''}"

    def home(self, key: Key) -> NodeId | None:
        """Return the home of a key; None: it is a room that no node has claimed yet."""
        if key in self.rooms:
            return self.members.room_home(key)
        return choose(key, list(self.members.nodes.values())).id
