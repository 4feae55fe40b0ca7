"""A server that stops: queries that are worked on are answered, and those that wait for their turn
are told at once.
"""

import asyncio
import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from botdrome.api.app import Api
from botdrome.server.arena import Arena
from tests.api.serving import serving
from tests.patience import until

pytestmark = pytest.mark.anyio

REVOKE = {"query": 'mutation { revokeToken(name: "Ann") { name } }'}
AT_HOME = {"authorization": "Bearer secret"}
STOPPING = {"errors": [{"message": "The server is stopping."}]}
PATIENCE = 120.0


class SlowHolder:
    """Looks a bot up when it is told to."""

    def __init__(self) -> None:
        self.asked, self.go_on = 0, asyncio.Event()

    async def __call__(self, *_: Any) -> None:
        self.asked += 1
        await asyncio.wait_for(self.go_on.wait(), PATIENCE)


@pytest.fixture
def slow(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> SlowHolder:
    slow = SlowHolder()
    monkeypatch.setattr(arena.store, "bot", slow)
    return slow


async def test_who_waits_is_told_at_once_and_who_is_answered_is_answered(
    http: httpx.AsyncClient, app: Api, arena: Arena, slow: SlowHolder
) -> None:
    begun = asyncio.ensure_future(http.post("/graphql", json=REVOKE, headers=AT_HOME))
    await until(lambda: slow.asked == 1)
    waiting = [
        asyncio.ensure_future(http.post("/graphql", json=REVOKE, headers=AT_HOME))
        for _ in range(20)
    ]
    await until(lambda: len(arena.workers._long) == 20)
    closing = asyncio.ensure_future(app.close())
    for response in await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE):
        assert (response.status_code, response.json()) == (503, STOPPING)
    assert not closing.done() and not begun.done()
    slow.go_on.set()
    await asyncio.wait_for(closing, PATIENCE)
    assert (
        begun.result()
        .json()["errors"][0]["message"]
        .startswith("The password of the bot is needed")
    )
    assert slow.asked == 1
    assert (await http.post("/graphql", json=REVOKE)).json() == STOPPING


async def test_without_queries_there_is_nothing_to_wait_for(app: Api) -> None:
    await app.close()


async def test_one_who_takes_too_long_is_not_waited_for(
    http: httpx.AsyncClient, app: Api, slow: SlowHolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.workers.pool.LAST_JOBS", 0)
    asked = asyncio.ensure_future(http.post("/graphql", json=REVOKE, headers=AT_HOME))
    await until(lambda: slow.asked == 1)
    await app.close()
    assert (await asyncio.wait_for(asked, PATIENCE)).json() == STOPPING
    slow.go_on.set()


async def test_a_subscriber_is_told_in_its_protocol(
    app: Api, slow: SlowHolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.workers.pool.LAST_JOBS", 0)
    offered: Any = ["graphql-transport-ws"]
    async with (
        serving(app) as server,
        connect(
            f"ws://{server}/graphql", subprotocols=offered, proxy=None, additional_headers=AT_HOME
        ) as socket,
    ):
        await socket.send('{"type": "connection_init"}')
        await socket.recv()
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": REVOKE}))
        await until(lambda: slow.asked == 1)
        await app.close()
        assert json.loads(await socket.recv()) == {
            "type": "error",
            "id": "1",
            "payload": STOPPING["errors"],
        }
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012
        slow.go_on.set()
