"""Takeover: resumes the matches of a dead node here, from the inputs that it stored.

Matches of contests are aborted, and played again by their contests. So are games of rooms, whose players can return nowhere else.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter, time

import structlog

from botdrome.formats import restored_game
from botdrome.match.events import Player
from botdrome.match.input_log import DECODE
from botdrome.match.record import UNPLAYABLE, BadRecord
from botdrome.match.resuming import Resumption
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import HouseSeat, house_bot
from botdrome.server.lobby.invitations import BotUnavailable, Invitations
from botdrome.server.lobby.owners import BOT, NOBODY, bot_owner
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.node import NodeId
from botdrome.server.tables.input_keeper import InputKeeper
from botdrome.server.tables.kept_inputs import KeptMatch, MatchHead, chunks_in, unpack_head
from botdrome.server.tables.resumed_table import ResumedTable
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.input_rows import InputRows
from botdrome.store.store import MatchEntry, Store, StoreUnavailable

log = structlog.get_logger()

SLICE = 0.004
"""Seconds of work after which other tasks of the loop have their turn."""
INPUTS = 100
"""Inputs that are replayed between two looks at the clock."""
NO_INPUTS = "its node ended without notice, before its first inputs were stored"
OF_CONTEST = "its node ended without notice; the contest plays it again"
OF_ROOM = "its node ended without notice, and its players cannot return at another node"
EVERYTHING = 1 << 62
BAD_INPUTS = "its node ended without notice, and its inputs cannot be replayed"


class Pacer:
    """Lets other tasks of the loop run every few milliseconds."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def rest(self) -> None:
        if perf_counter() - self._began > SLICE:
            await asyncio.sleep(0)
            self._began = perf_counter()


class Takeover:
    def __init__(self, desk: Desk, rows: InputRows, invitations: Invitations, grace: float) -> None:
        """`grace`: the seconds in which players may return before the terms apply."""
        self._desk, self._rows, self._invitations, self._grace = desk, rows, invitations, grace
        self._resumed: set[str] = set()
        """The matches from dead nodes that run here."""

    async def take_over(self, entries: Sequence[MatchEntry]) -> None:
        """Resume matches that this node has adopted, or abort them. Calling it again skips those that run here."""
        began = perf_counter()
        missing = [entry for entry in entries if self._desk.tables[entry.id] is None]
        kept = await self._kept(missing)
        lost: list[str] = []
        pacer = Pacer()
        for entry in missing:
            match = kept.get(entry.id)
            if match is None or not match.head:
                lost.append(entry.id)
            else:
                await self._resume(entry, match, pacer)
        if lost:
            await self._desk.store.abort(lost, NO_INPUTS, int(time() * 1000))
        await self._rows.clean()
        seconds = round(perf_counter() - began, 3)
        log.warning("matches of dead nodes were taken over", resumed=len(missing) - len(lost), lost=len(lost), seconds=seconds)

    async def _kept(self, entries: Sequence[MatchEntry]) -> dict[str, KeptMatch]:
        """Return what the former nodes of these matches have stored, the oldest node first."""
        found = {entry.id: KeptMatch() for entry in entries}
        pacer = Pacer()
        for node in sorted({node for entry in entries for node in entry.former}, key=_epoch):
            name, _, epoch = node.rpartition(".")
            for row in await self._rows.read(name, int(epoch)):
                for chunk in chunks_in(row):
                    if (match := found.get(chunk.match)) is not None:
                        match.add(chunk)
                await pacer.rest()
        return found

    async def _resume(self, entry: MatchEntry, kept: KeptMatch, pacer: Pacer) -> None:
        head = unpack_head(kept.head)
        try:
            resumption = Resumption(head.setup, restored_game(head.setup), (DECODE(line).input for line in kept.lines))
            while resumption.advance(INPUTS):
                await pacer.rest()
        except (BadRecord, *UNPLAYABLE) as problem:
            log.error("the inputs of a match cannot be replayed", match=entry.id, problem=str(problem))
            return await self._desk.store.abort([entry.id], BAD_INPUTS, int(time() * 1000))
        await pacer.rest()
        table = self._desk.tables.resume(entry, resumption, head.resumes)
        self._resumed.add(entry.id)
        table.subscribe(Subscriber(over=self._over))
        return self._go_on(table, head)

    def _go_on(self, table: ResumedTable, head: MatchHead) -> None:
        match, entry = table.match, table.entry
        if match.result is None and (entry.contest is not None or not head.resumes):
            table.go_on(set(), self._grace)
            return table.abort(OF_ROOM if entry.contest is None else OF_CONTEST)
        course = match.course
        house = {player for player in range(match.players) if self._seat_house(table, player)}
        expected = set(range(match.players)) - house - course.away - course.dismissed.keys()
        table.go_on(expected, self._grace)
        for player in sorted(expected):
            if entry.owners[player].startswith(f"{BOT} "):
                self._desk.tasks.start(self._call(table, player))
        return None

    def _over(self, table: Table) -> None:
        self._resumed.discard(table.entry.id)
        if not self._resumed:
            self._desk.tasks.start(self._clean())

    async def _clean(self) -> None:
        with suppress(StoreUnavailable):  # the next takeover does it
            await self._rows.clean()

    def _seat_house(self, table: ResumedTable, player: Player) -> bool:
        entry = table.entry
        name = entry.players[player].partition(" ")[0]
        found = house_bot(entry.game, name) if name.startswith("house:") and entry.owners[player] == NOBODY else None
        if found is not None:
            HouseSeat(self._desk.workers, table, player, found[1]).sit_down()
        return found is not None

    async def _call(self, table: ResumedTable, player: Player) -> None:
        """Seat a bot that the server calls."""
        entry = table.entry
        try:
            callee = await self._invitations.find(entry.players[player], entry.game)
            if callee is None or bot_owner(callee.bot) != entry.owners[player]:
                return
            bot = await self._invitations.invite(callee)
        except (BotUnavailable, StoreUnavailable) as problem:
            table.note(player, b"", f"not called: {problem}")
            return
        bot.sit_down(table, player)
        if not table.rejoin(player, bot):
            bot.turn_away({})


class KeptMatches:
    """The inputs of this node's matches, which other nodes can resume."""

    def __init__(self, rows: InputRows, keeper: InputKeeper) -> None:
        self._rows, self._keeper = rows, keeper

    async def close(self) -> None:
        """All matches are over: delete their inputs."""
        await self._keeper.close()
        with suppress(StoreUnavailable):
            await self._rows.delete_before(EVERYTHING)
        await self._rows.close()


async def keep_matches(desk: Desk, members: Membership, invitations: Invitations) -> KeptMatches:
    """Store the inputs of all matches from now on, and resume those of dead nodes."""
    here, settings = members.here, desk.settings.cluster
    rows = InputRows(desk.store.source.place, desk.settings.store_shown, here.name, here.epoch, settings.hold_news)
    await rows.open()
    keeper = desk.tables.keeper = InputKeeper(rows, settings.hold_news)
    members.take_over = Takeover(desk, rows, invitations, settings.grace).take_over
    return KeptMatches(rows, keeper)


def _epoch(node: NodeId) -> int:
    return int(node.rpartition(".")[2])


async def owner_of(store: Store, match_id: str) -> NodeId | None:
    """Return the node that plays a match; None: it does not run, or a single server plays it."""
    entry = await store.match(match_id)
    return entry.node or None if entry is not None and entry.status == "running" else None
