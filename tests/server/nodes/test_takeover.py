"""Matches of a dead node at another one, on a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from botdrome.catalogue import CATALOGUE, restored
from botdrome.match.record import verify
from botdrome.protocols import load_settings
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import Invitations
from botdrome.server.nodes.takeover import NO_INPUTS, OF_CONTEST, OF_ROOM, keep_matches
from botdrome.server.tables.kept_table import KeptTable
from botdrome.server.tables.table import Table
from botdrome.store.entries import MatchEntry, StoreUnavailable
from botdrome.store.store import Store
from tests.patience import PATIENCE, until
from tests.server.nodes.joining import Member, cluster
from tests.server.tables.test_resumed_table import MOVES
from tests.server.tables.test_table import Hearer
from tests.store.entries import a_match

pytestmark = pytest.mark.anyio
Moves = list[tuple[int, Any]]
GAME = "noughts-and-crosses"


class Playing:
    """A node that plays matches."""

    def __init__(self, node: Member, url: str, **settings: Any) -> None:
        self.node = node
        self.settings = load_settings({"db": url, "cluster_grace": 3600.0} | settings)
        self.desk = Desk(node.store, self.settings)
        self.caller = BotCaller(self.settings)

    async def open(self) -> None:
        self.kept = await keep_matches(
            self.desk, self.node.members, Invitations(self.desk, self.caller)
        )

    def play(
        self,
        moves: list[tuple[int, Any]],
        names: tuple[str, str] = ("ada", "bob"),
        contest: str | None = None,
    ) -> KeptTable:
        row = CATALOGUE[GAME]
        owners = tuple("" if name.startswith("house:") else f"bot 1 {name}" for name in names)
        table = self.desk.tables.set_table(row.game, row.terms, names, owners, contest=contest)
        self.node.store.begin(table.entry)
        table.start()
        for player, move in moves:
            table.submit(player, move, b"")
        assert isinstance(table, KeptTable)
        return table

    async def stored(self, *tables: Table) -> None:
        """Wait until the inputs of these tables are stored."""
        keeper = self.desk.tables.keeper
        assert keeper is not None
        await until(lambda: keeper._waiting is None and keeper._writing is None)
        await self.node.store.journal.settled()

    async def die(self) -> None:
        """Its inputs are not deleted."""
        assert self.desk.tables.keeper is not None
        for live in self.desk.tables.live():
            table = self.desk.tables[live.id]
            if table is not None and table._timer is not None:
                table._timer.cancel()
        await self.desk.tables.keeper.close()
        await self.node.kill()

    async def table(self, match_id: str) -> KeptTable:
        async with asyncio.timeout(PATIENCE):
            while not isinstance(table := self.desk.tables[match_id], KeptTable):
                await asyncio.sleep(0.001)
        return table

    async def over(self, match_id: str) -> MatchEntry:
        async with asyncio.timeout(PATIENCE):
            while (
                entry := await self.node.store.match(match_id)
            ) is None or entry.status == "running":
                await asyncio.sleep(0.01)
        return entry


@asynccontextmanager
async def playing(url: str, *names: str, **settings: Any) -> AsyncIterator[list[Playing]]:
    """Nodes. All but the first take over matches."""
    async with cluster(url, *names) as members:
        nodes = [Playing(member, url, **settings) for member in members]
        for node in nodes:
            await node.open()
        for node in nodes[1:]:
            await node.node.members.recover()
        yield nodes
        for node in nodes[1:]:
            for live in node.desk.tables.live():
                table = node.desk.tables[live.id]
                assert table is not None
                table.abort("the test is over")
                await node.over(live.id)
        for node in nodes:
            await node.kept.close()
            await node.desk.workers.close()
            node.caller.close()


async def test_matches_go_on_at_another_node(postgres_url: str) -> None:
    async with playing(postgres_url, "ant", "bee") as (ant, bee):
        before = [ant.play(MOVES[:moves]) for moves in (0, 1, 3)]
        await ant.stored(*before)
        await ant.die()
        for old in before:
            table = await bee.table(old.entry.id)
            assert (table.match.position, table.match.inputs) == (
                old.match.position,
                old.match.inputs,
            )
            assert (table.expected, table.entry.former) == ({0, 1}, (ant.node.id,))
            stored = await bee.node.store.match(old.entry.id)
            assert stored is not None and stored.node == bee.node.id
        for player in (0, 1):
            assert table.rejoin(player, Hearer())
        await asyncio.sleep(0)
        for player, move in [
            (1, {"mark": "O", "space": [2, 2]}),
            (0, {"mark": "X", "space": [0, 2]}),
        ]:
            assert table.submit(player, move, b"") == "accepted"
        entry = await bee.over(table.entry.id)
        assert entry.result is not None and entry.result.places == (1, 2)
        record = await bee.node.store.record(entry.id)
        assert record is not None
        verify(*restored(record))


async def test_nobody_knows_whether_a_match_was_adopted(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt, tries = Store.adopt, 0

    async def fail(store: Store, ids: Sequence[str]) -> list[MatchEntry]:
        nonlocal tries
        found, tries = await adopt(store, ids), tries + 1
        if tries == 1:
            raise StoreUnavailable("it went away")
        return found

    monkeypatch.setattr(Store, "adopt", fail)
    async with playing(postgres_url, "ant", "bee") as (ant, bee):
        old = ant.play(MOVES[:1])
        await ant.stored(old)
        await ant.die()
        table = await bee.table(old.entry.id)
        assert (tries, table.entry.former) == (2, (ant.node.id,))


async def test_house_bots_return_by_themselves(postgres_url: str) -> None:
    async with playing(postgres_url, "ant", "bee") as (ant, bee):
        old = ant.play(MOVES[:1], ("ada", "house:perfect"))
        await ant.stored(old)
        await ant.die()
        table = await bee.table(old.entry.id)
        assert table.expected == {0}
        await until(lambda: table.match.steps >= 2)


async def test_matches_that_cannot_go_on_are_aborted(postgres_url: str) -> None:
    async with playing(postgres_url, "ant", "bee") as (ant, bee):
        contest, room = ant.play(MOVES[:1], contest="cup"), ant.play([])
        room.resumes = False
        ant.node.store.begin(a_match("unknown"))
        await ant.stored(contest, room)
        await ant.die()
        reasons = [
            (await bee.over(match)).reason for match in (contest.entry.id, room.entry.id, "unknown")
        ]
        assert reasons == [OF_CONTEST, OF_ROOM, NO_INPUTS]
        record = await bee.node.store.record(contest.entry.id)
        assert record is not None and b'"abort"' in record
        connection = await asyncpg.connect(postgres_url)
        async with asyncio.timeout(PATIENCE):
            while await connection.fetchval("SELECT count(*) FROM inputs WHERE node = 'ant'"):
                await asyncio.sleep(0.01)
        await connection.close()
