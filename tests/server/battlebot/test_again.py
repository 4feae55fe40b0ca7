"""Several matches on one connection, on a real server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from botdrome.store.entries import Wanted
from tests.server.clients import Client, bot, pair, play_noughts, registered, server, unhurried

pytestmark = pytest.mark.anyio
AGAIN = {"features": ["again"]}


@pytest.fixture(autouse=True)
def no_time_limits() -> Iterator[None]:
    with unhurried("noughts-and-crosses"):
        yield


async def play_twice(one: Client, name: str) -> list[Any]:
    matches = []
    for number in range(2):
        matches.append((await one.receive())["match"])
        assert (await play_noughts(one, name))["state"]["result"]["reason"] == "complete"
        if not number:
            await one.send({"again": True})
    return matches


async def test_two_bots_play_two_matches_on_their_connections(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = [await registered(house, name) | AGAIN for name in ("ada", "bob")]
        async with bot(house, ada) as one, bot(house, bob) as two:
            played, same = await asyncio.gather(play_twice(one, "ada"), play_twice(two, "bob"))
        stored = await house.arena.store.matches(Wanted())
        assert played == same and set(played) == {match.id for match in stored}


async def test_a_bot_meets_the_house_again(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada") | AGAIN | {"opponent": "house:random"}
        async with bot(house, login) as one:
            first, second = await play_twice(one, "ada")
        assert first != second


async def test_a_contest_that_is_over_ends_the_connection(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.0) as house:
        ada, bob = [
            await registered(house, name) | AGAIN | {"contest": "cup"} for name in ("ada", "bob")
        ]
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(play_twice(one, "ada"), play_twice(two, "bob"))
            await one.send({"again": True})
            assert await one.until_closed() == ([{"contest": "cup", "complete": True}], 1000, "")


async def test_a_bot_that_resigns_loses_and_plays_on(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada") | AGAIN | {"opponent": "house:perfect"}
        async with bot(house, login) as one:
            assert "match" in await one.receive()
            await one.receive()
            await one.send({"resign": True})
            result = await one.receive()
            assert result["state"]["result"] == {"reason": "disconnect", "victor": "house:perfect"}
            (match,) = await house.arena.store.matches(Wanted())
            assert match.result is not None and match.result.causes == ("resigned", "complete")
            await one.send({"again": True})
            assert "match" in await one.receive()


async def test_a_client_that_does_not_opt_in_is_closed_after_its_match(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (one, two):
        await two.socket.close()
        messages, code, _ = await one.until_closed()
        assert (len(messages), code) == (1, 1000)
