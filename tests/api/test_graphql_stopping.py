"""A server that stops: queries that are worked on are answered, and those that wait for their turn are told at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from botdrome.api.app import Api, make_app
from botdrome.api.graphql.clerk import AT_ONCE
from botdrome.server.arena import Arena
from tests.api.serving import serving, until
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

COUNT = {"query": "{ botsCount(gameType: GOMOKU) }"}
STOPPING = {"errors": [{"message": "The server is stopping."}]}


class SlowCount:
    """Counts bots when it is told to."""

    def __init__(self) -> None:
        self.asked, self.go_on = 0, asyncio.Event()

    async def __call__(self, *_: Any) -> int:
        self.asked += 1
        await asyncio.wait_for(self.go_on.wait(), PATIENCE)
        return 5


@pytest.fixture
async def slow(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> SlowCount:
    count = SlowCount()
    monkeypatch.setattr(arena.store, "count_bots", count)
    return count


@pytest.fixture
async def api(arena: Arena) -> Api:
    return make_app(arena)


@pytest.fixture
async def http(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://arena") as client:
        yield client


async def test_who_waits_is_told_at_once_and_who_is_answered_is_answered(
    http: httpx.AsyncClient, api: Api, slow: SlowCount
) -> None:
    begun = [asyncio.ensure_future(http.post("/graphql", json=COUNT)) for _ in range(AT_ONCE)]
    await until(lambda: slow.asked == AT_ONCE)
    waiting = [asyncio.ensure_future(http.post("/graphql", json=COUNT)) for _ in range(20)]
    await until(lambda: len(api._clerk._at_hand) == AT_ONCE + 20)
    closing = asyncio.ensure_future(api.close())
    for response in await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE):
        assert (response.status_code, response.json()) == (503, STOPPING)
    assert not closing.done() and not any(one.done() for one in begun)
    slow.go_on.set()
    await asyncio.wait_for(closing, PATIENCE)
    assert [one.result().json() for one in begun] == [{"data": {"botsCount": 5}}] * AT_ONCE
    assert slow.asked == AT_ONCE
    assert (await http.post("/graphql", json=COUNT)).json() == STOPPING


async def test_without_queries_there_is_nothing_to_wait_for(api: Api) -> None:
    await api.close()


async def test_one_who_takes_too_long_is_not_waited_for(
    http: httpx.AsyncClient, api: Api, slow: SlowCount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.graphql.clerk.LAST_ANSWERS", 0)
    asked = asyncio.ensure_future(http.post("/graphql", json=COUNT))
    await until(lambda: slow.asked == 1)
    await api.close()
    assert not asked.done()
    slow.go_on.set()
    assert (await asked).status_code == 200


async def test_who_still_works_when_all_is_over_asks_nothing_of_a_loop_that_ends(
    http: httpx.AsyncClient, api: Api, slow: SlowCount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait for ever, and the process with it."""
    monkeypatch.setattr("botdrome.api.graphql.clerk.LAST_ANSWERS", 0)
    monkeypatch.setattr("botdrome.api.graphql.reading.AT_ONCE", 1)
    two = {"query": "{ a: botsCount(gameType: GOMOKU) b: botsCount(gameType: GOMOKU) }"}
    asked = asyncio.ensure_future(http.post("/graphql", json=two))
    await until(lambda: slow.asked == 1)
    await api.close()
    slow.go_on.set()
    answer = (await asyncio.wait_for(asked, PATIENCE)).json()
    assert answer["errors"][0]["message"] == "The server is stopping."
    assert slow.asked == 1


async def test_a_subscriber_is_told_in_its_protocol(api: Api) -> None:
    async with serving(api) as server:
        url = f"ws://{server}/graphql"
        async with connect(url, subprotocols=["graphql-transport-ws"], proxy=None) as socket:  # type: ignore[list-item]
            await socket.send('{"type": "connection_init"}')
            await socket.recv()
            await api.close()
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": COUNT}))
            assert json.loads(await socket.recv()) == {"type": "error", "id": "1", "payload": STOPPING["errors"]}
