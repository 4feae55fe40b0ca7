"""Matchmaking on a server: bots are gathered, and paired when the time of one is up."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from botdrome.app import RunningServer
from botdrome.contest.lobby import Wish
from botdrome.server.lobby import matchmaker
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import Client, bot, client, leap, play_noughts, registered, server

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
    monkeypatch.setattr(matchmaker, "pairs_now", None)
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))


ON_LADDER = {"ladder": True, "features": ["again"]}
PATIENT: Any = {"ladder_wait": 1000.0, "limits_login": 1e6}


async def play_on(one: Client, name: str) -> list[str]:
    """Play a match of many, and return its players."""
    players: list[str] = (await one.receive())["players"]
    await play_noughts(one, name)
    return players


async def test_a_ladder_pairs_its_bots_and_goes_on(tmp_path: Path) -> None:
    async with server(tmp_path, **PATIENT) as house:
        logins = [await registered(house, name) | ON_LADDER for name in ("ada", "bob")]
        stranger = await registered(house, "cid")
        async with (
            bot(house, logins[0] | {"version": "2"}) as ada,
            bot(house, logins[1]) as bob,
            bot(house, stranger),
        ):
            await waiting(house, 3)
            leap(1000)
            both = await asyncio.gather(play_on(ada, "ada"), play_on(bob, "bob"))
            assert [sorted(players) for players in both] == [["ada", "bob"]] * 2
            (ladder,) = [one for one in house.desk.matchmaker._ladders.values() if one._house]
            assert ladder.knowledge.strength("ada\n2") == -ladder.knowledge.strength("bob") != 0
            for one in (ada, bob):
                await one.send({"again": True})
            await waiting(house, 3)
            leap(1000)
            await asyncio.gather(play_on(ada, "ada"), play_on(bob, "bob"))
            assert len(house.desk.seekers(9)) == 1, "the stranger waits for others in open play"


async def test_a_ladder_has_house_bots_and_a_budget(tmp_path: Path) -> None:
    async with server(tmp_path, **PATIENT, ladder_per_hour=2) as house:
        async with bot(house, await registered(house, "ada") | ON_LADDER) as ada:
            for _ in range(2):
                await waiting(house, 1)
                leap(1000)
                assert any(name.startswith("house:") for name in await play_on(ada, "ada"))
                await ada.send({"again": True})
            await waiting(house, 1)
            leap(1000)
            named = await registered(house, "bob") | {"opponent": "ada", "features": ["again"]}
            async with bot(house, named) as bob:  # a challenge is beside the budget
                await asyncio.gather(play_on(ada, "ada"), play_on(bob, "bob"))
        assert await house.arena.store.count(Wanted()) == 3


async def test_a_ladder_goes_on_after_a_restart(tmp_path: Path) -> None:
    wish = Wish("noughts-and-crosses", ladder=True)
    async with server(tmp_path, **PATIENT, ladder_per_hour=1) as house:
        logins = [await registered(house, name) | ON_LADDER for name in ("ada", "bob")]
        async with bot(house, logins[0] | {"version": "2"}) as ada, bot(house, logins[1]) as bob:
            await waiting(house, 2)
            leap(1000)
            await asyncio.gather(play_on(ada, "ada"), play_on(bob, "bob"))
        before = house.desk.matchmaker._ladder(wish)
    async with server(tmp_path, **PATIENT, ladder_per_hour=1) as house:
        after = house.desk.matchmaker._ladder(wish)
        for name in ("ada\n2", "bob"):
            assert after.knowledge.strength(name) == before.knowledge.strength(name) != 0
            assert after.knowledge.variance(name) == before.knowledge.variance(name)
        new = await registered(house, "cid") | ON_LADDER
        async with bot(house, logins[0] | {"version": "2"}), bot(house, new) as cid:
            await waiting(house, 2)
            leap(1000)
            assert "ada" not in await play_on(cid, "cid"), "its budget is spent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"ladder": 1}, {"ladder": True, "opponent": "bob"}, {"ladder": True, "contest": "cup"},
        {"ladder": True, "invite": "word"}, {"ladder": True, "pace": "slow"},
        {"ladder": True, "guest": True, "secret": "s" * 16},
    ],
)  # fmt: skip
async def test_a_login_to_a_ladder_names_nothing_else(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada") | wrong
        async with client(house) as one:
            await one.send(login)
            assert "ladder" in (await one.receive())["why"]
