"""An organiser that reads slowly slows its game down and misses nothing; a spectator that does
misses ticks.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from botdrome.app import RunningServer
from botdrome.server.rooms.cube import STANDSTILL
from tests.patience import until
from tests.server.clients import PATIENCE, server
from tests.server.rooms.cube.clients import Asked, Organiser, Reply, bot, organiser
from tests.server.rooms.cube.test_control import replays

pytestmark = pytest.mark.anyio

TICKS = 500
SETUP = {"maxNumOfTicks": TICKS, "edgeLength": 100, "speed": 0, "numOfTasksPerTick": TICKS}
"""All states together have 10 MB: far more than the system keeps for a client that does not read.
"""


async def bomber(asked: Asked) -> Reply:
    """Throws a bomb in each tick, into the farther half of the cube, in a plane of its own."""
    plane = 98 + int(asked.body["currentPlayer"]["name"] == "B")
    cells = [(50 + number // 50, 50 + number % 50) for number in range(TICKS)]
    return Reply(
        json.dumps([{"task": "BOMB", "x": x, "y": y, "z": plane} for x, y in cells]).encode()
    )


STARTS = [{"name": "A", "x": 0, "y": 0, "z": 0}, {"name": "B", "x": 9, "y": 9, "z": 9}]


@asynccontextmanager
async def slow(house: RunningServer) -> AsyncIterator[Organiser]:
    """A client of socket.io 2.x for which little is kept, and that reads when it is told to."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        line.setblocking(False)
        await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", house.port))
        address = f"ws://127.0.0.1:{house.port}/socket.io/?EIO=3&transport=websocket"
        async with connect(
            address, sock=line, open_timeout=PATIENCE, close_timeout=0, max_size=None, max_queue=1
        ) as one:
            for _ in range(2):
                await asyncio.wait_for(one.recv(), PATIENCE)
            yield Organiser(one)


def stands(house: RunningServer, game_id: str) -> bool:
    table = house.desk.tables[game_id]
    assert table is not None, "the game is over"
    return (table.match.deadline or 0) > STANDSTILL // 2


def ticks(events: list[tuple[str, Any]]) -> list[int]:
    return [payload["gameInfo"]["currentTick"] for event, payload in events if event == "NEXT_TICK"]


async def start(one: Organiser, url: str) -> str:
    return await one.new_game(("A", url), ("B", url), **SETUP, playerStartPositions=STARTS)


async def test_a_game_waits_for_its_organiser_to_read_and_nothing_is_lost(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(bomber) as bots, slow(house) as one:
        game_id = await start(one, bots.url)
        await until(lambda: stands(house, game_id))
        events = await one.until("GAME_ENDED")
        assert ticks(events) == list(range(TICKS))
        assert len([event for event, _ in events if event == "PLAYER_PLACED_BOMB"]) == 2 * TICKS
        await replays(house, game_id)


async def test_a_game_that_waits_can_be_paused_changed_and_stopped(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(bomber) as bots, slow(house) as one:
        game_id = await start(one, bots.url)
        await until(lambda: stands(house, game_id))
        for event in ("PAUSE_GAME", "RESUME_GAME"):
            await one.emit(event, {"id": game_id})
        await one.emit("GAME_SETUP_UPDATE", SETUP | {"speed": 1, "id": game_id})
        await one.emit("STOP_GAME", {"id": game_id})
        events = await one.until("GAME_ENDED")
        assert events[-1][1]["result"] == "STOPPED"
        assert ticks(events) == list(range(len(ticks(events)))), "no tick is missing"
        await replays(house, game_id)


async def test_an_organiser_that_never_reads_again_is_hung_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.rooms.cube.READING", 0.01)
    async with server(tmp_path, cube_keep=0.0) as house, bot(bomber) as bots, slow(house) as one:
        game_id = await start(one, bots.url)
        await until(lambda: house.desk.tables[game_id] is None)
        match = await house.arena.store.match(game_id)
        assert match is not None and (match.status, match.reason) == (
            "aborted",
            "its organiser left",
        )


async def test_another_connection_takes_over_a_game_that_waits(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(bomber) as bots,
        slow(house) as one,
        organiser(house) as two,
    ):
        await one.emit("NEW_GAME", {"setup": SETUP | {"playerStartPositions": STARTS}, "players": [
            {"name": "A", "url": bots.url}, {"name": "B", "url": bots.url}]})  # fmt: skip
        _, started = await one.receive()
        await until(lambda: stands(house, started["id"]))
        await two.emit("RECLAIM_GAME", started)
        events = await two.until("GAME_ENDED")
        seen = ticks(events)
        assert seen == list(range(seen[0], TICKS))


async def test_a_slow_spectator_slows_no_game_down(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(bomber) as bots,
        organiser(house) as one,
        slow(house) as two,
    ):
        await one.emit("NEW_GAME", {"setup": SETUP | {"playerStartPositions": STARTS}, "players": [
            {"name": "A", "url": bots.url}, {"name": "B", "url": bots.url}]})  # fmt: skip
        _, started = await one.receive()
        await one.emit("PAUSE_GAME", {"id": started["id"]})
        await one.until("GAME_PAUSED")
        await two.emit("WATCH_GAME", {"id": started["id"]})
        assert (await two.receive())[0] == "GAME_WATCHED"
        await one.emit("RESUME_GAME", {"id": started["id"]})
        played = ticks(await one.until("GAME_ENDED"))
        assert played[-1] == TICKS - 1
        seen = ticks(await two.until("GAME_ENDED"))
        assert seen == sorted(set(seen)) and len(seen) < TICKS, "it has missed some"
