"""RoomsHere: opens the rooms and contests of a game while this node is their home, and gives them
to another if nobody is there, or if this node is drained. Cluster: the homes of wishes and rooms.

A node that starts first is the home of all rooms. When others have joined, each game goes to the
node that `Cluster.place` names, as soon as nobody is in its rooms. Clients that come meanwhile
wait, and go on to the new home.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple

import structlog

from botdrome.contest.lobby import Wish
from botdrome.server.failures import log_failure
from botdrome.server.nodes.cluster import PLACES, Key, Node, NodeId, choose, rooms_of, spread
from botdrome.server.nodes.membership import Membership

log = structlog.get_logger()

SETTLE = 0.2
"""Seconds for requests that came before the rooms closed: they may bring clients."""
RETRY = 1.0
"""Seconds until a claim is tried again."""
LOOK = 0.01
"""Seconds between two looks whether everything is stored."""
Act = Callable[[], None]


class Rooms(NamedTuple):
    """The rooms and contests of a game."""

    open: Callable[[], Awaitable[None]]
    """Read their state from the store."""
    leave: Act
    """Another node gets them: store nothing more that it may change."""
    in_use: Callable[[], bool]
    """Whether anybody is in them."""
    settled: Callable[[], bool]
    """Whether everything is stored, so that a node can read their state."""


class RoomsHere:
    def __init__(
        self,
        cluster: "Cluster",
        key: Key,
        rooms: Rooms,
        start: Callable[[Coroutine[Any, Any, None]], None],
        stored: Callable[[], Awaitable[None]],
    ) -> None:
        """`start` runs a background task, `stored` waits until all changes so far are on disk."""
        self._cluster, self._key, self._rooms, self._start = cluster, key, rooms, start
        self._stored = stored
        self.open = self._changing = self._asking = False
        """`_changing`: a task opens the rooms, or gives them away.

        `_asking`: a task reads their home from the store.
        """
        self._waiting: list[tuple[Act, Act]] = []
        self._timer: asyncio.TimerHandle | None = None
        cluster.members.on_change.append(self._look)
        self._look()

    def when_open(self, act: Act, elsewhere: Act) -> None:
        """Call `act` when the rooms are open here, or `elsewhere` when another node is
        their home.
        """
        if self.open:
            return act()
        self._waiting.append((act, elsewhere))
        if not self._changing and not self._asking:  # thousands of clients may come at once
            self._asking = True
            # Another node takes this one for the home of the rooms: it may know that first.
            self._cluster.with_home(self._key, self._learn, anew=True)
        return None

    def _learn(self, _: NodeId) -> None:
        self._asking = False
        self._look()

    def stop(self) -> None:
        """The server stops: give nothing away any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        """The rooms of a node that has died get another home at once: contests go on there."""
        home = self._cluster.home(self._key)
        if self._changing:
            return
        if home is None:
            self._cluster.with_home(self._key, lambda _: self._look())
        elif home != self._cluster.here:
            self._close()
        elif self._cluster.drained:
            self._leave()  # before another node opens them: both would play the same contests
            self._change(self._give())
        elif not self.open:
            self._change(self._open())
        else:
            self._let_in()

    def _change(self, work: Coroutine[Any, Any, None]) -> None:
        self._changing = True
        self._start(self._changed(work))

    async def _changed(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            log_failure(f"the {self._key} could not be opened, or given to another node")
            await asyncio.sleep(RETRY)
        self._changing = False
        self._look()

    async def _open(self) -> None:
        await self._settle()  # this node may have left them a moment ago
        await self._rooms.open()
        self.open = True

    def _close(self) -> None:
        """The rooms are at another node.

        If this one is drained, clients in them stay; newcomers go to the new home.
        """
        self._leave()
        waiting, self._waiting = self._waiting, []
        for _, elsewhere in waiting:
            elsewhere()

    def _leave(self) -> None:
        if self.open:
            self.open = False
            self._rooms.leave()

    def _let_in(self) -> None:
        """Then give the rooms away if they should be at another node and nobody is in them."""
        waiting, self._waiting = self._waiting, []
        for act, _ in waiting:
            act()
        self.stop()
        if self._cluster.place(self._key).id == self._cluster.here:
            return
        if self._rooms.in_use():
            self._timer = asyncio.get_running_loop().call_later(RETRY, self._look)
        else:
            self.open = False
            self._change(self._give_if_empty())

    async def _give_if_empty(self) -> None:
        await asyncio.sleep(SETTLE)
        if self._rooms.in_use():
            self.open = True
            return
        self._rooms.leave()
        await self._give()

    async def _give(self) -> None:
        await self._settle()
        await self._stored()
        home = await self._cluster.members.give(self._key, self._cluster.place(self._key).id)
        log.debug("rooms move to another node", rooms=self._key, node=home)

    async def _settle(self) -> None:
        while not self._rooms.settled():
            await asyncio.sleep(LOOK)


class Cluster:
    def __init__(
        self, members: Membership, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`start` runs a background task."""
        self.members, self._start = members, start
        self.room_games: set[str] = set()
        """The games with rooms, which also seat clients from the desk."""
        self.rooms: Mapping[Key, RoomsHere] = {}

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
