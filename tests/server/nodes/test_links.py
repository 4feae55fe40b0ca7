"""Links over a real NATS server, which is killed, frozen and started again, and lost messages."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import Struct, msgpack
from structlog.testing import capture_logs

from botdrome.server.network.steady_loop import run
from botdrome.server.nodes import links as under_test
from botdrome.server.nodes import nats
from botdrome.server.nodes.cluster import MESSAGES, Node, NodeId
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.links import Beat, Envelope, NotAnswered, encode
from botdrome.server.nodes.nats import NatsLinks
from tests.patience import PATIENCE, until
from tests.server.nodes.fixed_members import FixedMembers, node

ANT, BEE, CAT = node("ant"), node("bee.x y", 7), node("cat")
QUICK = 0.01


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsEngine]:
    engine = NatsEngine(tmp_path_factory.mktemp("nats"))
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost because the machine is busy. A test that waits for silence undoes this."""
    monkeypatch.setattr(under_test, "SILENCE", PATIENCE)
    monkeypatch.setattr(nats, "PINGS", 1000)
    monkeypatch.setattr(nats, "PATIENCE", PATIENCE)


class Word(Struct, array_like=True):
    """What a node tells in its beats."""

    word: str


class Seen:
    """The links of one node, and what was received: (node, payload)."""

    def __init__(self, links: NatsLinks, members: FixedMembers) -> None:
        self.links, self.members = links, members
        self.queue: asyncio.Queue[tuple[NodeId, bytes]] = asyncio.Queue()
        self.told: dict[NodeId, str | None] = {}
        self.word: str | None = None
        links.on("word", lambda node, payload: self.queue.put_nowait((node, payload)))
        links.answer = self._answer
        self.beat = Beat(links, QUICK, Word, self._tell, self._hear)

    def say(self, to: Node | None, word: bytes) -> None:
        self.links.send("word", word, None if to is None else to.id)

    async def hear(self, count: int = 1) -> list[tuple[NodeId, bytes]]:
        async with asyncio.timeout(PATIENCE):
            found = [await self.queue.get() for _ in range(count)]
        return [(node, msgpack.decode(payload)) for node, payload in found]

    async def _answer(self, question: bytes) -> bytes:
        return question[::-1]

    def _tell(self) -> Word | None:
        return None if self.word is None else Word(self.word)

    def _hear(self, node: NodeId, word: Word | None) -> None:
        self.told[node] = None if word is None else word.word


@asynccontextmanager
async def linked(
    engine: NatsEngine, here: Node, *others: Node, cluster: str = "ours"
) -> AsyncIterator[Seen]:
    members = FixedMembers(here, *others)
    links = NatsLinks(engine.url, members, cluster)
    await links.open()
    try:
        yield Seen(links, members)
    finally:
        await links.close()


def test_messages_reach_the_nodes_they_are_for(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with (
            linked(engine, ANT, BEE, CAT) as ant,
            linked(engine, BEE, ANT, CAT) as bee,
            linked(engine, CAT, BEE) as cat,
        ):
            large = os.urandom(500_000)
            for to, word in ((BEE, b"1"), (BEE, large), (CAT, b"to one that does not know it")):
                ant.say(to, word)
            assert await bee.hear(2) == [(ANT.id, b"1"), (ANT.id, large)]
            bee.say(None, b"2")
            assert await ant.hear() == await cat.hear() == [(BEE.id, b"2")]
            assert bee.queue.empty()

    run(scenario())


def test_clusters_that_share_a_nats_server_do_not_meet(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with (
            linked(engine, ANT, BEE) as ant,
            linked(engine, BEE, ANT) as bee,
            linked(engine, ANT, BEE, cluster="theirs") as their_ant,
            linked(engine, BEE, ANT, cluster="theirs") as their_bee,
        ):
            their_ant.say(None, b"theirs")
            assert await their_bee.hear() == [(ANT.id, b"theirs")]
            ant.say(None, b"ours")
            assert await bee.hear() == [(ANT.id, b"ours")]

    run(scenario())


def test_questions_are_answered_or_fail_soon(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE) as bee:
            assert await ant.links.ask(BEE.id, b"abc", PATIENCE) == b"cba"
            with pytest.raises(NotAnswered, match="does not listen"):
                await ant.links.ask(CAT.id, b"abc", PATIENCE)
            bee.links.answer = lambda _: asyncio.Event().wait()  # type: ignore[assignment,return-value]
            with pytest.raises(TimeoutError):
                await ant.links.ask(BEE.id, b"abc", QUICK)

    run(scenario())


def test_a_beat_is_heard_until_its_node_leaves_or_is_silent(
    engine: NatsEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            ant.word = "first"
            await until(lambda: bee.told == {ANT.id: "first"})
            bee.members.change()
            assert bee.told == {ANT.id: None}
            bee.members.change(ANT)
            ant.word = "second"
            await until(lambda: bee.told == {ANT.id: "second"})
            ant.word = None
            monkeypatch.setattr(under_test, "SILENCE", QUICK)
            await until(lambda: bee.told == {ANT.id: None})

    run(scenario())


def test_a_node_of_another_version_is_refused(engine: NatsEngine) -> None:
    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            with capture_logs() as logs:
                for data in (b"?", *[encode(Envelope(MESSAGES + 1, ANT.id, "word", b""))] * 2):
                    ant.links._publish(None, data)
                ant.links.send("nobody listens", 1)
                bee.links.on("bad", lambda *_: bee.members.change(None))  # type: ignore[arg-type]
                ant.links.send("bad", 1)
                ant.say(BEE, b"then")
                assert await bee.hear() == [(ANT.id, b"then")]
                await until(lambda: len(logs) == 3)
            assert {"node": ANT.id, "theirs": MESSAGES + 1, "ours": MESSAGES}.items() <= logs[
                1
            ].items()
            assert logs[2]["topic"] == "bad"

    run(scenario())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_beats_go_on_after_nats_was_killed_or_frozen(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = NatsEngine(tmp_path)
    engine.start()
    monkeypatch.setattr(nats, "PINGS", 2)

    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            ant.word = "before"
            await until(lambda: bee.told == {ANT.id: "before"})
            engine.process.send_signal(how)
            await until(lambda: not ant.links.connected and not bee.links.connected)
            with pytest.raises(NotAnswered, match="cannot be reached"):
                await ant.links.ask(BEE.id, b"abc", PATIENCE)
            ant.say(BEE, b"while it is away")
            ant.word = "after"
            if how is signal.SIGSTOP:
                engine.process.send_signal(signal.SIGCONT)
            else:
                engine.process.wait()
                engine.start()
            await until(lambda: bee.told == {ANT.id: "after"})
            assert await ant.links.ask(BEE.id, b"abc", PATIENCE) == b"cba"

    try:
        run(scenario())
    finally:
        engine.stop()


def test_much_that_a_frozen_nats_does_not_read_is_no_trap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library waits for a server whose buffers are full, also when it ends the connection."""
    engine = NatsEngine(tmp_path)
    engine.start()
    monkeypatch.setattr(nats, "PINGS", 2)

    async def scenario() -> None:
        async with linked(engine, ANT, BEE) as ant, linked(engine, BEE, ANT) as bee:
            engine.process.send_signal(signal.SIGSTOP)
            for _ in range(40):
                ant.say(BEE, bytes(900_000))
            await until(lambda: not ant.links.connected)
            engine.process.send_signal(signal.SIGCONT)
            ant.word = "after"
            await until(lambda: bee.told == {ANT.id: "after"})

    try:
        run(scenario())
    finally:
        engine.stop()
