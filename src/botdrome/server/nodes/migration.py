"""Migration: moves running matches from a node that is drained to others, without an interruption
for anybody.

Theory of operation. The match is frozen: its clock stands, and what its players send is held. All
its inputs are stored. Then this node releases it: one statement in the store takes the node from
it, if the node still lives, and so the match is an orphan. The other node is told, adopts it,
replays its inputs, stores them as its own, and answers. Now the table here is forgotten, and the
connections of the players move with what was held. There the match goes on when all have come.

Adopting is one statement, too, and only one node succeeds. So a match is never at two nodes,
whatever fails:

- The store is away before the release: the match thaws here.
- Nobody knows whether the release has happened, the other node does not answer in time, or its link
  is lost: this node tries to adopt the match itself. If it succeeds, or still owns the match, the
  match thaws here. If another node has it, the connections move to that one. Until the store says
  so, the match stays frozen, and nobody loses time.
- This node or the other one dies: the match is an orphan then, and is taken over like all matches
  of dead nodes (`takeover.py`). Its inputs are in the rows of this node, which keeps them until the
  other one has stored its own.

Matches of contests and rooms do not move, nor do those of bots with a tunnel, which ends at this
node.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter

import structlog

from botdrome.match.events import Player
from botdrome.server.battlebot import NATIVE
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.failures import log_failure
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import CalledBot
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.nodes.carrying import HeldInput, front_of, give_back, hold_input
from botdrome.server.nodes.cluster import Cluster, NodeId, choose
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.shared_tables import SharedTables
from botdrome.server.nodes.takeover import (
    TOPIC,
    KeptMatches,
    MatchNotTaken,
    MatchTaken,
    MovingMatch,
    TakeMatches,
    decode,
    encode,
)
from botdrome.server.session import MovedSeat, Session, Transfer
from botdrome.server.tables.kept_table import KeptTable
from botdrome.store.entries import Fenced, StoreUnavailable

log = structlog.get_logger()

AT_ONCE = 20
"""Matches that move together."""
ANSWER = 5.0
"""Seconds for the other node to answer."""
CALLS = 10.0
"""Seconds for bots that were called for a move. Then the other node asks them again."""
ATTEMPTS = 10
"""Attempts to move all matches before a node stops."""
LONGEST = 20.0
"""Seconds for all matches to move before a node stops."""
PAUSE = 0.1
"""Seconds between two looks for matches that can move."""
LARGEST = 256 << 10
"""Bytes of inputs that are sent to the other node. It reads more from the store."""
MATCH_LOST = "your match goes on at another node; connect again, and log in with its id"


class Departure:
    """A match that moves away."""

    def __init__(self, table: KeptTable, mover: Mover) -> None:
        """Freeze it."""
        self.table, self.id, self._mover = table, table.entry.id, mover
        self.now = table.freeze()
        self._held: dict[Player, tuple[Session, HeldInput]] = {}
        self.called: list[Player] = []
        for player, seated in table.seated.items():
            if isinstance(seated, Session):
                self._held[player] = seated, hold_input(seated)
            else:
                self.called.append(player)
        self.watchers: tuple[NodeId, ...] = ()
        """The nodes that the other node was told to show the match."""
        self.taken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """The answer of the other node."""

    def described(self, watchers: tuple[NodeId, ...]) -> MovingMatch:
        self.watchers = watchers
        chunk = self.table.saved_again(0, self.table.saved)
        small = sum(len(line) for line in chunk.lines) <= LARGEST
        return MovingMatch(
            self.id,
            self.now,
            tuple(self._held),
            tuple(self.called),
            watchers,
            chunk if small else None,
        )

    def stay(self) -> None:
        self.table.thaw()
        for session, held in self._held.values():
            give_back(session, held)

    def go(self, to: NodeId | None) -> None:
        """Let the players follow; None: the match has no live owner at present, so they connect
        again.
        """
        self.table.depart()
        for player, (session, held) in self._held.items():
            session.table = None
            if to is None:
                session.turn_away({"error": MATCH_LOST}, TRY_LATER)
            elif session.transfer_login is not None:
                _, (login,) = session.transfer_login
                seat = MovedSeat(
                    self.id,
                    player,
                    login,
                    session.name,
                    session.owner,
                    session.version,
                    session.registered,
                )
                self._mover.move(session, to, Transfer(NATIVE, seat=seat), (), held)


class Migration:
    def __init__(
        self, desk: Desk, cluster: Cluster, mover: Mover, kept: KeptMatches, shown: SharedTables
    ) -> None:
        self._desk, self._cluster, self._mover, self._kept, self._shown = (
            desk,
            cluster,
            mover,
            kept,
            shown,
        )
        self._departures: dict[str, tuple[NodeId, Departure]] = {}
        self._task: asyncio.Task[None] | None = None
        self._in_turn = asyncio.Lock()
        cluster.links.on(TOPIC, self._receive)
        cluster.links.on_lost.append(self._lose)
        cluster.members.on_change.append(self._look)

    # A drained node.

    def _look(self) -> None:
        if self._cluster.members.here.draining and self._task is None:
            self._task = asyncio.ensure_future(self._keep_moving())

    async def _keep_moving(self) -> None:
        """Move all matches that can move, until this node is drained no more."""
        try:
            while self._cluster.members.here.draining:
                await self.move_all()
                await asyncio.sleep(PAUSE)
        finally:
            self._task = None

    async def finish(self) -> None:
        """Wait until all matches that can move have moved, but not for long."""
        moving = asyncio.ensure_future(self._try_often())
        await asyncio.wait([moving], timeout=LONGEST)

    async def _try_often(self) -> None:
        for _ in range(ATTEMPTS):
            await self.move_all()
            if not any(map(self._target, self._movable())):
                break
            await asyncio.sleep(PAUSE)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def move_all(self) -> None:
        groups: defaultdict[NodeId, list[KeptTable]] = defaultdict(list)
        for table in self._movable():
            if (to := self._target(table)) is not None:
                groups[to].append(table)
        for to, tables in groups.items():
            for first in range(0, len(tables), AT_ONCE):
                try:
                    async with self._in_turn:
                        await self._move(
                            [
                                table
                                for table in tables[first : first + AT_ONCE]
                                if _can_move(table)
                            ],
                            to,
                        )
                except Exception:
                    log_failure("matches could not move to another node")

    def _movable(self) -> list[KeptTable]:
        tables = [self._desk.tables[live.id] for live in self._desk.tables.live()]
        return [table for table in tables if isinstance(table, KeptTable) and _can_move(table)]

    def _target(self, table: KeptTable) -> NodeId | None:
        """Return the node of a player's socket, else a node of this machine, else any; None: all
        are drained.
        """
        members = self._cluster.members
        able = {
            one: node
            for one, node in members.nodes.items()
            if not node.draining and one != self._cluster.here
        }
        fronts = {
            front_of(seated, self._cluster.here)
            for seated in table.seated.values()
            if isinstance(seated, Session)
        }
        near = [node for node in able.values() if node.machine == members.here.machine]
        wanted = (
            [able[front] for front in sorted(fronts & able.keys())] or near or list(able.values())
        )
        return choose(table.entry.id, wanted).id if wanted else None

    async def _move(self, tables: Sequence[KeptTable], to: NodeId) -> None:
        await self._desk.store.journal.settled()  # the matches have begun there, too
        await self._let_calls_end(tables)
        for table in tables:
            if not _can_move(table):
                table.ask_again()
        departures = [Departure(table, self._mover) for table in tables if _can_move(table)]
        ids = [one.id for one in departures]
        began = perf_counter()
        if not departures:
            return None
        if not await self._kept.keeper.flush([one.table for one in departures]):
            return _stay(departures)
        try:
            released = await self._kept.rows.release(ids)
        except StoreUnavailable as problem:
            log.warning(
                "nobody knows whether matches could be released",
                matches=len(ids),
                problem=str(problem),
            )
        else:
            _stay([one for one in departures if one.id not in released])
            departures = [one for one in departures if one.id in released]
            await self._offer(departures, to)
        await asyncio.gather(*(self._conclude(one, to) for one in departures))
        log.info(
            "matches moved",
            node=to,
            matches=len(departures),
            seconds=round(perf_counter() - began, 3),
        )

    async def _let_calls_end(self, tables: Sequence[KeptTable]) -> None:
        """Let the bots that were called for a move answer, and call none of them meanwhile."""
        for table in tables:
            table.asks = False
        seated = [
            one for table in tables for one in table.seated.values() if isinstance(one, CalledBot)
        ]
        calls = [call for bot in seated if (call := bot.call) is not None]
        if calls:
            await asyncio.wait(calls, timeout=CALLS)

    async def _offer(self, departures: Sequence[Departure], to: NodeId) -> None:
        """Tell the other node, and wait for its answers."""
        for one in departures:
            self._departures[one.id] = to, one
        here = self._cluster.here
        self._send(
            to,
            TakeMatches(
                [one.described(self._shown.watchers(one.table, here)) for one in departures]
            ),
        )
        if departures:
            await asyncio.wait([one.taken for one in departures], timeout=ANSWER)
        for one in departures:
            del self._departures[one.id]

    async def _conclude(self, departure: Departure, to: NodeId) -> None:
        if departure.taken.done() and departure.taken.result():
            return self._leave(departure, to)
        owner = await self._owner(departure.id)
        if owner == self._cluster.here:
            return departure.stay()
        log.warning(
            "a match went on at another node than was asked", match=departure.id, node=owner
        )
        return self._leave(departure, owner)

    def _leave(self, departure: Departure, to: NodeId) -> None:
        told = departure.watchers if departure.taken.done() and departure.taken.result() else ()
        self._shown.depart(departure.table, to, told, self._cluster.here)
        departure.go(to if to in self._cluster.members.nodes else None)

    async def _owner(self, match_id: str) -> NodeId:
        """Adopt a match that was released, unless another node has done so. Return its owner."""
        while True:
            try:
                if await self._desk.store.adopt([match_id]):
                    return self._cluster.here
                entry = await self._desk.store.match(match_id)
                return "" if entry is None else entry.node
            except Fenced:
                return ""
            except StoreUnavailable:
                await asyncio.sleep(PAUSE)

    # Messages between nodes.

    def _send(self, to: NodeId, message: TakeMatches | MatchTaken | MatchNotTaken) -> None:
        self._cluster.links.send(to, TOPIC, encode(message))

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = decode(payload)
        if isinstance(message, TakeMatches):
            self._desk.tasks.start(self._take(node, message))
        elif (found := self._departures.get(message.match)) is not None and not found[
            1
        ].taken.done():
            found[1].taken.set_result(isinstance(message, MatchTaken))

    async def _take(self, node: NodeId, message: TakeMatches) -> None:
        taken: list[str] = []
        if not self._cluster.members.here.draining:
            with suppress(StoreUnavailable):
                taken = await self._kept.takeover.take_moved(message.matches)
        for one in message.matches:
            if one.match in taken and (table := self._desk.tables[one.match]) is not None:
                self._shown.arrive(table, one.watchers, self._cluster.here)
            self._send(
                node, MatchTaken(one.match) if one.match in taken else MatchNotTaken(one.match)
            )

    def _lose(self, node: NodeId) -> None:
        for to, departure in self._departures.values():
            if to == node and not departure.taken.done():
                departure.taken.set_result(False)


def _can_move(table: KeptTable) -> bool:
    return (
        table.can_leave
        and table.resumes
        and table.entry.contest is None
        and all(map(_follows, table.seated.values()))
    )


def _follows(seated: object) -> bool:
    """Whether a player can play at another node."""
    if isinstance(seated, CalledBot):
        return not seated.url.startswith(SCHEME)
    return isinstance(seated, Session) and seated.transfer_login is not None and not seated.closed


def _stay(departures: Sequence[Departure]) -> None:
    for departure in departures:
        departure.stay()
