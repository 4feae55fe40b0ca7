"""Bots of the house think beside the work, and not about what is over."""

import asyncio
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from botdrome.formats import FORMATS
from botdrome.games.chance import Chance
from botdrome.server.house import THINKERS, HouseSeat
from tests.server.clients import server

pytestmark = pytest.mark.anyio


async def test_what_is_over_is_not_thought_about(tmp_path: Path) -> None:
    thought: list[Any] = []
    busy = Event()

    def bot(view: Any, chance: Chance) -> Any:
        thought.append(view)

    async with server(tmp_path) as house:
        row = FORMATS["noughts-and-crosses"]
        table = house.desk.floor.set_table(row.game, row.terms, ("one", "two"), ("", ""))
        for player in range(2):
            HouseSeat(table, player, bot).sit_down()
        blocked = [THINKERS.submit(busy.wait, 20) for _ in range(2)]
        house.desk.floor.start_table(table, [None, None], 0.0)
        while not table.open:
            await asyncio.sleep(0)
        table.abort("enough")
        busy.set()
        await asyncio.gather(*map(asyncio.wrap_future, blocked))
        await asyncio.get_running_loop().run_in_executor(THINKERS, bool)
    assert thought == []
