"""What nodes know of each other after messages were lost."""

import asyncio
from typing import Any, cast

import pytest

from botdrome.server.lobby.desk import Tasks
from botdrome.server.nodes import shared_bots, shared_tables
from botdrome.server.nodes.asking import NodeAsking
from botdrome.server.nodes.shared_bots import SharedRegistry, SharedTunnels
from botdrome.server.nodes.shared_tables import SharedTables
from tests.patience import until
from tests.server.nodes.fixed_members import FixedMembers, node
from tests.server.nodes.memory_links import MemoryLinks, Network

pytestmark = pytest.mark.anyio
ANT, BEE = node("ant"), node("bee")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_bots, "EVERY", 0.01)
    monkeypatch.setattr(shared_tables, "INTERVAL", 0.01)


@pytest.fixture
def network() -> Network:
    network = Network()
    for here, there in ((ANT, BEE), (BEE, ANT)):
        MemoryLinks(network, FixedMembers(here, there))
    return network


async def stop(network: Network) -> None:
    for links in network.links.values():
        await links.close()


class Registry:
    """Bots, bans and clients of a node, which note what they are told."""

    def __init__(self) -> None:
        self.registry = self.clients = self.bans = self.tasks = self
        self.on_change: list[Any] = []
        self.noted: list[str] = []
        self.start, self.all = Tasks().start, ()

    def drop(self, name: str) -> None:
        self.noted.append(f"{name} changed")

    def end_logins(self, name: str) -> None:
        self.noted.append(f"logins of {name} end")

    async def load(self) -> None:
        self.noted.append("bans")


async def test_changes_of_bots_that_were_lost_are_asked_for(network: Network) -> None:
    both = []
    for links in network.links.values():
        both.append(Registry())
        SharedRegistry(cast(Any, both[-1]), links, NodeAsking(links))
    ant, bee = both
    of_bots, of_bans = ant.on_change
    of_bots("ada", True)
    await until(lambda: bee.noted == ["ada changed", "logins of ada end"])
    network.silent = True
    of_bots("bob", False)
    await asyncio.sleep(0)
    of_bans(None)
    await asyncio.sleep(0)
    network.silent = False
    await until(lambda: bee.noted[2:] == ["bob changed", "bans"])
    await stop(network)


class Tunnels:
    def __init__(self) -> None:
        self.opened: dict[str, int] = {}
        self.replaced: list[str] = []
        self.arrived: list[str] = []

    def replace(self, name: str) -> None:
        del self.opened[name]
        self.replaced.append(name)


async def test_beats_tell_which_tunnels_are_open(network: Network) -> None:
    both, shared = (Tunnels(), Tunnels()), []
    for tunnels, links in zip(both, network.links.values(), strict=True):
        found = SharedTunnels(cast(Any, tunnels), links, NodeAsking(links), tunnels.arrived.append)
        shared.append(found)
    network.silent = True
    both[0].opened["ada"] = shared[0].opened("ada", 5)
    await asyncio.sleep(0)
    network.silent = False
    await until(lambda: "ada" in shared[1])
    assert both[1].arrived == ["ada"]
    both[1].opened["ada"] = shared[1].opened("ada", 1)  # its clock is late
    await until(lambda: both[0].replaced == ["ada"] and "ada" in shared[0])
    del both[1].opened["ada"]
    network.silent = True
    shared[1].closed("ada")
    await asyncio.sleep(0)
    network.silent = False
    await until(lambda: "ada" not in shared[0])
    await stop(network)


class OwnTables:
    """The tables of a node with one match, and those that watch it."""

    def __init__(self) -> None:
        self.watching: list[Any] = []
        self.runs = True

    def live(self, game: str | None, most: int | None) -> list[Any]:
        return []

    def watch(self, match: str, spectator: Any) -> bool:
        if self.runs:
            self.watching.append(spectator)
            spectator.show(b"position")
        return self.runs

    def unwatch(self, match: str, spectator: Any) -> None:
        if spectator in self.watching:
            self.watching.remove(spectator)

    def show(self, message: bytes) -> None:
        for one in tuple(self.watching):
            one.show(message)


class Nothing(OwnTables):
    def watch(self, match: str, spectator: Any) -> bool:
        return False


class Told:
    def __init__(self) -> None:
        self.messages: list[bytes] = []

    def show(self, message: bytes) -> None:
        self.messages.append(message)

    def end(self) -> None:
        self.messages.append(b"the end")


async def owner(match: str) -> str:
    return ""


async def test_spectators_are_shown_the_position_anew_after_a_loss(network: Network) -> None:
    own, one, other = OwnTables(), Told(), Told()
    here, there = network.links.values()
    start = Tasks().start
    SharedTables(cast(Any, own), there, owner, start)
    tables = SharedTables(cast(Any, Nothing()), here, owner, start)
    tables._hear(BEE.id, shared_tables.TablesBeat([], {}))
    assert tables.watch("match", cast(Any, one), BEE.id)
    await until(lambda: one.messages == [b"position"])
    assert tables.watch("match", cast(Any, other), BEE.id)
    await until(lambda: other.messages == [b"position"])
    own.show(b"1")
    await until(lambda: one.messages == other.messages == [b"position", b"1"])
    network.silent = True
    own.show(b"lost")
    network.silent = False
    own.show(b"3")
    await until(lambda: one.messages[2:] == other.messages[2:] == [b"position"])
    network.silent = True
    own.show(b"the last one is lost")
    network.silent = False
    await until(lambda: one.messages[3:] == other.messages[3:] == [b"position"])
    tables.unwatch("match", cast(Any, other))
    network.silent = True
    for spectator in own.watching.copy():
        spectator.end()
    own.runs = False
    network.silent = False
    await until(lambda: one.messages[4:] == [b"the end"])
    assert other.messages[4:] == []
    await stop(network)


@pytest.mark.parametrize("told", [True, False], ids=["after a beat", "before the first beat"])
async def test_a_match_that_nobody_watches_any_more_is_not_shown(
    network: Network, told: bool
) -> None:
    own, one = OwnTables(), Told()
    here, there = network.links.values()
    shown = SharedTables(cast(Any, own), there, owner, Tasks().start)
    tables = SharedTables(cast(Any, Nothing()), here, owner, Tasks().start)
    tables._hear(BEE.id, shared_tables.TablesBeat([], {}))
    assert tables.watch("match", cast(Any, one), BEE.id)
    await until(lambda: one.messages == [b"position"])
    if told:
        await until(lambda: tables._told.watched)
    tables.unwatch("match", cast(Any, one))
    await until(lambda: not own.watching and not shown._shown)
    await stop(network)
