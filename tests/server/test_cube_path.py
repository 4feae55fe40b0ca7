"""The path of one Battlecube tick through the server: docs/architecture.md describes it, and this shows that it is true."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import botdrome
from tests.server.clients import server
from tests.server.cubes import NOOP, bot, organiser, saying

pytestmark = [pytest.mark.anyio, pytest.mark.sources]

SOURCES = f"{Path(botdrome.__file__).parent}/"
TICK = [
    ("server/tables/table.py", "Table._ring"),
    ("wire/cube/writer.py", "CubeWriter.on_news"),
    ("server/cube/game.py", "CubeGame._changed"),
    ("api/socketio/connection.py", "EngineConnection.emit"),
    ("server/network/websocket.py", "Socket.send"),
    ("server/cube/bot.py", "CubeBot.call_if_awaited"),
    ("server/calling/bot_caller.py", "BotCaller.post"),
    ("server/calling/bot_connection.py", "BotConnection.ask"),
    ("server/calling/bot_connection.py", "BotConnection.data_received"),
    ("server/tables/table.py", "Table.submit"),
]
"""The functions in the order in which they are called: eight modules, and back to the first."""


class Calls:
    """The functions of this package that were called, in order, and for each the modules on its stack."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []
        self.stacks: dict[str, list[str]] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        sys.setprofile(self._record)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, arg: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if event == "call" and file.startswith(SOURCES):
            self.made.append((file.removeprefix(SOURCES), name))
            self.stacks.setdefault(name, [module for module, _ in groupby(reversed(_modules(frame)))])


def _modules(frame: FrameType | None) -> list[str]:
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(SOURCES):
            found.append(frame.f_code.co_filename.removeprefix(SOURCES))
        frame = frame.f_back
    return found


async def test_a_tick_goes_from_the_table_to_the_organiser_and_the_bots_and_back(tmp_path: Path) -> None:
    calls = Calls()
    async with server(tmp_path) as house, bot(saying(NOOP)) as ann, bot(saying(NOOP)) as ben, organiser(house) as one:
        await one.new_game(("Ann", ann.url), ("Ben", ben.url), maxNumOfTicks=8, speed=1, edgeLength=20)
        for _ in range(2):
            await one.until("NEXT_TICK")
        with calls.recorded():
            for _ in range(3):
                await one.until("NEXT_TICK")
        await one.until("GAME_ENDED")
    made = iter(calls.made[calls.made.index(TICK[0]) :])
    assert [step for step in TICK if step in made] == TICK, calls.made
    table = ["server/tables/table.py", "server/tables/subscriber.py", "server/cube/game.py"]
    sent = [*table, "api/socketio/connection.py", "server/network/websocket.py"]
    assert calls.stacks["Socket.send"][-5:] == sent, "nothing else stands between the table and the socket"
    assert calls.stacks["CubeBot.call_if_awaited"][-4:] == [*table, "server/cube/bot.py"]
    asked = ["server/cube/bot.py", "server/calling/bot_caller.py", "server/calling/bot_connection.py"]
    assert calls.stacks["BotConnection.ask"][-3:] == asked, "nor between a bot's turn and its connection"
