"""What changes at one node holds at all of them, and rooms whose node dies open at another."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.server.lobby.bans import Bans
from botdrome.server.nodes.joining import JoinedNode
from tests.patience import until
from tests.server.clients import NOTICES, bot, client, registered
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.nodes.test_spreading import home_first
from tests.server.rooms.duel.clients import FIND, FREE, connected, free, seated

pytestmark = pytest.mark.anyio


def of(one: RunningServer) -> JoinedNode:
    assert isinstance(one.node, JoinedNode)
    return one.node


async def die(one: RunningServer) -> None:
    """What others see when the process of a node is killed."""
    members, links = of(one).members, of(one).links
    of(one).mover.close()  # its sockets go with it: nobody may reach it by an old list of nodes
    for task in members._tasks:
        task.cancel()
    await asyncio.wait(members._tasks)
    members._rows.close()
    await links.close()


async def test_a_new_token_ends_the_logins_at_all_nodes(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2) as two:
        bee, ant = home_first(two)
        login = await registered(ant, "ada")
        async with bot(bee, login) as ada:
            entry = await ant.arena.store.bot("ada")
            assert entry is not None
            await ant.arena.rotate(entry)
            await ada.until_closed()
        async with client(bee) as again:
            await again.send(login)
            assert (await again.receive())["authentication"] == "failed"


async def test_a_ban_holds_at_all_nodes_until_it_is_lifted(
    postgres_url: str, nats_url: str
) -> None:
    async with nodes(postgres_url, nats_url, 2) as two:
        bee, ant = home_first(two)
        login = await registered(ant, "ada") | NOTICES
        bans: Bans = ant.desk.registry.bans
        async with bot(bee, login) as ada:
            await bans.add("name", "ada", "it cheats", None)
            messages, _, _ = await ada.until_closed()
            assert "it cheats" in messages[-1]["error"]
        await bans.lift("name", "ada")
        await until(lambda: not bee.desk.registry.bans.all)
        async with bot(bee, login):
            pass


async def test_rooms_open_again_where_their_node_has_died(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 3, duel_port=-1) as three:
        await spread_out(three)
        home = home_of(three, "gomoku")
        one, two = [other for other in three if other is not home]
        async with free(one, "ada"):
            pass
        async with AsyncExitStack() as clients:
            async with of(two).members._in_turn:  # it has not read yet that the node is dead
                await die(home)
                await until(lambda: of(home).members.here.id not in of(one).members.nodes)
                bob = await clients.enter_async_context(connected(two))
                await bob.send({"username": "bob"})
                await until(lambda: of(two).mover.fronts)
            bob.name = "bob"
            assert [await bob.receive() for _ in range(2)] == [{"status": "ok"}, FREE]
            ada = await clients.enter_async_context(free(one, "ada"))
            await ada.send(FIND)
            await bob.send(FIND)
            first, second, question = await seated(ada, bob)
            await first.answer(question, 7, 7)
            await second.expect("get_move")


async def test_rooms_of_a_drained_node_open_at_another(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2, duel_port=-1) as (ant, bee):
        await spread_out([ant, bee])
        home, other = (ant, bee) if home_of([ant, bee], "gomoku") is ant else (bee, ant)
        await of(other).members.drain(of(home).members.here.name)
        await until(
            lambda: all(
                other.node.cluster.has_rooms(game) for game in CATALOGUE if other.node.cluster
            )
        )
        await spread_out([ant, bee])
        async with free(home, "ada") as ada, free(other, "bob") as bob:
            await ada.send(FIND)
            await bob.send(FIND)
            await seated(ada, bob)


async def test_the_first_bytes_behind_a_proxy_go_along(postgres_url: str, nats_url: str) -> None:
    async with nodes(
        postgres_url, nats_url, 2, duel_port=-1, network_trusted_proxies="127.0.0.0/8"
    ) as both:
        for one in both:
            async with free(one, "ada"):
                pass
