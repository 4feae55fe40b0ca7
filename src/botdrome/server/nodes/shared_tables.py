"""SharedTables: the running matches of all nodes, as spectators see them.

Each message of a match goes to a node once, however many people watch there. Lists of matches are
told once a second.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.server.nodes.cluster import Links, NodeId
from botdrome.server.tables.audience import LiveTable, Spectator, Tables
from botdrome.server.tables.table import Table
from botdrome.store.entries import StoreUnavailable

# What nodes tell each other about running matches, so that people can watch them from any node.

TOPIC = "watching"


class WatchMessage(Struct, frozen=True, array_like=True):
    match: str


class LiveTables(Struct, frozen=True, array_like=True, tag="t"):
    """To all: the matches that run on a node, as far as pages list them, and the numbers of all by
    game.
    """

    tables: list[LiveTable]
    numbers: dict[str, int]


class Watch(WatchMessage, frozen=True, tag="w"):
    """To the node of a match: show it, beginning with the present position.

    Repeated for each new spectator.
    """


class Unwatch(WatchMessage, frozen=True, tag="u"):
    """To the node of a match: nobody watches it here any more."""


class Snapshot(WatchMessage, frozen=True, tag="s"):
    """The present position, for those that have just begun to watch."""

    message: bytes


class Show(WatchMessage, frozen=True, tag="f"):
    message: bytes


class WatchedMatchEnded(WatchMessage, frozen=True, tag="e"):
    """The match is over and everything was shown; or it does not run here."""

    moved: bool = False
    """It goes on at another node."""


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(
    LiveTables | Watch | Unwatch | Snapshot | Show | WatchedMatchEnded
).decode

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
        self, send: Callable[[WatchMessage], None], match: str, over: Callable[[], None]
    ) -> None:
        """`over` is called when the match is over."""
        self._send, self._match, self._over = send, match, over
        self._first = True

    def show(self, message: bytes) -> None:
        first, self._first = self._first, False
        self._send(Snapshot(self._match, message) if first else Show(self._match, message))

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


class SharedTables:
    def __init__(self, own: Tables, links: Links, owner: OwnerOf, start: StartTask) -> None:
        """`owner` reads from the store, and `start` runs a background task."""
        self._own, self._links, self._owner, self._start = own, links, owner, start
        self._lists: dict[NodeId, LiveTables] = {}
        self._nodes: dict[str, NodeId] = {}
        """The nodes of the matches that are listed."""
        self._watched: dict[str, WatchedMatch] = {}
        self._shown: dict[tuple[NodeId, str], RemoteSpectators] = {}
        self._watchers: set[Callable[[], None]] = set()
        self._told = LiveTables([], {})
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(INTERVAL, self._tell)
        links.on(TOPIC, self._receive)
        links.on_lost.append(self._lose)

    def close(self) -> None:
        self._timer.cancel()

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
            del self._watched[match_id]
            self._send(watched.node, Unwatch(match_id))

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
        watched.watching = {}
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
            self._links.send(node, TOPIC, encode(message))

    def _tell(self) -> None:
        """List the matches here, unless there were none before and are none now."""
        self._timer = self._loop.call_later(INTERVAL, self._tell)
        self._find()
        tables = self._own.live(None, MOST_LISTED)
        numbers = Counter(table.game for table in tables)
        if len(tables) == MOST_LISTED:
            numbers = Counter({game: self._own.count(game) for game in numbers})
        now = LiveTables(tables, dict(numbers))
        if now != self._told or tables:
            self._told = now
            self._links.broadcast(TOPIC, encode(now))

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = decode(payload)
        match message:
            case LiveTables():
                self._list(node, message)
            case Watch():
                self._show(node, message.match)
            case Unwatch():
                if (spectators := self._shown.pop((node, message.match), None)) is not None:
                    self._own.unwatch(message.match, spectators)
            case Snapshot() | Show():
                self._pass_on(node, message)
            case WatchedMatchEnded():
                self._nodes.pop(message.match, None)
                if (
                    watched := self._watched.get(message.match)
                ) is not None and watched.node == node:
                    if message.moved:
                        self._search(message.match)
                    elif watched.search is not None:
                        watched.node = ""  # it may be about to resume the match
                    else:
                        self._end(message.match)

    def _list(self, node: NodeId, tables: LiveTables | None) -> None:
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
        before = self._shown.pop((node, match), None)
        if before is not None:
            self._own.unwatch(match, before)
        spectators = RemoteSpectators(
            partial(self._send, node), match, lambda: _drop(self._shown, (node, match))
        )
        if self._own.watch(match, spectators):
            self._shown[node, match] = spectators
        else:
            spectators.end()

    def _pass_on(self, node: NodeId, message: Snapshot | Show) -> None:
        watched = self._watched.get(message.match)
        if watched is None:
            return
        if isinstance(message, Snapshot):
            self._stop_search(watched)
            arriving, watched.arriving = watched.arriving, {}
            watched.watching |= arriving
        for spectator in tuple(arriving if isinstance(message, Snapshot) else watched.watching):
            spectator.show(message.message)

    def _end(self, match: str) -> None:
        watched = self._watched.pop(match, None)
        for spectator in {**watched.arriving, **watched.watching} if watched is not None else ():
            spectator.end()

    def _lose(self, node: NodeId) -> None:
        self._list(node, None)
        for match in [match for match, watched in self._watched.items() if watched.node == node]:
            self._search(match)
        for key in [key for key in self._shown if key[0] == node]:
            self._own.unwatch(key[1], self._shown.pop(key))


def _drop(shown: dict[tuple[NodeId, str], RemoteSpectators], key: tuple[NodeId, str]) -> None:
    shown.pop(key, None)
