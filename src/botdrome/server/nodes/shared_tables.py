"""SharedTables: the running matches of all nodes, as spectators see them.

Each message of a match goes to a node once, however many people watch there. Nodes tell in beats
which matches they play and which ones of others are watched there. The messages of a match to a
node are numbered: if one is missing, the spectators there are shown the present position anew.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.links import Beat, Links
from botdrome.server.tables.audience import LiveTable, Spectator, Tables
from botdrome.server.tables.table import Table
from botdrome.store.entries import StoreUnavailable

# What nodes tell each other about running matches, so that people can watch them from any node.

TOPIC = "watching"


class TablesBeat(Struct, frozen=True, array_like=True):
    """The matches that run on a node, as far as pages list them, and the numbers of all by game."""

    tables: list[LiveTable]
    numbers: dict[str, int]
    watched: dict[NodeId, dict[str, int]] = {}
    """The matches of other nodes that are watched here, with the numbers of their last messages."""


class WatchMessage(Struct, frozen=True, array_like=True):
    match: str


class Watch(WatchMessage, frozen=True, tag="w"):
    """To the node of a match: show it, beginning with the present position.

    Repeated for each new spectator.
    """


class Show(WatchMessage, frozen=True, tag="f"):
    number: int
    message: bytes
    first: bool
    """It is the present position, for those that have just begun to watch."""


class WatchedMatchEnded(WatchMessage, frozen=True, tag="e"):
    """The match is over and everything was shown; or it does not run here."""

    moved: bool = False
    """It goes on at another node."""


decode = msgspec.msgpack.Decoder(Watch | Show | WatchedMatchEnded).decode

INTERVAL = 1.0
"""Seconds between two lists of matches."""
SEARCH = 5.0
"""Seconds for another node to list a match whose node has died or released it."""
MOST_LISTED = 200
"""Matches of one node that are listed at others."""

OwnerOf = Callable[[str], Awaitable[NodeId]]
"""Returns the live node, other than this one, that plays a match; empty: none does."""
StartTask = Callable[[Coroutine[Any, Any, None]], None]


class RemoteSpectators:
    """The people at another node that watch a match here."""

    def __init__(
        self,
        send: Callable[[WatchMessage], None],
        match: str,
        over: Callable[[], None],
        number: int = 0,
    ) -> None:
        """`over` is called when the match is over. `number` messages were sent before."""
        self._send, self._match, self._over, self.number = send, match, over, number
        self._first = self.new = True
        """`new`: that node has not told in a beat yet that it watches."""
        self.due = 0
        """The number of messages that must have arrived before the next beat of that node."""

    def show(self, message: bytes) -> None:
        self.number += 1
        first, self._first = self._first, False
        self._send(Show(self._match, self.number, message, first))

    def end(self, moved: bool = False) -> None:
        self._over()
        self._send(WatchedMatchEnded(self._match, moved))


class WatchedMatch(Struct, eq=False):
    """A match at another node that people here watch."""

    node: NodeId
    """Empty: it has died or released the match, and no other node has listed that yet."""
    arriving: dict[Spectator, None] = {}
    """Those that have not seen the present position yet."""
    watching: dict[Spectator, None] = {}
    search: asyncio.TimerHandle | None = None
    """Ends the search for its node; None: that has shown the match, or there is no time left."""
    number: int = -1
    """The number of its last message; -1: the present position has to come first."""


class SharedTables:
    def __init__(self, own: Tables, links: Links, owner: OwnerOf, start: StartTask) -> None:
        """`owner` reads from the store, and `start` runs a background task."""
        self._own, self._links, self._owner, self._start = own, links, owner, start
        self._lists: dict[NodeId, TablesBeat] = {}
        self._nodes: dict[str, NodeId] = {}
        """The nodes of the matches that are listed."""
        self._watched: dict[str, WatchedMatch] = {}
        self._shown: dict[tuple[NodeId, str], RemoteSpectators] = {}
        self._watchers: set[Callable[[], None]] = set()
        self._told = TablesBeat([], {})
        self._loop = asyncio.get_running_loop()
        links.on(TOPIC, self._receive)
        self.beat = Beat(links, INTERVAL, TablesBeat, self._tell, self._hear)

    # For spectators here.

    def live(self, game: str | None = None, most: int | None = None) -> list[LiveTable]:
        elsewhere = [
            table
            for one in self._lists.values()
            for table in one.tables
            if game in (None, table.game)
        ]
        return [*self._own.live(game, most), *elsewhere][:most]

    def count(self, game: str | None = None) -> int:
        numbers = [one.numbers for one in self._lists.values()]
        elsewhere = sum(sum(one.values()) if game is None else one.get(game, 0) for one in numbers)
        return self._own.count(game) + elsewhere

    def watch(self, match_id: str, spectator: Spectator, node: NodeId = "") -> bool:
        if self._own.watch(match_id, spectator):
            return True
        node = self._nodes.get(match_id, node)
        if node not in self._lists:
            return False
        watched = self._watched.setdefault(match_id, WatchedMatch(node))
        watched.node = watched.node or node
        watched.arriving[spectator] = None
        self._loop.call_soon(self._ask, match_id, spectator)
        return True

    def _ask(self, match: str, spectator: Spectator) -> None:
        """Ask for the present position, unless the spectator has left within the same turn of the
        loop.
        """
        watched = self._watched.get(match)
        if watched is not None and spectator in watched.arriving:
            self._send(watched.node, Watch(match))

    def unwatch(self, match_id: str, spectator: Spectator) -> None:
        self._own.unwatch(match_id, spectator)
        watched = self._watched.get(match_id)
        if watched is None:
            return
        watched.arriving.pop(spectator, None)
        watched.watching.pop(spectator, None)
        if not watched.arriving and not watched.watching:
            del self._watched[match_id]  # the next beat tells it

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        forget = self._own.on_change(tell)
        self._watchers.add(tell)

        def forget_both() -> None:
            forget()
            self._watchers.discard(tell)

        return forget_both

    # Matches that go on at another node. Their spectators wait until that node lists them, or owns
    # them in the store: of many matches, a node lists only some.

    def depart(self, table: Table) -> None:
        """This node has released a match."""
        own: dict[Spectator, None] = {}
        for spectator in tuple(table.audience.spectators):
            if isinstance(spectator, RemoteSpectators):
                spectator.end(moved=True)
            else:
                own[spectator] = None
        table.audience.spectators.clear()
        if own:
            self._watched[table.entry.id] = WatchedMatch("", own)
            self._search(table.entry.id)

    def _search(self, match: str) -> None:
        watched = self._watched[match]
        watched.node, watched.arriving = "", watched.watching | watched.arriving
        watched.watching, watched.number = {}, -1
        self._stop_search(watched)
        watched.search = self._loop.call_later(SEARCH, self._give_up, match, watched)

    def _stop_search(self, watched: WatchedMatch) -> None:
        if watched.search is not None:
            watched.search.cancel()
            watched.search = None

    def _give_up(self, match: str, watched: WatchedMatch) -> None:
        watched.search = None
        if self._watched.get(match) is watched and not watched.node:
            self._end(match)

    def _find(self) -> None:
        for match, watched in list(self._watched.items()):
            if watched.node:
                continue
            if all(self._own.watch(match, one) for one in watched.arriving):
                self._stop_search(self._watched.pop(match))
            else:
                self._start(self._ask_store(match, watched))

    async def _ask_store(self, match: str, watched: WatchedMatch) -> None:
        with suppress(StoreUnavailable):
            node = await self._owner(match)
            if node and self._watched.get(match) is watched and not watched.node:
                self._found(match, watched, node)

    def _found(self, match: str, watched: WatchedMatch, node: NodeId) -> None:
        watched.node = node
        self._send(node, Watch(match))

    # Messages between nodes.

    def _send(self, node: NodeId, message: WatchMessage) -> None:
        if node:
            self._links.send(TOPIC, message, node)

    def _tell(self) -> TablesBeat | None:
        """List the matches here, unless there were none before and are none now."""
        self._find()
        tables = self._own.live(None, MOST_LISTED)
        numbers = Counter(table.game for table in tables)
        if len(tables) == MOST_LISTED:
            numbers = Counter({game: self._own.count(game) for game in numbers})
        watched: dict[NodeId, dict[str, int]] = {}
        for match, one in self._watched.items():
            if one.node:
                watched.setdefault(one.node, {})[match] = one.number
        before, self._told = self._told, TablesBeat(tables, dict(numbers), watched)
        return self._told if tables or watched or before != self._told else None

    def _hear(self, node: NodeId, beat: TablesBeat | None) -> None:
        self._list(node, beat)
        watched = {} if beat is None else beat.watched.get(self._links.members.here.id, {})
        for match, number in watched.items():
            shown = self._shown.get((node, match))
            if shown is None or number < shown.due:
                self._show(node, match)
            else:
                shown.new, shown.due = False, shown.number
        for key, shown in list(self._shown.items()):
            if key[0] == node and key[1] not in watched:
                if beat is None or not shown.new:
                    self._own.unwatch(key[1], self._shown.pop(key))
                shown.new = False
        if beat is None:
            for match, one in list(self._watched.items()):
                if one.node == node:
                    self._search(match)

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = decode(payload)
        if isinstance(message, Watch):
            return self._show(node, message.match)
        watched = self._watched.get(message.match)
        if isinstance(message, WatchedMatchEnded):
            self._nodes.pop(message.match, None)
        if watched is None or watched.node != node:
            return None
        if isinstance(message, Show):
            return self._pass_on(watched, message)
        if message.moved:
            return self._search(message.match)
        if watched.search is not None:
            watched.node = ""  # it may be about to resume the match
            return None
        return self._end(message.match)

    def _list(self, node: NodeId, tables: TablesBeat | None) -> None:
        before = self._lists.pop(node, None)
        for table in before.tables if before is not None else ():
            if self._nodes.get(table.id) == node:  # it may have moved
                del self._nodes[table.id]
        if tables is not None:
            self._lists[node] = tables
            self._nodes |= {table.id: node for table in tables.tables}
            for match, watched in self._watched.items():
                if not watched.node and self._nodes.get(match) == node:
                    self._found(match, watched, node)
        old, new = (
            {table.id for table in one.tables} if one is not None else set()
            for one in (before, tables)
        )
        if old != new:
            for tell in tuple(self._watchers):
                tell()

    def _show(self, node: NodeId, match: str) -> None:
        """The spectators at a node share one stream, but each of them begins with the position at
        that moment.
        """
        before, number = self._shown.pop((node, match), None), 0
        if before is not None:
            self._own.unwatch(match, before)
            number = before.number
        spectators = RemoteSpectators(
            partial(self._send, node), match, lambda: _drop(self._shown, (node, match)), number
        )
        if self._own.watch(match, spectators):
            self._shown[node, match] = spectators
            self.beat.expect(node)
        else:
            spectators.end()

    def _pass_on(self, watched: WatchedMatch, message: Show) -> None:
        follows = message.number == watched.number + 1
        if message.first:
            self._stop_search(watched)
            shown = watched.arriving if follows else watched.watching | watched.arriving
            watched.watching |= watched.arriving
            watched.arriving = {}
        elif follows:
            shown = watched.watching
        else:
            if watched.number >= 0:  # messages are missing
                watched.number = -1
                self._send(watched.node, Watch(message.match))
            return
        watched.number = message.number
        for spectator in tuple(shown):
            spectator.show(message.message)

    def _end(self, match: str) -> None:
        watched = self._watched.pop(match, None)
        for spectator in {**watched.arriving, **watched.watching} if watched is not None else ():
            spectator.end()


def _drop(shown: dict[tuple[NodeId, str], RemoteSpectators], key: tuple[NodeId, str]) -> None:
    shown.pop(key, None)
