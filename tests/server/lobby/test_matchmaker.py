"""Matchmaking on a server: bots are gathered, and paired when the time of one is up."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from botdrome.app import RunningServer
from botdrome.server.lobby import desk
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import bot, leap, play_noughts, registered, server

pytestmark = pytest.mark.anyio


def waited() -> float:
    return REGISTRY.get_sample_value("botdrome_wait_seconds_count") or 0.0


async def waiting(house: RunningServer, number: int) -> None:
    """Return when that many bots wait."""
    await until(lambda: len(house.desk.seekers(9)) == number)


async def test_bots_are_gathered_until_the_time_of_one_is_up(tmp_path: Path) -> None:
    async with server(tmp_path, matchmaking_wait=1000.0) as house:
        logins = [await registered(house, name) for name in ("ada", "bob", "cid")]
        before = waited()
        async with bot(house, logins[0]) as ada:
            await waiting(house, 1)
            async with bot(house, logins[1]) as bob:
                await waiting(house, 2)
                leap(1000)
                await asyncio.gather(play_noughts(ada, "ada"), play_noughts(bob, "bob"))
        assert waited() == before + 2
        async with bot(house, logins[2]) as cid:
            await waiting(house, 1)
            leap(1000)
            async with bot(house, logins[0]) as ada:
                await asyncio.gather(play_noughts(ada, "ada"), play_noughts(cid, "cid"))
        players = [match.players for match in await house.arena.store.matches(Wanted())]
        assert sorted(map(sorted, players)) == [["ada", "bob"], ["ada", "cid"]]


async def test_without_the_setting_bots_are_paired_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "pairs_now", None)
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
