"""Nodes that join, leave, die and freeze, on a real PostgreSQL."""

import asyncio

import asyncpg  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace

from botdrome.server.nodes import membership
from botdrome.server.nodes.membership import NO_NOTICE
from botdrome.store import schema
from botdrome.store.entries import Fenced, MatchEntry, StoreUnavailable
from botdrome.store.nodes import CannotJoin
from botdrome.store.store import open_store
from tests.patience import PAUSE, until
from tests.server.nodes.joining import QUICK, Member, cluster, joined
from tests.store.entries import a_match, an_end

pytestmark = pytest.mark.anyio
MATCHES = [f"m{number}" for number in range(20)]


async def begin(node: Member) -> None:
    for match in MATCHES:
        node.store.begin(a_match(match))
    await node.store.journal.settled()


async def taken_over(*nodes: Member) -> dict[str, list[MatchEntry]]:
    """Let the nodes adopt the orphans, and return what each of them got, once all are adopted."""
    got: dict[str, list[MatchEntry]] = {node.id: [] for node in nodes}
    complete = asyncio.Event()

    def adopting(node: Member) -> membership.TakeOver:
        async def take(matches: list[MatchEntry]) -> None:
            got[node.id] += matches
            if sum(map(len, got.values())) >= len(MATCHES):
                complete.set()

        return take

    for node in nodes:
        node.members.take_over = adopting(node)
        await node.members.recover()
    await complete.wait()
    return got


async def test_nodes_know_each_other_until_they_leave(postgres_url: str) -> None:
    async with joined(postgres_url, "ant") as ant:
        async with joined(postgres_url, "bee") as bee:
            await ant.sees(ant.id, bee.id)
            await ant.until(lambda: ant.members.nodes[bee.id].url == "http://bee")
            assert ant.members.cluster == bee.members.cluster != ""
            old = bee.id
        await ant.sees(ant.id)
        async with joined(postgres_url, "bee") as again:
            assert again.id.startswith("bee.") and again.id != old


@pytest.mark.parametrize("how", [Member.kill, Member.freeze])
async def test_each_match_of_a_dead_node_gets_one_new_owner(postgres_url: str, how: object) -> None:
    async with cluster(postgres_url, "ant", "bee", "cat") as (ant, bee, cat):
        await begin(ant)
        await (ant.kill() if how is Member.kill else ant.freeze())
        for one in (bee, cat) if how is Member.freeze else ():
            await one.lose_patience(ant.id)
        got = await taken_over(bee, cat)
        assert sorted(match.id for matches in got.values() for match in matches) == sorted(MATCHES)
        assert all(len(matches) > 0 for matches in got.values())
        assert {(match.node, match.former) for match in got[bee.id]} == {(bee.id, (ant.id,))}
        with pytest.raises(Fenced, match=r"ant\.1 was declared dead"):
            await ant.store.finish(an_end(MATCHES[0]))
        with pytest.raises(Fenced):
            await ant.store.finish(an_end(MATCHES[1]))
        assert all(
            match.status == "running"
            for match in [await bee.store.match(one) for one in MATCHES]
            if match
        )


async def test_the_end_of_a_process_is_noticed_between_two_beats(postgres_url: str) -> None:
    async with cluster(postgres_url, "ant", "bee") as (ant, bee):
        await bee.until_beaten()
        bee.members._times = replace(QUICK, beat=3600.0, death=3600.0)
        await ant.kill()
        await bee.sees(bee.id)


async def test_a_frozen_node_learns_that_it_is_dead(postgres_url: str) -> None:
    async with cluster(postgres_url, "ant", "bee") as (ant, bee):
        await ant.freeze()
        await bee.lose_patience(ant.id)
        await bee.sees(bee.id)
        await ant.members._keep_beating()
        assert ant.members.fenced is not None


async def test_a_node_that_froze_in_a_transaction_is_declared_dead(postgres_url: str) -> None:
    """Its transaction holds the row that says that it lives."""
    async with cluster(postgres_url, "ant", "bee") as (ant, bee):
        frozen = await asyncpg.connect(postgres_url)
        await frozen.execute("BEGIN")
        await frozen.execute("SELECT FROM nodes WHERE name = 'ant' FOR KEY SHARE")
        await ant.freeze()
        await bee.lose_patience(ant.id)
        await bee.sees(bee.id)
        await until(frozen.is_closed)


async def test_matches_are_aborted_where_nothing_else_is_planned(postgres_url: str) -> None:
    store = await open_store(postgres_url)
    store.begin(a_match("single"))
    await store.close()
    async with joined(postgres_url, "ant") as ant:
        await ant.members.recover()
        single = await ant.store.match("single")
        assert single is not None and (single.status, single.reason) == ("aborted", NO_NOTICE)
        await begin(ant)
        await ant.kill()
        async with joined(postgres_url, "ant") as again:
            await again.members.recover()
            found = await again.store.match(MATCHES[0])
            assert found is not None and (found.status, found.former) == ("aborted", (ant.id,))


async def test_a_node_that_dies_while_it_takes_over_is_replaced_in_turn(postgres_url: str) -> None:
    async with joined(postgres_url, "ant") as ant:
        await begin(ant)
        await ant.kill()
        async with joined(postgres_url, "bee") as bee:
            await bee.sees(bee.id)
            dying = asyncio.Event()

            async def die(_: list[MatchEntry]) -> None:
                dying.set()
                await asyncio.Event().wait()

            bee.members.take_over = die
            taking = asyncio.ensure_future(bee.members.recover())
            await dying.wait()
            taking.cancel()
            await bee.kill()
            async with joined(postgres_url, "cat") as cat:
                await cat.sees(cat.id)
                got = await taken_over(cat)
    assert {match.former for match in got[cat.id]} == {(ant.id, bee.id)} and len(
        got[cat.id]
    ) == len(MATCHES)


async def test_a_failed_takeover_is_tried_again(postgres_url: str) -> None:
    async with cluster(postgres_url, "ant", "bee") as (ant, bee):
        await begin(ant)
        calls: list[int] = []
        done = asyncio.Event()

        async def fail_once(matches: list[MatchEntry]) -> None:
            calls.append(len(matches))
            if len(calls) == 1:
                raise StoreUnavailable("for a moment")
            done.set()

        bee.members.take_over = fail_once
        await bee.members.recover()
        await ant.kill()
        await done.wait()
        assert calls == [len(MATCHES)] * 2


async def test_a_room_has_one_home_until_that_node_dies_or_drains(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cluster(postgres_url, "ant", "bee", "cat") as nodes:
        assert nodes[0].members.room_home("hall") is None
        homes = await asyncio.gather(*(node.members.claim("hall") for node in nodes))
        assert len(set(homes)) == 1
        first = next(node for node in nodes if node.id == homes[0])
        others = [node for node in nodes if node is not first]
        for node in (*others, first):
            assert await node.members.drain(node.members.here.name)
            await first.until(lambda node=node: first.members.nodes[node.id].draining)  # type: ignore[misc]
        assert first.members.room_home("hall") == first.id and not first.members.leaving
        for node in others:
            assert await node.members.drain(node.members.here.name, False)
        assert not await others[0].members.drain("dog")
        await first.until(lambda: first.members.leaving)
        second = await first.members.give("hall", others[0].id)
        assert second == others[0].id == await others[1].members.claim("hall")
        dead = next(node for node in others if node.id == second)
        await dead.kill()
        third = next(node for node in others if node is not dead)
        await third.sees(first.id, third.id)
        assert await first.members.claim("hall") == third.id


async def test_nobody_is_dead_because_all_connections_were_lost(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when PostgreSQL restarts. One node is slow to come back."""
    async with cluster(postgres_url, "ant", "bee") as (ant, bee):
        home = await ant.members.claim("hall")
        back, beats, reconnect = asyncio.Event(), iter(range(30)), bee.members._rows.reconnect

        def count() -> dict[str, float]:
            if next(beats, None) is None:
                back.set()
            return {}

        async def reconnect_late(epoch: int) -> bool:
            await back.wait()
            return await reconnect(epoch)

        monkeypatch.setattr(bee.members._rows, "reconnect", reconnect_late)
        connection = await asyncpg.connect(postgres_url)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'botdrome node'"
        )
        await connection.close()
        while ant.members._settled <= asyncio.get_running_loop().time():
            await ant.until_beaten()
        monkeypatch.setattr(membership, "RELOCK", 0.001)
        ant.members.load = count
        await back.wait()
        await bee.until_beaten()
        assert bee.members.room_home("hall") == home and bee.members.fenced is None
        await ant.until_beaten()
        assert ant.members.nodes.keys() == {ant.id, bee.id}


async def test_a_name_that_lives_is_refused(postgres_url: str) -> None:
    async with joined(postgres_url, "ant"):
        with pytest.raises(CannotJoin, match=r"name ant lives already \(http://ant\)"):
            async with joined(postgres_url, "ant"):
                pass


async def test_nodes_with_other_messages_are_refused(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(postgres_url, "ant"):
        monkeypatch.setattr(membership, "MESSAGES", 99)
        with pytest.raises(CannotJoin, match="with version 99: stop the other nodes first"):
            async with joined(postgres_url, "bee"):
                pass


async def test_a_cluster_and_a_single_server_exclude_each_other(postgres_url: str) -> None:
    single = await open_store(postgres_url)
    assert await single.claim()
    with pytest.raises(CannotJoin, match="outside the cluster"):
        async with joined(postgres_url, "ant"):
            pass
    await single.close()
    async with joined(postgres_url, "ant"):
        late = await open_store(postgres_url)
        assert not await late.claim()
        async with joined(postgres_url, "bee"):
            await late.close()


async def test_live_nodes_keep_their_tables(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(postgres_url, "ant") as ant:
        last, later = next(reversed(schema.MIGRATIONS)), "ALTER TABLE bots ADD COLUMN x TEXT;"
        monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS | {"later": later})
        with pytest.raises(
            StoreUnavailable,
            match=rf"nodes of an older version use it, and its tables \({last}\) must change",
        ):
            await open_store(postgres_url)
        await ant.store.probe()


async def test_of_two_nodes_that_adopt_a_match_at_once_one_gets_it(postgres_url: str) -> None:
    async with joined(postgres_url, "ant") as ant, joined(postgres_url, "bee") as bee:
        ant.store.begin(a_match("m"))
        await ant.store.journal.settled()
        other = await asyncpg.connect(postgres_url)
        await other.execute("UPDATE matches SET node = '-'")
        async with other.transaction():
            await other.execute("UPDATE matches SET node = $1", bee.id)
            adopting = asyncio.ensure_future(ant.store.adopt(["m"]))
            while not await other.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(PAUSE)
        assert await adopting == []
        assert await other.fetchval("SELECT node FROM matches") == bee.id
        await other.close()
