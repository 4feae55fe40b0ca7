"""Links over a real NATS server, which is killed, frozen and started again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from botdrome.server.network.steady_loop import run
from botdrome.server.nodes import nats
from botdrome.server.nodes.cluster import Node, NodeId
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.links import NatsLinks
from botdrome.wire import node_link as link
from botdrome.wire.nats import publish
from botdrome.wire.node_link import HEAD, LAST, MOST
from tests.patience import PATIENCE
from tests.server.nodes.fixed_members import FixedMembers, node

ANT, BEE, CAT = node("ant"), node("bee.x y", 7), node("cat")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsEngine]:
    engine = NatsEngine(tmp_path_factory.mktemp("nats"))
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost because the machine is busy. A test that waits for silence undoes this."""
    monkeypatch.setattr(link, "SILENCE", PATIENCE)
    monkeypatch.setattr(nats, "UNANSWERED", 1000)
    monkeypatch.setattr(nats, "PATIENCE", PATIENCE)


class Seen:
    """The links of one node, and what was received: (node, payload), or (node, None) for a loss."""

    def __init__(self, links: NatsLinks, members: FixedMembers) -> None:
        self.links, self.members = links, members
        self.queue: asyncio.Queue[tuple[NodeId, bytes | None]] = asyncio.Queue()
        links.on("word", lambda node, payload: self.queue.put_nowait((node, payload)))
        links.on_lost.append(lambda node: self.queue.put_nowait((node, None)))

    def say(self, to: Node, word: bytes) -> None:
        self.links.send(to.id, "word", word)

    async def hear(self, count: int = 1) -> list[tuple[NodeId, bytes | None]]:
        async with asyncio.timeout(PATIENCE):
            return [await self.queue.get() for _ in range(count)]


@asynccontextmanager
async def linked(
    engine: NatsEngine, here: Node, *others: Node, cluster: str = "ours"
) -> AsyncIterator[Seen]:
    members = FixedMembers(here, *others)
    links = NatsLinks(engine.url, members, cluster)
    seen = Seen(links, members)
    await links.open()
    try:
        yield seen
    finally:
        await links.close()


async def meet(one: Seen, other: Seen) -> None:
    """Losses may come before: one node may be back before the other."""
    here, there = one.members.here, other.members.here
    for sender, receiver, mine in ((one, other, there), (other, one, here)):
        sender.say(mine, b"hello")
        while (await receiver.hear())[0][1] is None:
            sender.say(mine, b"hello")
    one.queue, other.queue = asyncio.Queue(), asyncio.Queue()


def test_messages_reach_the_node_they_are_for(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with (
            linked(engine, ANT, BEE, CAT) as ant,
            linked(engine, BEE, ANT, CAT) as bee,
            linked(engine, CAT, ANT, BEE) as cat,
        ):
            ant.say(BEE, b"1")
            ant.links.broadcast("word", b"2")
            large = os.urandom(3 << 20)
            ant.say(BEE, large)
            assert await bee.hear(3) == [(ANT.id, b"1"), (ANT.id, b"2"), (ANT.id, large)]
            assert await cat.hear() == [(ANT.id, b"2")]
            bee.links.started()
            bee.links.on("bad", lambda _, payload: bee.links.on_lost[len(payload) + 1](ANT.id))
            with capture_logs() as logs:
                ant.links.send(BEE.id, "bad", b"")
                ant.links.send(BEE.id, "unknown", b"")
                ant.say(BEE, b"3")
                assert await bee.hear() == [(ANT.id, b"3")]
            assert [line["topic"] for line in logs] == ["bad", "unknown"]
            to_cat, ant.links._flushed = ant.links._links[CAT.id], 0.0
            ant.links._links[CAT.id] = None  # type: ignore[assignment]  # a lone message is written without a look at other links
            ant.say(BEE, b"4")
            ant.links._links[CAT.id] = to_cat
            assert await bee.hear() == [(ANT.id, b"4")]

    run(scenario())


def test_messages_wait_for_the_receivers_of_a_node_that_starts(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            with capture_logs() as logs:
                ant.links.send(BEE.id, "later", b"1")
                ant.links.send(BEE.id, "later", b"2")
                ant.say(BEE, b"3")
                assert await bee.hear() == [(ANT.id, b"3")]
                bee.links.on("later", lambda node, word: bee.queue.put_nowait((node, word)))
                assert await bee.hear(2) == [(ANT.id, b"1"), (ANT.id, b"2")]
            assert not logs

    run(scenario())


def test_nodes_that_come_and_leave(engine: NatsEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant:
            ant.say(BEE, b"before it listens")
            async with linked(engine, BEE) as bee:
                again = node(ANT.name, ANT.epoch + 1)
                async with linked(engine, again, BEE) as new:
                    new.say(BEE, b"new")
                    bee.members.change(ANT)
                    assert await bee.hear() == [(ANT.id, b"before it listens")]
                    bee.members.change(again)
                    assert await bee.hear(2) == [(ANT.id, None), (again.id, b"new")]
                    bee.say(ANT, b"to the dead")
                    assert await bee.hear() == [(ANT.id, None)]
                    new.say(BEE, b"newer")
                    assert await bee.hear() == [(again.id, b"newer")]
                    monkeypatch.undo()
                    ant.say(BEE, b"from the dead")
                    assert await ant.hear() == [(BEE.id, None)]  # it hears no answer

    run(scenario())


def test_clusters_that_share_a_nats_server_do_not_meet(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with (
            linked(engine, ANT, BEE) as ant,
            linked(engine, BEE, ANT) as bee,
            linked(engine, ANT, BEE, cluster="theirs") as their_ant,
            linked(engine, BEE, ANT, cluster="theirs") as their_bee,
        ):
            their_ant.say(BEE, b"theirs")
            assert await their_bee.hear() == [(ANT.id, b"theirs")]
            ant.say(BEE, b"ours")
            assert await bee.hear() == [(ANT.id, b"ours")]

    run(scenario())


def test_a_lost_batch_is_reported_on_both_sides(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            await meet(ant, bee)
            connection = ant.links._connection
            assert connection is not None
            write, connection.write = connection.write, lambda data: None  # type: ignore[method-assign]
            ant.say(BEE, b"the last words")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            connection.write = write  # type: ignore[method-assign]
            assert (await ant.hear(), await bee.hear()) == ([(BEE.id, None)], [(ANT.id, None)])
            await meet(ant, bee)

    run(scenario())


def test_too_much_at_once_is_a_loss(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            await meet(ant, bee)
            ant.say(BEE, bytes(MOST))
            assert (await ant.hear(), await bee.hear()) == ([(BEE.id, None)], [(ANT.id, None)])

    run(scenario())


def test_a_node_of_another_version_is_refused(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            await meet(ant, bee)
            with capture_logs() as logs:
                frame = HEAD.pack(2, LAST, 1, 1)
                connection = ant.links._connection
                assert connection is not None
                connection.write(publish(ant.links._subjects[BEE.id], frame) * 2)
                ant.say(BEE, b"then")
                assert await bee.hear() == [(ANT.id, b"then")]
            assert logs == [
                {"event": "a node of another version is refused: update one of "
                          "them", "log_level": "error",
                 "node": "ant.1", "theirs": "2", "ours": 1}
            ]  # fmt: skip

    run(scenario())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_nats_is_killed_or_frozen(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = NatsEngine(tmp_path)
    engine.start()

    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            await meet(ant, bee)
            monkeypatch.undo()
            engine.process.send_signal(how)
            assert (await ant.hear(), await bee.hear()) == ([(BEE.id, None)], [(ANT.id, None)])
            ant.say(BEE, b"while it is away")
            assert await ant.hear() == [(BEE.id, None)]  # silence does not pass for delivery
            if how is signal.SIGSTOP:
                engine.process.send_signal(signal.SIGCONT)
            else:
                engine.process.wait()
                engine.start()
            await meet(ant, bee)

    try:
        run(scenario())
    finally:
        engine.stop()
