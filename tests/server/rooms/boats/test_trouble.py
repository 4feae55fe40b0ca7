"""When the store fails or is slow, no client gets a result that is not on disk, and the room goes
on.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import BotEntry
from tests.server.rooms.boats.clients import (
    BOARD,
    boat_server,
    host,
    line,
    order,
    sailor,
    sailors,
    the_room,
)
from tests.server.tables.test_trouble import fails

pytestmark = pytest.mark.anyio


async def test_results_that_cannot_be_stored_are_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(tables=1)) as house:
        async with sailors(house, "ann", "bob") as (ann, bob):
            monkeypatch.setattr(house.arena.store, "finish", fails)
            the_room(house).games[0].abort()
            assert await ann.rest() == await bob.rest() == ["the result could not be stored"]
        monkeypatch.undo()
        async with sailors(house, "ann", "bob"):
            pass


async def test_between_the_last_shot_and_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        go_on, finish = asyncio.Event(), house.arena.store.finish

        async def slowly(what: Any) -> None:
            await go_on.wait()
            await finish(what)

        monkeypatch.setattr(house.arena.store, "finish", slowly)
        the_room(house).games[0].abort()
        ann.send("S|bob|1|1", "K", "M||well played")
        await ann.expect("M||game is already finished", "M||game is already finished")
        await bob.expect("M|ann|well played|All")
        await bob.close()
        async with host(house) as one:
            assert "error" in await order(one, do="skip", reason="too late")
        async with line(house) as again:
            await again.receive()
            again.send("J|bob")
            assert (await again.receive()) in ("E|name in use", "invalid board")
        go_on.set()
        assert (await ann.rest())[0] == "F|aborted|0|2"


async def test_names_that_cannot_be_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with boat_server(tmp_path) as house, line(house) as one:
        await one.receive()
        monkeypatch.setattr(house.arena.store, "bot_and_alike", fails)
        one.send(f"J|ann|{BOARD}", "P|x")
        assert await one.rest() == ["the names cannot be read"]
        monkeypatch.undo()
        async with sailor(house, "ann"):
            pass


async def test_who_is_gone_before_its_name_was_looked_up_is_not_seated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with boat_server(tmp_path) as house:
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def slowly(_: str) -> tuple[None, list[BotEntry]]:
            asked.set()
            await go_on.wait()
            return None, []

        monkeypatch.setattr(house.arena.store, "bot_and_alike", slowly)
        async with line(house) as one:
            await one.receive()
            one.send(f"J|ann|{BOARD}")
            await asked.wait()
        async with line(house) as other:
            await other.receive()
            other.send("P|a turn of the loop")
            await other.receive()
            go_on.set()
            other.send(f"J|ann|{BOARD}")
            await other.expect("J|ann")
