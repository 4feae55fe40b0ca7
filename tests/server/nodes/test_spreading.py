"""Tables open at other nodes than the one that paired their players."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import NamedTuple

import pytest

from botdrome.app import RunningServer
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.shared_desk import TOPIC, Placement, SharedDesk
from tests.patience import until
from tests.server.clients import Client, bot, registered
from tests.server.nodes.draining import GAME, of
from tests.server.nodes.draining import home as table_at

pytestmark = pytest.mark.anyio


def is_home(one: RunningServer) -> bool:
    cluster = one.node.cluster
    return cluster is not None and cluster.home(f"{GAME} 2 {{}} ") == cluster.here


async def test_clients_of_one_node_play_at_all(two: list[RunningServer]) -> None:
    (home,) = filter(is_home, two)
    async with AsyncExitStack() as stack:
        logins = [await registered(home, f"bot {number}") for number in range(10)]
        bots = [await stack.enter_async_context(bot(home, login)) for login in logins]
        for one in bots:
            assert (await one.receive())["state"]["result"] is None
        assert all(one.desk.tables.count() >= 2 for one in two)


class LentPlayers(NamedTuple):
    """Ada waited at the home of her wish, and bob at a third node.

    The message that orders their table is held.
    """

    ada: Client
    bob: Client
    home: RunningServer
    to: RunningServer
    third: RunningServer
    held: list[tuple[NodeId, bytes]]

    def go_on(self) -> None:
        """Deliver what is held, and what comes."""
        self.stop_holding()
        for node, payload in self.held:
            of(self.to).links._receivers[TOPIC](node, payload)

    def stop_holding(self) -> None:
        assert isinstance(self.to.desk.others, SharedDesk)
        of(self.to).links.on(TOPIC, self.to.desk.others._receive)

    async def play(self) -> None:
        for one in (self.ada, self.bob):
            assert (await one.receive())["state"]["result"] is None


@pytest.fixture
async def lent(
    three: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[LentPlayers]:
    (home,) = filter(is_home, three)
    to, third = [one for one in three if one is not home]
    monkeypatch.setattr(Placement, "choose", lambda *_: of(to).members.here.id)
    held: list[tuple[NodeId, bytes]] = []
    of(to).links.on(TOPIC, lambda *message: held.append(message))
    ada, bob = [await registered(home, name) for name in ("ada", "bob")]
    async with bot(home, ada) as one, bot(third, bob) as two:
        await until(lambda: held)
        yield LentPlayers(one, two, home, to, third, held)


async def test_both_come_although_nodes_change(lent: LentPlayers) -> None:
    for one in (lent.home, lent.third):
        for tell in of(one).members.on_change:
            tell()
    lent.go_on()
    await lent.play()
    assert table_at([lent.home, lent.to, lent.third]) is lent.to


async def test_one_leaves_before(lent: LentPlayers) -> None:
    await lent.ada.socket.close()
    await until(lambda: not lent.home.desk.waiting_clients)
    lent.go_on()
    messages = [await lent.bob.receive()]
    while messages[-1]["state"]["result"] is None:
        messages.append(await lent.bob.receive())
    assert messages[-1]["state"]["result"]["victor"] == "bob"


async def test_both_seek_again_if_the_order_is_lost(lent: LentPlayers) -> None:
    lent.stop_holding()
    for tell in of(lent.home).links.on_lost:
        tell(of(lent.to).members.here.id)
    await lent.play()
