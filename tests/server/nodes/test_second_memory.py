"""Inputs in the memory of another node."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from botdrome.server.nodes import held_inputs, second_memory
from botdrome.server.nodes.held_inputs import HeldInputs
from botdrome.server.nodes.second_memory import SecondMemory
from botdrome.server.tables.kept_table import InputKeeper, KeptTable
from botdrome.store.entries import StoreUnavailable
from botdrome.store.opening import open_store
from tests.patience import PATIENCE, until
from tests.server.nodes.fixed_members import FixedMembers, node
from tests.server.nodes.memory_links import MemoryLinks, Network
from tests.server.tables.test_input_keeper import MemoryRows, a_table, lines_of, matches_in
from tests.server.tables.test_table import Hearer

pytestmark = pytest.mark.anyio

ANT, BEE, CAT = NODES = [node("ant"), node("bee"), node("cat")]
MOVES = [
    (0, {"mark": "X", "space": [0, 0]}),
    (1, {"mark": "O", "space": [1, 1]}),
    (0, {"mark": "X", "space": [0, 1]}),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_memory, "PATIENCE", PATIENCE)
    monkeypatch.setattr(held_inputs, "ANSWER", PATIENCE)


class Ant:
    """A node with a match, and two others. Its store writes when the test says so."""

    def __init__(self) -> None:
        self.network, self.rows = Network(), MemoryRows()
        self.members = {
            one.id: FixedMembers(one, *(other for other in NODES if other is not one))
            for one in NODES
        }
        self.held = {
            one: HeldInputs(members, MemoryLinks(self.network, one))
            for one, members in self.members.items()
        }
        self.memory = SecondMemory(self.members[ANT.id], self.network.links[ANT.id])
        self.keeper, self.ada = InputKeeper(self.rows, True, self.memory), Hearer()

    @property
    def second(self) -> str:
        assert self.memory._node is not None
        return self.memory._node

    def silence(self) -> None:
        """The second node gets nothing any more."""
        self.network.links[self.second].on(held_inputs.TOPIC, lambda *_: None)

    async def told(self, messages: int) -> None:
        await until(lambda: len(self.ada.told) >= messages)

    async def lines(self, asker: str) -> list[bytes]:
        """Return the inputs that the others hold, after Ant's death."""
        members = self.members[asker]
        members.change(*(one for one in members.nodes.values() if one.id not in (ANT.id, asker)))
        batches = sorted(await self.held[asker].of(ANT.id))
        return matches_in([data for _, data in batches])["one"].lines


@asynccontextmanager
async def playing() -> AsyncIterator[tuple[Ant, KeptTable]]:
    store, ant = await open_store("sqlite:///:memory:"), Ant()
    table = a_table(store, ant.keeper, "one", ant.ada)
    await ant.told(1)
    yield ant, table
    ant.rows.open.set()
    await ant.keeper.close()
    await store.close()


@pytest.mark.parametrize("asker", [BEE.id, CAT.id])
async def test_news_wait_for_the_second_memory_alone(asker: str) -> None:
    async with playing() as (ant, table):
        ant.rows.open.clear()
        for number, (player, move) in enumerate(MOVES, 2):
            table.submit(player, move, b"")
            assert len(ant.ada.told) == number - 1
            await ant.told(number)
        for lines in await asyncio.gather(ant.lines(asker), ant.lines(asker)):
            assert lines == lines_of(table)


async def test_what_is_stored_is_dropped() -> None:
    async with playing() as (ant, table):
        table.submit(*MOVES[0], b"")
        await ant.rows.until(lambda: ant.rows.matches["one"].lines == lines_of(table))
        table.submit(*MOVES[1], b"")
        await ant.told(3)
        assert len(ant.held[ant.second]._batches[ANT.id]) == 1
        ant.memory.close()
        await asyncio.sleep(0)
        assert not ant.held[ant.second]._batches


@pytest.mark.parametrize("dies", [False, True])
async def test_another_node_gets_what_is_not_stored(dies: bool) -> None:
    async with playing() as (ant, table):
        ant.rows.open.clear()
        table.submit(*MOVES[0], b"")
        await ant.told(2)
        first = ant.second
        ant.silence()
        table.submit(*MOVES[1], b"")
        await asyncio.sleep(0)
        if dies:
            ant.members[ANT.id].change(*(one for one in (BEE, CAT) if one.id != first))
        else:
            ant.network.cut(ANT.id, first)
        assert ant.second != first
        await ant.told(3)
        ant.members[ant.second].change(ANT)
        assert await ant.lines(ant.second) == lines_of(table)


async def test_a_link_that_was_lost_is_used_again_if_there_is_no_other() -> None:
    async with playing() as (ant, table):
        ant.rows.open.clear()
        ant.members[ANT.id].change(BEE)
        ant.network.cut(ANT.id, BEE.id)
        table.submit(*MOVES[0], b"")
        await ant.told(2)


async def test_news_wait_for_the_store_without_a_second_node() -> None:
    async with playing() as (ant, table):
        with capture_logs() as logs:
            ant.members[ANT.id].change()
        table.submit(*MOVES[0], b"")
        assert len(ant.ada.told) == 1
        await ant.told(2)
        assert [line["event"] for line in logs] == [
            "no other node can keep inputs in its memory: news waits for PostgreSQL"
        ]


async def test_no_match_hangs_without_store_and_second_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing() as (ant, table):
        ant.rows.problem = StoreUnavailable("away")
        table.submit(*MOVES[0], b"")
        await ant.told(2)
        await ant.rows.until(lambda: ant.rows.tries > 2)
        assert ant.keeper.holding
        monkeypatch.setattr(second_memory, "PATIENCE", 0.0)
        ant.silence()
        with capture_logs() as logs:
            table.submit(*MOVES[1], b"")
            await ant.told(3)
            table.submit(*MOVES[2], b"")
            assert len(ant.ada.told) == 4
        assert [line["event"] for line in logs] == [
            "news do not wait: inputs cannot be kept anywhere"
        ]
        ant.rows.problem = None
        await ant.rows.until(
            lambda: bool(ant.rows.rows) and ant.rows.matches["one"].lines == lines_of(table)
        )


async def test_a_store_that_is_away_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing() as (ant, table):
        ant.rows.problem = StoreUnavailable("away")
        monkeypatch.setattr(second_memory, "MOST", 0)
        for number, (player, move) in enumerate(MOVES, 2):
            table.submit(player, move, b"")
            await ant.told(number)
        assert len(ant.memory._unstored) == 1
        ant.rows.problem = None
        await ant.rows.until(
            lambda: bool(ant.rows.rows) and ant.rows.matches["one"].lines == lines_of(table)
        )


async def test_nothing_is_acknowledged_to_a_dead_node() -> None:
    async with playing() as (ant, table):
        ant.rows.open.clear()
        lines = await ant.lines(BEE.id)
        table.submit(*MOVES[0], b"")
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(ant.ada.told) == 1
        assert await ant.lines(CAT.id) == lines


async def test_a_silent_node_does_not_stop_a_takeover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_inputs, "ANSWER", 0.0)
    async with playing() as (ant, _):
        ant.silence()
        asker = next(iter({BEE.id, CAT.id} - {ant.second}))
        with capture_logs() as logs:
            members = ant.members[asker]
            members.change(
                *(one for one in members.nodes.values() if one.id not in (ANT.id, asker))
            )
            assert await ant.held[asker].of(ANT.id) == []
        assert logs[0]["silent"] == [ant.second]
        monkeypatch.setattr(held_inputs, "ANSWER", PATIENCE)
        search = asyncio.ensure_future(ant.held[asker].of(ANT.id))
        await asyncio.sleep(0)
        ant.network.cut(asker, ant.second)
        assert await search == []


async def test_a_node_that_lives_is_not_asked_for() -> None:
    async with playing() as (ant, _):
        assert await ant.held[BEE.id].of(ANT.id) == []


async def test_a_node_that_is_not_the_second_one_any_more_drops_what_is_stored() -> None:
    async with playing() as (ant, table):
        ant.rows.open.clear()
        table.submit(*MOVES[0], b"")
        await ant.told(2)
        first = ant.second
        ant.network.cut(ANT.id, first)
        await asyncio.sleep(0)
        assert ant.second != first and ant.held[first]._batches
        ant.rows.open.set()
        await ant.rows.until(lambda: ant.rows.matches["one"].lines == lines_of(table))
        await until(lambda: not ant.held[first]._batches)
        assert not ant.memory._former
        ant.network.cut(ANT.id, ant.second)
        assert ant.second == first and ant.memory._former.keys() <= {BEE.id, CAT.id} - {first}


async def test_dead_nodes_are_forgotten_before_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_inputs, "RETENTION", 0.0)
    async with playing() as (ant, table):
        table.submit(*MOVES[0], b"")
        await ant.told(2)
        held = ant.held[ant.second]
        assert await ant.lines(next(iter({BEE.id, CAT.id} - {ant.second}))) and held._dead == {
            ANT.id
        }
        ant.members[ant.second].change()
        await until(lambda: not held._batches)
        assert not held._dead and not held._gone and not held._held_of(ANT.id) and not held._dead
