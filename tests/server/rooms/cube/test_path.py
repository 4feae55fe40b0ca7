"""The path of one Battlecube tick: docs/architecture.md describes it, and this shows that it is
true.
"""

from pathlib import Path

import pytest

from tests.server.clients import server
from tests.server.paths import Calls, documented
from tests.server.rooms.cube.clients import NOOP, bot, organiser, saying

pytestmark = pytest.mark.anyio


async def test_a_tick_goes_from_the_bots_to_the_organiser_and_back_to_the_bots(
    tmp_path: Path,
) -> None:
    calls = Calls()
    async with (
        server(tmp_path) as house,
        bot(saying(NOOP)) as ann,
        bot(saying(NOOP)) as ben,
        organiser(house) as one,
    ):
        await one.new_game(
            ("Ann", ann.url), ("Ben", ben.url), maxNumOfTicks=8, speed=1, edgeLength=20
        )
        for _ in range(2):
            await one.until("NEXT_TICK")
        with calls.recorded():
            for _ in range(3):
                await one.until("NEXT_TICK")
        await one.until("GAME_ENDED")
    calls.check(documented("A Battlecube tick"))
    table = ["server/tables/table.py", "server/rooms/cube.py"]
    sent = [*table, "api/engineio.py", "server/network/websocket.py"]
    assert calls.stacks["Socket.send"][-4:] == sent, (
        "no other module stands between the table and the socket"
    )
    assert calls.stacks["CubeBot.call_if_awaited"][-2:] == table
    asked = [
        "server/rooms/cube.py",
        "server/calling/bot_caller.py",
        "server/calling/bot_connection.py",
    ]
    assert calls.stacks["BotConnection.ask"][-3:] == asked, (
        "nor between a bot's turn and its connection"
    )
