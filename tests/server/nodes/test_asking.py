"""Questions between nodes: answers, errors, and nodes that do not answer."""

import asyncio

import pytest
from msgspec import Struct

from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.nodes.asking import ENVELOPE, Asking, LateAnswer, NoAnswer, NodeAsking
from botdrome.server.workers.jobs import CLIENT, set_source
from tests.server.nodes.fixed_members import FixedMembers, node
from tests.server.nodes.memory_links import MemoryLinks, Network

pytestmark = pytest.mark.anyio

ANT, BEE = node("ant"), node("bee")


class Double(Struct, frozen=True):
    text: str


def two() -> tuple[NodeAsking, NodeAsking, Network]:
    network = Network()
    one, other = [
        NodeAsking(MemoryLinks(network, FixedMembers(here, there)))
        for here, there in ((ANT, BEE), (BEE, ANT))
    ]
    return one, other, network


async def double(question: Double) -> str:
    if question.text == "call":
        raise CallFailed("refused")
    if question.text == "wait":
        await asyncio.Event().wait()
    return question.text * 2 + CLIENT.get().source


async def test_a_single_server_answers_itself() -> None:
    alone = Asking()
    alone.on(Double, double)
    assert await alone.ask(None, Double("a"), str) == "aa"
    assert await alone.ask_all(Double("a"), str) == (["aa"], [])


async def test_all_nodes_answer_and_know_who_causes_the_question() -> None:
    ant, bee, _ = two()
    for one in (ant, bee):
        one.on(Double, double)
    set_source("192.0.2.1")
    assert await ant.ask_all(Double("a"), str) == (["aa192.0.2.1"] * 2, [])
    with pytest.raises(CallFailed, match=r"^refused$"):
        await ant.ask(BEE.id, Double("call"), str)


async def test_a_node_that_cannot_answer_is_named() -> None:
    ant, bee, network = two()
    ant.on(Double, double)
    # bee does not know such questions
    assert await ant.ask_all(Double("a"), str) == (["aa"], ["bee"])
    bee.on(Double, double)
    with pytest.raises(LateAnswer, match="the node bee did not answer within"):
        await ant.ask(BEE.id, Double("wait"), str, 0.01)
    network.silent = True
    with pytest.raises(NoAnswer, match="bee did not answer: NATS cannot be reached"):
        await ant.ask(BEE.id, Double("a"), str)
    network.silent = False
    with pytest.raises(NoAnswer, match="is not known at present"):
        await ant.ask(None, Double("a"), str)
    for one in network.links.values():
        one.largest = ENVELOPE + 2000
    for length in (1500, 2500):
        with pytest.raises(NoAnswer, match="at most 2000 bytes"):
            await ant.ask(BEE.id, Double("a" * length), str)


async def test_nobody_works_on_an_answer_for_longer_than_it_is_waited_for() -> None:
    ant, bee, _ = two()
    ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    async def wait(question: Double) -> str:
        try:
            return await double(question)
        except BaseException as problem:
            ended.set_result(problem)
            raise

    bee.on(Double, wait)
    with pytest.raises(NoAnswer):
        await ant.ask(BEE.id, Double("wait"), str, 0.01)
    assert isinstance(await ended, asyncio.CancelledError)
