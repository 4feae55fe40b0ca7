"""Takeover: resumes the matches of a dead node here, from the inputs that it stored.

Matches of contests are aborted, and played again by their contests. So are games of rooms, whose
players can return nowhere else.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter, time

import msgspec
import structlog
from msgspec import Struct

from botdrome.catalogue import restored_game
from botdrome.match.events import Player
from botdrome.match.inputs import DECODE
from botdrome.match.record import UNPLAYABLE, BadRecord, Resumption
from botdrome.match.terms import Milliseconds
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import BOT, NOBODY, bot_owner
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import HouseSeat, house_bot
from botdrome.server.lobby.url_bots import BotUnavailable, Callee, Invitations
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.membership import Membership
from botdrome.server.tables.kept_table import (
    InputChunk,
    InputKeeper,
    KeptMatch,
    MatchHead,
    ResumedTable,
    chunks_in,
    unpack_head,
)
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import MatchEntry, StoreUnavailable
from botdrome.store.nodes import InputRows

# What nodes tell each other when matches move from one to the other.

TOPIC = "migration"


class MovingMatch(Struct, frozen=True, array_like=True):
    match: str
    now: Milliseconds
    """The time at which its clock stands."""
    seated: tuple[Player, ...]
    """The players whose connections follow."""
    called: tuple[Player, ...]
    """The players that the server calls."""
    watchers: tuple[NodeId, ...] = ()
    """The nodes at which people watch it."""
    inputs: InputChunk | None = None
    """All its inputs; None: they are many, and only in the store."""


class TakeMatches(Struct, frozen=True, array_like=True, tag="t"):
    """To a node: adopt these matches, which this node has released."""

    matches: list[MovingMatch]


class MatchTaken(Struct, frozen=True, array_like=True, tag="y"):
    """The answer: the match waits for its players."""

    match: str


class MatchNotTaken(Struct, frozen=True, array_like=True, tag="n"):
    """The answer: the match does not run there."""

    match: str


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(TakeMatches | MatchTaken | MatchNotTaken).decode

log = structlog.get_logger()

SLICE = 0.002
"""Seconds of work after which other tasks of the loop have their turn."""
INPUTS = 10
"""Inputs that are replayed between two looks at the clock."""
NO_INPUTS = "its node ended without notice, before its first inputs were stored"
OF_CONTEST = "its node ended without notice; the contest plays it again"
OF_ROOM = "its node ended without notice, and its players cannot return at another node"
EVERYTHING = 1 << 62
BAD_INPUTS = "its node ended without notice, and its inputs cannot be replayed"


class Pacer:
    """Lets other tasks of the loop run every few milliseconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        """The longest time without a rest, in seconds."""
        self.begin()

    def begin(self) -> None:
        """Other tasks had their turn."""
        self._began = perf_counter()

    async def rest(self) -> None:
        passed = perf_counter() - self._began
        if passed > SLICE:
            self.longest = max(passed, self.longest)
            await asyncio.sleep(0)
            self.begin()


class Takeover:
    def __init__(
        self,
        desk: Desk,
        rows: InputRows,
        invitations: Invitations,
        grace: float,
        retry: Callable[[Sequence[MatchEntry]], None],
    ) -> None:
        """`grace`: the seconds in which players may return before the terms apply.

        `retry` has `take_over` called again.
        """
        self._desk, self._rows, self._invitations, self._grace = desk, rows, invitations, grace
        self._retry = retry
        self._resumed: set[str] = set()
        """The matches from dead nodes that run here."""

    async def take_over(self, entries: Sequence[MatchEntry]) -> None:
        """Resume matches that this node has adopted, or abort them.

        Calling it again skips those that run here.
        """
        began = perf_counter()
        missing = [entry for entry in entries if self._desk.tables[entry.id] is None]
        pacer = Pacer()
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
        await self._rows.clean()
        log.warning(
            "matches of dead nodes were taken over",
            resumed=len(missing) - len(lost),
            lost=len(lost),
            seconds=round(perf_counter() - began, 3),
            longest_pause=round(pacer.longest, 4),
        )

    async def take_moved(self, moving: Sequence[MovingMatch]) -> list[str]:
        """Adopt matches that a live node has released, and go on with them.

        Return the ids of those that run here now.
        """
        wanted, pacer = {one.match: one for one in moving}, Pacer()
        entries = await self._desk.store.adopt(list(wanted))
        try:
            stored = await self._kept(
                [entry for entry in entries if wanted[entry.id].inputs is None], pacer
            )
            for entry in entries:
                one = wanted[entry.id]
                kept = stored.get(entry.id) or KeptMatch()
                if one.inputs is not None:
                    kept.add(one.inputs)
                await self._resume(entry, kept, pacer, one)
        except Exception:
            log_failure("matches that move here could not be resumed")
            self._retry(entries)
        tables = [
            table
            for entry in entries
            if isinstance(table := self._desk.tables[entry.id], ResumedTable)
        ]
        if self._desk.tables.keeper is not None:
            await self._desk.tables.keeper.flush(tables)  # the former node deletes its own rows
        return [table.entry.id for table in tables]

    async def _kept(self, entries: Sequence[MatchEntry], pacer: Pacer) -> dict[str, KeptMatch]:
        """Return each match as its last former node has kept it; if that one had stored nothing
        yet, as the one before.
        """
        kept: dict[tuple[NodeId, str], KeptMatch] = {
            (node, entry.id): KeptMatch() for entry in entries for node in entry.former
        }
        for node in {node for node, _ in kept}:
            name, _, epoch = node.rpartition(".")
            rows = await self._rows.read(name, int(epoch))
            pacer.begin()
            for _, data in rows:
                for chunk in chunks_in(data):
                    if (match := kept.get((node, chunk.match))) is not None:
                        match.add(chunk)
                await pacer.rest()
        last = {
            entry.id: [kept[node, entry.id] for node in entry.former if kept[node, entry.id].head]
            for entry in entries
        }
        return {match: found[-1] for match, found in last.items() if found}

    async def _resume(
        self, entry: MatchEntry, kept: KeptMatch, pacer: Pacer, moving: MovingMatch | None = None
    ) -> None:
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
        return self._go_on(table, head) if moving is None else self._move_in(table, moving)

    def _move_in(self, table: ResumedTable, moving: MovingMatch) -> None:
        for player in range(table.match.players):
            self._seat_house(table, player)
        table.move_in({*moving.seated, *moving.called}, moving.now, self._grace)
        self._call_back(table)
        for player in moving.called:
            self._desk.tasks.start(self._call(table, player))

    def _go_on(self, table: ResumedTable, head: MatchHead) -> None:
        match, entry = table.match, table.entry
        if match.result is None and (entry.contest is not None or not head.resumes):
            table.go_on(set(), self._grace)
            return table.abort(OF_ROOM if entry.contest is None else OF_CONTEST)
        house = {player for player in range(match.players) if self._seat_house(table, player)}
        expected = set(range(match.players)) - house - match.away - match.dismissed.keys()
        table.go_on(expected, self._grace)
        for player in sorted(expected):
            if entry.owners[player].startswith(f"{BOT} "):
                self._desk.tasks.start(self._call(table, player))
        return self._call_back(table)

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
        found = (
            house_bot(entry.game, name)
            if name.startswith("house:") and entry.owners[player] == NOBODY
            else None
        )
        if found is not None:
            HouseSeat(self._desk.workers, table, player, found[1]).sit_down()
        return found is not None

    def _call_back(self, table: ResumedTable) -> None:
        """Call the bots that were away before, until they answer."""
        match = table.match
        for player in (
            sorted(match.away - match.dismissed.keys()) if match.terms.gone == "wait" else ()
        ):
            if table.entry.owners[player].startswith(f"{BOT} "):
                self._desk.tasks.start(self._await(table, player))

    async def _await(self, table: ResumedTable, player: Player) -> None:
        with suppress(StoreUnavailable):
            callee = await self._callee(table.entry, player)
            if callee is not None and table.open and table.match.result is None:
                bot = self._invitations.bot(callee)
                bot.sit_down(table, player)
                await bot.come_back()

    async def _callee(self, entry: MatchEntry, player: Player) -> Callee | None:
        """Return the bot of a seat if the server can call it."""
        callee = await self._invitations.find(entry.players[player], entry.game)
        return None if callee is None or bot_owner(callee.bot) != entry.owners[player] else callee

    async def _call(self, table: ResumedTable, player: Player) -> None:
        """Seat a bot that the server calls."""
        try:
            callee = await self._callee(table.entry, player)
            if callee is None:
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

    def __init__(self, rows: InputRows, keeper: InputKeeper, takeover: Takeover) -> None:
        self.rows, self.keeper, self.takeover = rows, keeper, takeover

    async def close(self) -> None:
        """All matches are over: delete their inputs."""
        await self.keeper.close()
        with suppress(StoreUnavailable):
            await self.rows.delete_before(EVERYTHING)
        await self.rows.close()


async def keep_matches(desk: Desk, members: Membership, invitations: Invitations) -> KeptMatches:
    """Store the inputs of all matches from now on, and resume those of dead nodes."""
    here, grace = members.here, desk.settings.cluster.grace
    rows = InputRows(desk.store.source.place, desk.settings.store_shown, here.name, here.epoch)
    await rows.open()
    keeper = desk.tables.keeper = InputKeeper(rows)
    takeover = Takeover(desk, rows, invitations, grace, members.retry)
    members.take_over = takeover.take_over
    return KeptMatches(rows, keeper, takeover)
