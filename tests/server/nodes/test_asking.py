"""Questions between nodes: answers, errors, and nodes that do not answer."""

import asyncio

import pytest
from msgspec import Struct

from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.lobby.desk import Tasks
from botdrome.server.nodes import asking
from botdrome.server.nodes.asking import Asking, LateAnswer, NoAnswer, NodeAsking
from botdrome.server.workers.limits import CLIENT_SOURCE
from tests.patience import until
from tests.server.nodes.fixed_members import FixedMembers, node
from tests.server.nodes.memory_links import MemoryLinks, Network

pytestmark = pytest.mark.anyio

ANT, BEE = node("ant"), node("bee")


class Double(Struct, frozen=True):
    text: str


def two() -> tuple[NodeAsking, NodeAsking, Network]:
    network, start = Network(), Tasks().start
    one, other = [
        NodeAsking(FixedMembers(here, there), MemoryLinks(network, here.id), start)
        for here, there in ((ANT, BEE), (BEE, ANT))
    ]
    return one, other, network


async def double(question: Double) -> str:
    if question.text == "call":
        raise CallFailed("refused")
    if question.text == "wait":
        await asyncio.Event().wait()
    return question.text * 2 + CLIENT_SOURCE.get()


async def test_a_single_server_answers_itself() -> None:
    alone = Asking()
    alone.on(Double, double)
    assert await alone.ask(None, Double("a"), str) == "aa"
    assert await alone.ask_all(Double("a"), str) == (["aa"], [])


async def test_all_nodes_answer_and_know_who_causes_the_question() -> None:
    ant, bee, _ = two()
    for one in (ant, bee):
        one.on(Double, double)
    CLIENT_SOURCE.set("192.0.2.1")
    assert await ant.ask_all(Double("a"), str) == (["aa192.0.2.1"] * 2, [])
    with pytest.raises(CallFailed, match=r"^refused$"):
        await ant.ask(BEE.id, Double("call"), str)


async def test_a_node_that_cannot_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ant, bee, network = two()
    ant.on(Double, double)
    assert await ant.ask_all(Double("a"), str) == (
        ["aa"],
        ["bee"],
    )  # bee does not know such questions
    bee.on(Double, double)
    with pytest.raises(LateAnswer, match="the node bee did not answer within"):
        await ant.ask(BEE.id, Double("wait"), str, 0.01)
    await until(lambda: not bee._answering)
    waiting = asyncio.ensure_future(ant.ask(BEE.id, Double("wait"), str, 60))
    await until(lambda: bee._answering)
    network.cut(ANT.id, BEE.id)
    with pytest.raises(NoAnswer, match="the link to it was lost"):
        await waiting
    assert not bee._answering and not ant._waiting
    with pytest.raises(NoAnswer, match="is not known at present"):
        await ant.ask(None, Double("a"), str)
    monkeypatch.setattr(asking, "LARGEST", 5)
    for text in ("aaa", "aaaaaa"):
        with pytest.raises(NoAnswer, match="at most 5 bytes"):
            await ant.ask(BEE.id, Double(text), str)


async def test_nobody_works_on_an_answer_that_is_not_wanted() -> None:
    ant, bee, _ = two()
    bee.on(Double, double)
    waiting = asyncio.ensure_future(ant.ask(BEE.id, Double("wait"), str, 60))
    await until(lambda: bee._answering)
    waiting.cancel()
    await until(lambda: not bee._answering)
