"""Bots with an address in contests."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.lobby import url_bots
from botdrome.server.lobby.url_bots import challenge
from botdrome.store.entries import MatchEntry, Wanted
from tests.server.calling.hosts import Asked, host
from tests.server.clients import NOTICES, PATIENCE, bot, play_noughts, registered, server
from tests.server.lobby.test_url_bots import over
from tests.server.lobby.url_hosts import url_bot, with_address

pytestmark = pytest.mark.anyio


# Contests.


async def entered(house: RunningServer, name: str, contest: str) -> None:
    found = await house.arena.store.bot(name)
    assert found is not None
    await house.arena.url_bots.enter(found, contest)


async def until_over(house: RunningServer, matches: int, **wanted: Any) -> list[MatchEntry]:
    """Wait until this number of matches is over, and return them."""
    while len(found := await over(house, **wanted)) < matches:
        changed = asyncio.Event()
        stop = house.desk.tables.on_change(changed.set)
        try:
            await asyncio.wait_for(changed.wait(), PATIENCE)
        finally:
            stop()
    return found


async def test_bots_with_addresses_play_a_contest_among_themselves(tmp_path: Path) -> None:
    names = ["ada", "bob", "cyd"]
    async with server(tmp_path, contest_games=2, contest_wait=0.0) as house, url_bot() as called:
        for name in names:
            await with_address(house, name, called)
            await entered(house, name, "cup")
        matches = await until_over(house, 12, contest="cup")
        assert {
            match.players: sum(other.players == match.players for other in matches)
            for match in matches
        } == {(one, two): 2 for one in names for two in names if one != two}


async def test_a_client_that_waits_in_a_contest_meets_the_bots_that_were_entered(
    tmp_path: Path,
) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.0) as house, url_bot() as called:
        await with_address(house, "called", called)
        await entered(house, "called", "cup")
        login = await registered(house, "ada") | {"contest": "cup"} | NOTICES
        for _ in range(2):
            async with bot(house, login) as one:
                await play_noughts(one, "ada")
        async with bot(house, login) as one:
            assert await one.receive() == {"contest": "cup", "complete": True}
        assert {match.players for match in await over(house, contest="cup")} == {
            ("ada", "called"),
            ("called", "ada"),
        }


async def test_entries_outlast_the_server(tmp_path: Path) -> None:
    async with url_bot() as called:
        async with server(tmp_path) as house:
            await with_address(house, "called", called)
            await entered(house, "called", "cup")
        async with (
            server(tmp_path) as house,
            bot(house, await registered(house, "ada") | {"contest": "cup"} | NOTICES) as one,
        ):
            await play_noughts(one, "ada")


async def test_a_bot_plays_only_in_contests_that_it_was_entered_in(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.1) as house, url_bot() as called:
        await with_address(house, "called", called)
        for extra in ({"contest": "cup"} | NOTICES, {"contest": "cup", "opponent": "called"}):
            async with bot(
                house, await registered(house, f"ada {'opponent' in extra}") | extra
            ) as one:
                assert await one.receive() == {"error": "no opponent came within 0.1 seconds"}


async def test_a_bot_that_is_withdrawn_plays_no_more(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.1) as house, url_bot() as called:
        await with_address(house, "called", called)
        await entered(house, "called", "cup")
        found = await house.arena.store.bot("called")
        assert found is not None
        await house.arena.url_bots.withdraw(found, "cup")
        async with bot(house, await registered(house, "ada") | {"contest": "cup"} | NOTICES) as one:
            assert await one.receive() == {"error": "no opponent came within 0.1 seconds"}


async def test_a_bot_withdrawn_during_its_challenge_plays_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, withdrawn = count(), asyncio.Event()
    async with server(tmp_path, limits_waiting=0.1) as house, url_bot() as called:
        await with_address(house, "called", called)
        found = await house.arena.store.bot("called")
        assert found is not None

        async def asked(*words: Any) -> str:
            """First when it is entered, then before its first match."""
            version = await challenge(*words)
            if next(times):
                await house.arena.url_bots.withdraw(found, "cup")
                withdrawn.set()
            return version

        monkeypatch.setattr("botdrome.server.lobby.url_bots.challenge", asked)
        await entered(house, "called", "cup")
        await asyncio.wait_for(withdrawn.wait(), PATIENCE)
        async with bot(house, await registered(house, "ada") | {"contest": "cup"} | NOTICES) as one:
            assert await one.receive() == {"error": "no opponent came within 0.1 seconds"}


async def test_a_bot_that_does_not_answer_loses_no_game_of_a_contest(tmp_path: Path) -> None:
    async with url_bot() as called, server(tmp_path) as house:
        await with_address(house, "called", called)
        await entered(house, "called", "cup")
    async with server(tmp_path, limits_waiting=0.2) as house:
        async with bot(house, await registered(house, "ada") | {"contest": "cup"} | NOTICES) as one:
            assert await one.receive() == {"error": "no opponent came within 0.2 seconds"}
        assert not await house.arena.store.matches(Wanted())


async def test_only_a_bot_with_an_address_can_be_entered(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await registered(house, "ada")
        with pytest.raises(CallFailed, match="it has no address, and is not connected"):
            await entered(house, "ada", "cup")


async def test_slow_bots_of_one_source_leave_room_for_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_bots, "MOST_CHALLENGES", 4)
    asked = asyncio.Queue[str]()

    async def silent(_: asyncio.StreamWriter, question: Asked) -> None:
        asked.put_nowait(question.headers["x-botdrome-bot"])
        await asyncio.Event().wait()

    def source(house: RunningServer, address: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=house.url,
            transport=httpx.AsyncHTTPTransport(local_address=address),
            timeout=PATIENCE,
        )

    async def registers(http: httpx.AsyncClient, name: str, url: str) -> Any:
        answered = await http.post(
            "/api/v1/bots", json={"game": "gomoku", "name": name, "owner": "me", "url": url}
        )
        return answered.json().get("error", answered.status_code)

    async with (
        server(tmp_path) as house,
        host(silent) as slow,
        url_bot() as quick,
        source(house, "127.0.0.1") as one,
    ):
        waiting = [asyncio.ensure_future(registers(one, name, slow.url)) for name in ("a", "b")]
        for _ in waiting:
            await asyncio.wait_for(asked.get(), PATIENCE)
        async with source(house, "127.0.0.2") as two:
            busy = (
                "The bot cannot be called: too many addresses are being tried; try again in a "
                "moment"
            )
            assert await registers(one, "c", quick.url) == busy
            assert [await registers(two, name, quick.url) for name in ("d", "e")] == [201, 201]
        for request in waiting:
            request.cancel()
