"""When the store fails, no client gets a result that is not on disk."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.wire.battlebot.messages import Battlebot
from tests.match.telling import mark
from tests.server.clients import NOTICES, bot, client, pair, play_noughts, registered, server

pytestmark = pytest.mark.anyio


async def fails(*_: Any) -> Any:
    raise OSError("no space left on device")


def fails_at_once(*_: Any) -> Any:
    raise OSError("no space left on device")


@pytest.mark.parametrize("failing", [fails, fails_at_once])
async def test_a_result_that_cannot_be_stored_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: Any
) -> None:
    async with server(tmp_path) as house:
        async with pair(house) as (ada, bob):
            monkeypatch.setattr(house.arena.store, "finish", failing)
            await ada.send(mark(0, 1, 1))
            await bob.receive()
            await bob.socket.close()
            messages, code, reason = await ada.until_closed()
            assert [message["state"]["result"] for message in messages] == [None]
            assert (code, reason) == (1011, "the result could not be stored")
            assert house.desk.tables.live() == []
        monkeypatch.undo()
        logins = [await registered(house, name) for name in ("cleo", "dan")]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "cleo"), play_noughts(two, "dan"))


async def test_a_table_is_cleared_even_if_the_end_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        monkeypatch.setattr(Battlebot, "on_news", fails_at_once)
        await bob.socket.close()
        assert (await ada.until_closed())[1] == 1000
        assert house.desk.tables.live() == []


async def test_a_bot_that_cannot_be_looked_up_fails_to_log_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        monkeypatch.setattr(house.arena.store, "bot", fails)
        async with client(house) as one:
            await one.send(login)
            assert await one.until_closed() == ([{"authentication": "failed"}], 1000, "")


async def test_a_contest_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada") | {"contest": "cup"} | NOTICES
        monkeypatch.setattr(house.arena.store, "meetings", fails)
        async with bot(house, login) as one:
            assert (await one.until_closed())[:2] == (
                [{"error": "the contest cannot be read"}],
                1011,
            )


async def test_a_token_that_was_changed_no_longer_opens(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        async with bot(house, login):
            pass
        entry = await house.arena.holder("ada", login["password"])
        assert entry is not None
        assert await house.arena.holder("ada", "wrong") is None
        assert await house.arena.holder("ada", None) is None
        _, token = await house.arena.rotate(entry)
        async with client(house) as one:
            await one.send(login)
            assert (await one.until_closed())[0] == [{"authentication": "failed"}]
        async with bot(house, login | {"password": token}):
            pass
        await house.arena.revoke(entry)
        async with client(house) as one:
            await one.send(login | {"password": token})
            assert (await one.until_closed())[0] == [{"authentication": "failed"}]
