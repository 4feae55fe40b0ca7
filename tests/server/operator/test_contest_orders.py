"""Orders for contests are carried out whole."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.contest.document import document_from
from botdrome.server.contests.contests import CreateContest
from tests.patience import until
from tests.server.clients import server

pytestmark = pytest.mark.anyio


async def test_an_order_is_carried_out_though_the_node_that_gave_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, lost = asyncio.Event(), asyncio.Event()
    async with server(tmp_path) as house:
        orders, create = house.arena.contests, house.contests.create

        async def create_later(*order: Any) -> None:
            begun.set()
            await lost.wait()
            await create(*order)

        monkeypatch.setattr(house.contests, "create", create_later)
        assert orders is not None
        verb = CreateContest(document_from({"name": "cup", "game": "gomoku"}))
        creating = asyncio.ensure_future(orders.order("cup", verb, "gomoku"))
        await begun.wait()
        assert orders.in_use("gomoku")
        creating.cancel()
        lost.set()
        await until(lambda: not orders.in_use("gomoku"))
        assert house.contests.running("cup") is not None
