"""When too many results wait for the store, no new match begins, and clients are told why in the
terms of their protocol.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs
from websockets.exceptions import InvalidStatus

from botdrome.api import probes
from botdrome.app import RunningServer
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.desk import NOT_STORED, RETRY
from botdrome.store import journal
from botdrome.store.entries import StoreUnavailable
from tests.patience import until
from tests.server.clients import (
    NOTICES,
    PATIENCE,
    Client,
    bot,
    client,
    leap,
    pair,
    play_noughts,
    registered,
    server,
)
from tests.server.outages import Outage
from tests.server.rooms.boats import clients as boats
from tests.server.rooms.bomber import clients as bombers
from tests.server.rooms.cube import clients as cubes
from tests.server.rooms.duel import clients as duellists

pytestmark = pytest.mark.anyio

REGISTER = (
    'mutation { registerBot(gameType: NOUGHTS_AND_CROSSES, name: "late", owner: "x") { password } }'
)


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    monkeypatch.setattr(probes, "KEPT_FOR", 0.0)
    return Outage(monkeypatch)


async def one_waits(house: RunningServer, bob: Client) -> None:
    """A match ends, and its end waits for the store."""
    await bob.socket.close()
    await until(lambda: house.arena.store.journal.unwritten)


@asynccontextmanager
async def full_house(
    folder: Path, outage: Outage, **changes: Any
) -> AsyncIterator[tuple[RunningServer, dict[str, Any]]]:
    """A server that may begin no match, and the login of a bot that wants one."""
    limited = {
        "limits_unwritten": 1,
        "boats_port": -1,
        "duel_port": -1,
        "bomber_rooms": bombers.STEPS,
    }
    async with server(folder, **limited | changes) as house, pair(house) as (_, bob):
        login = await registered(house, "cleo") | NOTICES
        async with bot(house, login):
            pass
        outage.begin()
        await one_waits(house, bob)
        try:
            yield house, login
        finally:
            outage.end()


def web(house: RunningServer) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=house.url, timeout=PATIENCE, trust_env=False)


async def test_bots_over_websockets(tmp_path: Path, outage: Outage) -> None:
    """Clients that connect are refused, since Battlebot's own client connects again after any
    close. Others may use /play.
    """
    async with full_house(tmp_path, outage) as (house, login):
        with pytest.raises(InvalidStatus) as refused:
            async with bot(house, login):
                pass
        assert (refused.value.response.status_code, refused.value.response.body) == (
            503,
            NOT_STORED.encode(),
        )
        async with bot(house, login, "/play") as cleo:
            assert (await cleo.until_closed())[:2] == ([{"error": NOT_STORED}], 1013)


async def test_bots_of_the_original_wait_in_silence_until_results_can_be_stored(
    tmp_path: Path, outage: Outage
) -> None:
    async with full_house(tmp_path, outage) as (house, cleo):
        del cleo["features"]
        async with bot(house, cleo, "/play") as one:
            await asyncio.wait_for(
                await one.socket.ping(), PATIENCE
            )  # a message or a close would come before the pong
            outage.end()
            await until(lambda: not house.arena.store.journal.unwritten)
            async with bot(house, await registered(house, "dan")) as two:
                leap(RETRY)
                await asyncio.gather(play_noughts(one, "cleo"), play_noughts(two, "dan"))


async def test_a_bot_of_the_original_that_leaves_meanwhile_is_forgotten(
    tmp_path: Path, outage: Outage
) -> None:
    async with full_house(tmp_path, outage) as (house, cleo):
        del cleo["features"]
        async with bot(house, cleo, "/play") as one:
            await asyncio.wait_for(await one.socket.ping(), PATIENCE)
        await until(lambda: len(house.desk.registry.clients) <= 1)
        outage.end()
        await until(lambda: not house.arena.store.journal.unwritten)
        leap(RETRY)
        await asyncio.sleep(0)
        assert not house.desk.waiting_clients


async def test_boat_players(tmp_path: Path, outage: Outage) -> None:
    async with full_house(tmp_path, outage) as (house, _), boats.line(house) as ann:
        await ann.receive()
        ann.send(f"J|ann|{boats.BOARD}")
        assert await ann.rest() == [NOT_STORED]


async def test_duellists(tmp_path: Path, outage: Outage) -> None:
    async with full_house(tmp_path, outage) as (house, _), duellists.connected(house) as ann:
        await ann.send({"username": "ann"})
        assert NOT_STORED in str(await ann.until_closed())


async def test_bomberman_users(tmp_path: Path, outage: Outage) -> None:
    async with full_house(tmp_path, outage) as (house, _), bombers.api(house) as one:
        answer = await one.ask("POST", "/register/Ada")
        assert (answer.status_code, answer.json()["information"], answer.json()["detail"]) == (
            503,
            "UNAVAILABLE",
            NOT_STORED,
        )


async def test_battlecube_organisers(tmp_path: Path, outage: Outage) -> None:
    async with full_house(tmp_path, outage) as (house, _), cubes.organiser(house) as one:
        await one.emit("NEW_GAME", cubes.game(("A", "house:explorer")))
        assert (await one.until("ERROR"))[-1][1]["error"] == "UNAVAILABLE"


async def test_rest_graphql_and_probes(tmp_path: Path, outage: Outage) -> None:
    async with full_house(tmp_path, outage) as (house, _), web(house) as http:
        bot = {"game": "noughts-and-crosses", "name": "late", "owner": "x"}
        answer = await http.post("/api/v1/bots", json=bot)
        assert (answer.status_code, answer.json()) == (503, {"error": STORE_AWAY})
        answer = await http.post("/graphql", json={"query": REGISTER})
        assert answer.json()["errors"][0]["message"] == STORE_AWAY
        assert (await http.get("/readyz")).status_code == 503
        assert (await http.get("/healthz")).status_code == 200


async def test_an_idle_server_whose_store_cannot_be_written_is_not_ready(
    tmp_path: Path, outage: Outage
) -> None:
    async with server(tmp_path) as house, web(house) as http:
        assert (await http.get("/readyz")).status_code == 200
        outage.begin()
        assert (await http.get("/readyz")).status_code == 503
        outage.end()
        while (await http.get("/readyz")).status_code == 503:
            pass


async def test_an_outage_fills_no_log(tmp_path: Path, outage: Outage) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        with capture_logs() as logs:
            outage.begin(reads=False)
            for _ in range(20):
                async with client(house) as one:
                    await one.send(login)
                    await one.until_closed()
            outage.end()
            async with bot(house, login):
                pass
        assert [line["event"] for line in logs] == [
            "the store cannot be read",
            "the store can be read again",
        ]


async def test_a_server_that_stops_meanwhile_tells_nobody(
    tmp_path: Path, outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "CLOSING_TIME", 0.0)
    with pytest.raises(StoreUnavailable, match="1 result not stored, and told to nobody"):
        async with server(tmp_path) as house, pair(house) as (ada, bob):
            outage.begin()
            await one_waits(house, bob)
            closing = asyncio.ensure_future(house.close())
            await outage.silent(closing)
            leap(60.0)
            with capture_logs() as logs, pytest.raises(StoreUnavailable):
                await closing
            assert "a result was not stored, and is told to nobody" in [
                line["event"] for line in logs
            ]
            assert all(
                message["state"]["result"] is None for message in (await ada.until_closed())[0]
            )
            raise StoreUnavailable("1 result not stored, and told to nobody")
