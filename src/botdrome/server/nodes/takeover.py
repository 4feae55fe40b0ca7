"""Takeover: resumes the matches of another node here, from the inputs that it stored.

A node that has died leaves orphans. A node that is drained makes them on purpose: `Release` stops
each match, stores its inputs and releases it, which one statement does. Adopting an orphan is one
statement, too, and only one node succeeds. So a match is never at two nodes, whatever fails.

Matches of contests are aborted, and played again by their contests. So are games of rooms, whose
players can return nowhere else.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter, time

import structlog
from msgspec import Struct

from botdrome.catalogue import restored_game
from botdrome.match.events import Player
from botdrome.match.inputs import DECODE
from botdrome.match.record import UNPLAYABLE, BadRecord, Resumption
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import BOT, NOBODY, bot_owner
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import HouseSeat, house_bot
from botdrome.server.lobby.url_bots import CalledBot, Callee, Invitations
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.nodes.asking import Asking, NoAnswer
from botdrome.server.nodes.cluster import NodeId, able, choose
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.moving import HeldInput, Mover
from botdrome.server.nodes.rooms import Cluster
from botdrome.server.nodes.shared_tables import SharedTables
from botdrome.server.session import Session, Transfer
from botdrome.server.tables.kept_table import (
    InputKeeper,
    KeptMatch,
    KeptTable,
    MatchHead,
    chunks_in,
    unpack_head,
)
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import MatchEntry, StoreUnavailable
from botdrome.store.nodes import InputRows


class TakeMatches(Struct, frozen=True):
    """The question to a node: which of these matches, which were released, run with you now?"""

    matches: list[str]


log = structlog.get_logger()

SLICE = 0.002
"""Seconds of work after which other tasks of the loop have their turn."""
INPUTS = 10
"""Inputs that are replayed between two looks at the clock."""
NO_INPUTS = "its node ended without notice, before its first inputs were stored"
OF_CONTEST = "its node ended without notice; the contest plays it again"
OF_ROOM = "its node ended without notice, and its players cannot return at another node"
BAD_INPUTS = "its node ended without notice, and its inputs cannot be replayed"

AT_ONCE = 100
"""Matches that are released together."""
ANSWER = 5.0
"""Seconds for the other node to answer."""
LONGEST = 20.0
"""Seconds for all matches to be released before a node stops."""
PAUSE = 0.1
"""Seconds between two looks for matches that can be released."""
SOON = 0.01
"""Seconds between two looks whether a match that is being resumed runs."""
MATCH_LOST = "your match goes on at another node; connect again, and log in with its id"


class Pacer:
    """Lets other tasks of the loop run every few milliseconds."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Other tasks had their turn."""
        self._began = perf_counter()

    async def rest(self) -> None:
        if perf_counter() - self._began > SLICE:
            await asyncio.sleep(0)
            self.begin()


class Takeover:
    def __init__(
        self,
        desk: Desk,
        rows: InputRows,
        invitations: Invitations,
        retry: Callable[[Sequence[str]], None],
    ) -> None:
        """`retry` has `take_over` called again."""
        self._desk, self.rows, self._invitations, self._retry = desk, rows, invitations, retry
        self.keeper = desk.tables.keeper = InputKeeper(rows)
        self._grace = desk.settings.cluster.grace
        """Seconds in which players may return before the terms apply."""
        self._resumed: set[str] = set()
        """The matches of other nodes that run here."""
        self.changing: set[str] = set()
        """The matches that are being taken over or released."""

    async def take_over(self, entries: Sequence[MatchEntry]) -> None:
        """Resume matches that this node has adopted, or abort them.

        Calling it again skips those that run here.
        """
        missing = [
            entry
            for entry in entries
            if self._desk.tables[entry.id] is None and entry.id not in self.changing
        ]
        if missing:
            with self.change([entry.id for entry in missing]):
                await self._take_over(missing)

    @contextmanager
    def change(self, match_ids: Sequence[str]) -> Iterator[None]:
        """Meanwhile these matches are not taken over."""
        self.changing.update(match_ids)
        try:
            yield
        finally:
            self.changing.difference_update(match_ids)

    async def _take_over(self, missing: Sequence[MatchEntry]) -> None:
        began, pacer = perf_counter(), Pacer()
        kept = await self._kept(missing, pacer)
        lost: list[str] = []
        for entry in missing:
            match = kept.get(entry.id)
            if match is None:
                lost.append(entry.id)
            else:
                await self._resume(entry, match, pacer)
        if lost:
            await self._desk.store.abort(lost, NO_INPUTS, int(time() * 1000))
        await self.rows.clean()
        log.warning(
            "matches of other nodes were taken over",
            resumed=len(missing) - len(lost),
            lost=len(lost),
            seconds=round(perf_counter() - began, 3),
        )

    async def take(self, question: TakeMatches) -> list[str]:
        """Resume matches that a drained node has released. Return the ids of those that run here.

        Once adopted, they are resumed even if nobody waits for the answer any more.
        """
        taking = asyncio.ensure_future(self._take(question.matches))
        return await asyncio.shield(taking)

    async def _take(self, match_ids: list[str]) -> list[str]:
        try:
            await self.take_over(await self._desk.store.adopt(match_ids))
            while not self.changing.isdisjoint(match_ids):  # they were found as orphans before
                await asyncio.sleep(SOON)
        except Exception:
            log_failure("matches that were released could not be resumed")
            self._retry(match_ids)
        return [match_id for match_id in match_ids if self._desk.tables[match_id] is not None]

    async def _kept(self, entries: Sequence[MatchEntry], pacer: Pacer) -> dict[str, KeptMatch]:
        """Return each match as its former nodes have kept it: each has the inputs of those before,
        as far as they were stored.
        """
        kept = {entry.id: KeptMatch() for entry in entries}
        for node in {node for entry in entries for node in entry.former}:
            name, _, epoch = node.rpartition(".")
            rows = await self.rows.read(name, int(epoch))
            pacer.begin()
            for _, data in rows:
                for chunk in chunks_in(data):
                    if (match := kept.get(chunk.match)) is not None:
                        match.add(chunk)
                await pacer.rest()
        return {match_id: match for match_id, match in kept.items() if match.head}

    async def _resume(self, entry: MatchEntry, kept: KeptMatch, pacer: Pacer) -> None:
        head = unpack_head(kept.head)
        try:
            resumption = Resumption(
                head.setup, restored_game(head.setup), (DECODE(line).input for line in kept.lines)
            )
            while resumption.advance(INPUTS):
                await pacer.rest()
        except (BadRecord, *UNPLAYABLE) as problem:
            log.error(
                "the inputs of a match cannot be replayed", match=entry.id, problem=str(problem)
            )
            return await self._desk.store.abort([entry.id], BAD_INPUTS, int(time() * 1000))
        await pacer.rest()
        table = self._desk.tables.resume(entry, resumption, head.resumes)
        self._resumed.add(entry.id)
        table.subscribe(Subscriber(over=self._over))
        return self._go_on(table, head)

    def _go_on(self, table: KeptTable, head: MatchHead) -> None:
        match, entry = table.match, table.entry
        if match.result is None and (entry.contest is not None or not head.resumes):
            table.go_on(set(), self._grace)
            return table.abort(OF_ROOM if entry.contest is None else OF_CONTEST)
        house = {player for player in range(match.players) if self._seat_house(table, player)}
        expected = set(range(match.players)) - house - match.away - match.dismissed.keys()
        table.go_on(expected, self._grace)
        away = match.away - match.dismissed.keys() if match.terms.gone == "wait" else set()
        for player in sorted(expected | away):
            if entry.owners[player].startswith(f"{BOT} "):
                self._desk.tasks.start(self._call(table, player))
        return None

    def _over(self, table: Table) -> None:
        self._resumed.discard(table.entry.id)
        if not self._resumed:
            self._desk.tasks.start(self._clean())

    async def _clean(self) -> None:
        with suppress(StoreUnavailable):  # the next takeover does it
            await self.rows.clean()

    def _seat_house(self, table: KeptTable, player: Player) -> bool:
        entry = table.entry
        name = entry.players[player].partition(" ")[0]
        found = (
            house_bot(entry.game, name)
            if name.startswith("house:") and entry.owners[player] == NOBODY
            else None
        )
        if found is not None:
            HouseSeat(self._desk.workers, table, player, found[1]).sit_down()
        return found is not None

    async def _callee(self, entry: MatchEntry, player: Player) -> Callee | None:
        """Return the bot of a seat if the server can call it."""
        callee = await self._invitations.find(entry.players[player], entry.game)
        return None if callee is None or bot_owner(callee.bot) != entry.owners[player] else callee

    async def _call(self, table: KeptTable, player: Player) -> None:
        """Call a bot with a URL until it answers, and seat it."""
        with suppress(StoreUnavailable):
            callee = await self._callee(table.entry, player)
            if callee is not None and table.open and table.match.result is None:
                bot = self._invitations.bot(callee)
                bot.sit_down(table, player)
                await bot.come_back(first=0.0)

    async def close(self) -> None:
        """This node has left: delete its inputs, unless matches that were released need them."""
        await self.keeper.close()
        await self._clean()
        await self.rows.close()


async def keep_matches(desk: Desk, members: Membership, invitations: Invitations) -> Takeover:
    """Store the inputs of all matches from now on, and resume those of dead nodes."""
    here = members.here
    rows = InputRows(desk.store.source.place, desk.settings.store_shown, here.name, here.epoch)
    await rows.open()
    takeover = Takeover(desk, rows, invitations, members.retry)
    members.take_over = takeover.take_over
    return takeover


class Release:
    """Lets the matches of a drained node go on at others.

    Matches of contests and rooms stay, and those of bots with a tunnel, which ends at this node.
    """

    def __init__(
        self,
        desk: Desk,
        cluster: Cluster,
        mover: Mover,
        takeover: Takeover,
        shown: SharedTables,
        asking: Asking,
    ) -> None:
        self._desk, self._cluster, self._mover = desk, cluster, mover
        self._takeover, self._shown, self._asking = takeover, shown, asking
        self._task: asyncio.Task[None] | None = None
        self._in_turn = asyncio.Lock()
        self._silent: set[NodeId] = set()
        """Nodes that have not answered; they are not asked again."""
        asking.on(TakeMatches, takeover.take)
        cluster.members.on_change.append(self._look)

    def _look(self) -> None:
        if self._cluster.drained and self._task is None:
            self._task = asyncio.ensure_future(self._wait())

    async def _wait(self) -> None:
        """Give the matches time to end."""
        self._silent.clear()
        try:
            await asyncio.sleep(self._desk.settings.drain)
            while self._cluster.drained:
                await self._release_all()
                await asyncio.sleep(PAUSE)
        finally:
            self._task = None

    async def finish(self) -> None:
        """This node stops: release what can be released, but do not wait for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST):
                while self._cluster.drained:
                    await self._release_all()  # after one that is under way
                    if not self._left():
                        break
                    await asyncio.sleep(PAUSE)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _left(self) -> list[KeptTable]:
        tables = [self._desk.tables[live.id] for live in self._desk.tables.live()]
        return [table for table in tables if isinstance(table, KeptTable) and _may_leave(table)]

    async def _release_all(self) -> None:
        async with self._in_turn:
            groups: defaultdict[NodeId, list[KeptTable]] = defaultdict(list)
            for table in self._left():
                groups[self._target(table)].append(table)
            for to, tables in groups.items():
                for first in range(0, len(tables), AT_ONCE):
                    target = self._target(tables[first]) if to in self._silent else to
                    try:
                        await self._release(tables[first : first + AT_ONCE], target)
                    except Exception:
                        log_failure("matches could not be released")

    def _target(self, table: KeptTable) -> NodeId:
        """Return a node of this machine, which can have the sockets; else any other one."""
        members = self._cluster.members
        nodes = able(members.nodes.values())
        nodes = [node for node in nodes if node.id not in self._silent] or nodes
        near = [node for node in nodes if node.machine == members.here.machine]
        return choose(table.entry.id, near or nodes).id

    async def _release(self, tables: Sequence[KeptTable], to: NodeId) -> None:
        await self._desk.store.journal.settled()  # the matches have begun there, too
        began, held = perf_counter(), dict[Session, HeldInput]()
        tables = [table for table in tables if table.can_leave and _may_leave(table)]
        if not tables:
            return
        with self._takeover.change([table.entry.id for table in tables]):
            for table in tables:
                table.halt()
                self._desk.tables.remove(table)
                for one in table.seated.values():
                    if isinstance(one, Session) and (holding := self._mover.hold(one, to)):
                        held[one] = holding
            while not await self._give_up(tables):
                await asyncio.sleep(PAUSE)
        for table in tables:
            self._shown.depart(table)
        taken = await self._ask(to, [table.entry.id for table in tables])
        for table in tables:
            self._let_go(table, to, held)
        log.info(
            "matches were released",
            node=to,
            matches=len(tables),
            taken=len(taken),
            seconds=round(perf_counter() - began, 3),
        )

    async def _give_up(self, tables: Sequence[KeptTable]) -> bool:
        """Store the inputs and make orphans of the matches; False: the store is away.

        If nobody knows whether that has happened, it can be done again.
        """
        with suppress(StoreUnavailable):
            if await self._takeover.keeper.flush(tables):
                await self._takeover.rows.release([table.entry.id for table in tables])
                return True
        return False

    async def _ask(self, to: NodeId, match_ids: list[str]) -> list[str]:
        """Have a node resume the matches, and return those that run there.

        If it does not answer, the matches are found as those of dead nodes are.
        """
        if to not in self._silent:
            try:
                return await self._asking.ask(to, TakeMatches(match_ids), list[str], ANSWER)
            except (NoAnswer, StoreUnavailable) as problem:
                log.warning("a node was asked to resume matches", node=to, problem=str(problem))
                self._silent.add(to)
        return []

    def _let_go(self, table: KeptTable, to: NodeId, held: dict[Session, HeldInput]) -> None:
        players = table.seated
        table.depart()
        for player, one in players.items():
            if isinstance(one, Session):
                try:
                    self._send_away(one, player, to, table.entry.id, held.get(one))
                except Exception:
                    log_failure("a player of a released match could not be sent on")

    def _send_away(
        self, session: Session, player: Player, to: NodeId, match: str, held: HeldInput | None
    ) -> None:
        """Hand over the client's socket, or let the client connect again."""
        session.table = None
        if held is None or session.transfer_login is None:
            return session.turn_away({"error": MATCH_LOST}, TRY_LATER)
        transfer = Transfer(session.protocol, match=match, player=player)
        return self._mover.move(session, to, transfer, held)


def _may_leave(table: KeptTable) -> bool:
    """Whether a match can be released, now or in a moment."""
    seated = table.seated.values()
    tunnel = any(isinstance(one, CalledBot) and one.url.startswith(SCHEME) for one in seated)
    bound = tunnel or not table.resumes or table.entry.contest is not None
    return not bound and table.match.result is None
