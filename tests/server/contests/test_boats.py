"""Contests of battleship with bots on lines, on WebSockets and of the house."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import PATIENCE, bot
from tests.server.contests.entrants import entered, open_contest, stored_cup
from tests.server.rooms.boats.clients import BOARD, boat_server, line, sailor
from tests.server.rooms.boats.test_mix import play_natively, play_on_lines

pytestmark = pytest.mark.anyio


async def sail_on(house: RunningServer, login: dict[str, Any]) -> list[str]:
    """Join again after every game, until the server closes the contest."""
    while True:
        async with line(house) as one:
            await one.receive()
            one.send(f"J|{login['name']}|{BOARD}|{login['password']}")
            if house.contests.running("cup") is None:
                return []
            await play_on_lines(one, login["name"])


async def play_on(house: RunningServer, login: dict[str, Any]) -> None:
    while house.contests.running("cup") is not None:
        async with bot(house, login) as one:
            await play_natively(one)


async def test_players_on_lines_meet_the_others(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=2)) as house:
        house.desk.workers.start()
        over = asyncio.Event()
        house.contests.on_change.append(
            lambda: over.set() if house.contests.running("cup") is None else None
        )
        await open_contest(house, game="battleship", games=1, entrants=[{"bot": "house:random"}])
        ada, bob, cyd = await entered(house, "ada", "bob", "cyd", game="battleship")
        await house.contests.act("cup", "start", "operator")
        playing = [
            asyncio.create_task(one)
            for one in (
                sail_on(house, ada),
                sail_on(house, bob),
                play_on(house, cyd | {"features": []}),
            )
        ]
        await asyncio.wait_for(over.wait(), PATIENCE)
        for task in playing:
            task.cancel()
        results = (await stored_cup(house)).results.values()
        assert len(results) == 6 and all(result.match and not result.absent for result in results)


async def test_a_player_that_waits_in_a_room_is_called_in_when_the_contest_starts(
    tmp_path: Path,
) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=2)) as house:
        house.desk.workers.start()
        await open_contest(house, game="battleship", games=1, entrants=[{"bot": "house:random"}])
        (ada,) = await entered(house, "ada", game="battleship")
        async with sailor(house, "ada", ada["password"]) as one, sailor(house, "guest") as other:
            assert (await one.until("S|"))[-1] and (await other.until("S|"))[-1], (
                "without a contest they play each other"
            )
        async with sailor(house, "ada", ada["password"]) as one:
            await house.contests.act("cup", "start", "operator")
            assert "ada" in (await one.until("S|"))[-1].split("|")
            assert [match.contest for match in house.desk.tables.live()] == ["cup"]
