"""House bots think in worker processes, and only about running matches."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from botdrome.bots.house import HOUSE
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.terms import Pace
from botdrome.server.lobby.house import HouseSeat
from botdrome.server.tables.table import Subscriber
from botdrome.server.workers.jobs import house_bot_move
from tests.patience import until
from tests.server.clients import server
from tests.server.workers.chores import broken, dies, dies_once

pytestmark = pytest.mark.anyio

CHORES = "tests.server.workers.chores"
ROW = CATALOGUE["noughts-and-crosses"]


async def test_what_is_over_is_not_thought_about(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def wait() -> None:
        await go_on.wait()

    async with server(tmp_path, processes=1) as house:
        desk = house.desk
        desk.workers.server = {"wait": wait}
        busy = asyncio.ensure_future(desk.workers.run("", f"{CHORES}:ask", "wait"))
        table = desk.tables.set_table(ROW.game, ROW.terms, ("one", "two"), ("", ""))
        for player in range(2):
            HouseSeat(desk.workers, table, player, broken).sit_down()
        desk.tables.start_table(table, [None, None], 0.0)
        await until(lambda: table.open)
        over = asyncio.Event()
        table.subscribe(Subscriber(over=lambda _: over.set()))
        table.abort("enough")
        await over.wait()
        go_on.set()
        await busy
        with capture_logs() as logs:
            assert await desk.workers.value("", f"{CHORES}:add", 1, 1) == 2
    assert not any("bot failed" in line["event"] for line in logs)


async def test_a_bot_that_fails_is_reported(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        table = house.desk.tables.set_table(ROW.game, ROW.terms, ("one", "two"), ("", ""))
        HouseSeat(house.desk.workers, table, 0, broken).sit_down()
        await house.desk.workers.value(
            "", f"{CHORES}:add", 1, 1
        )  # or the match may be over before a worker has started
        with capture_logs() as logs:
            house.desk.tables.start_table(table, [None, None], 0.0)
            await until(lambda: any("bot failed" in line["event"] for line in logs))


async def test_a_bot_whose_worker_dies_thinks_again(tmp_path: Path) -> None:
    """Once for a move: the second worker finds the file that the first has left."""
    bot = partial(dies_once, str(tmp_path / "died"))
    async with server(tmp_path) as house:
        table = house.desk.tables.set_table(
            ROW.game, replace(ROW.terms, pace=Pace(None)), ("one", "two"), ("", "")
        )
        over = asyncio.Event()
        table.subscribe(Subscriber(over=lambda _: over.set()))
        for player in range(2):
            HouseSeat(house.desk.workers, table, player, bot).sit_down()
        house.desk.tables.start_table(table, [None, None], 0.0)
        await over.wait()
        assert table.match.result is not None and set(table.match.result.causes) == {"complete"}
    assert (tmp_path / "died").exists()


async def test_a_bot_whose_worker_always_dies_loses(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        table = house.desk.tables.set_table(
            ROW.game, replace(ROW.terms, pace=Pace(None)), ("one", "two"), ("", "")
        )
        over = asyncio.Event()
        table.subscribe(Subscriber(over=lambda _: over.set()))
        HouseSeat(house.desk.workers, table, 0, dies).sit_down()
        house.desk.tables.start_table(table, [None, None], 0.0)
        await over.wait()
        assert table.match.result is not None and table.match.result.causes[0] == "crash"
        assert table.match.result.winner == 1


async def test_a_seed_gives_the_same_moves_as_anywhere_else(tmp_path: Path) -> None:
    bot = HOUSE["noughts-and-crosses"]["random"]
    position = ROW.game.start(2, Chance(0))
    view, here = position.view(0), Chance(7)
    there = Chance(7)
    async with server(tmp_path) as house:
        for _ in range(5):
            move, there = await house.desk.workers.value(
                "", "botdrome.server.workers.jobs:house_bot_move", bot, view, there
            )
            assert move == house_bot_move(bot, view, here)[0]
