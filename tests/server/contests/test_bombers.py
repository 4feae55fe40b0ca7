"""Contests of Bomberman with users of the HTTP API and house bots."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from tests.patience import until
from tests.server.clients import PATIENCE, server
from tests.server.contests.entrants import entered, open_contest, stored_cup
from tests.server.rooms.bomber.clients import Api, api

pytestmark = pytest.mark.anyio

ROOM = "default:players=2,early=1,round=60000,registration=3600,rest=0,rounds=3"


async def play_on(house: RunningServer, web: Api, login: dict[str, Any]) -> None:
    """Register again after every match; stand still."""
    while house.contests.running("cup") is not None:
        told = await web.post({"user_name": login["name"], "password": login["password"]})
        user_id, number = told.get("user_id", ""), 0
        while (
            user_id
            and "error" not in (state := await web.state(user_id, after=number))
            and state["phase"] != "FINISHED"
        ):
            if state["phase"] == "REGISTRATION" and number:
                break
            number = state["state_number"]
            if state["phase"] == "PLAYING":
                await web.act(user_id, "WAIT")


async def test_users_of_the_api_meet_each_other_and_house_bots(tmp_path: Path) -> None:
    async with (
        server(tmp_path, bomber_port=0, bomber_rooms=ROOM) as house,
        api(house) as one,
        api(house) as two,
    ):
        house.desk.workers.start()
        over = asyncio.Event()
        house.contests.on_change.append(
            lambda: over.set() if house.contests.running("cup") is None else None
        )
        bots = [{"bot": "house:random"}]
        await open_contest(
            house, game="bomberman", players=2, games=1, options={"rounds": 3}, entrants=bots
        )
        ada, bob = await entered(house, "ada", "bob", game="bomberman")
        await house.contests.act("cup", "start", "operator")
        playing = [
            asyncio.create_task(play_on(house, web, login))
            for web, login in ((one, ada), (two, bob))
        ]
        await asyncio.wait_for(over.wait(), PATIENCE)
        for task in playing:
            task.cancel()
        results = (await stored_cup(house)).results.values()
        assert len(results) == 3 and all(result.match and not result.absent for result in results)


async def test_a_user_that_loses_its_token_waits_no_longer(tmp_path: Path) -> None:
    async with server(tmp_path, bomber_port=0, bomber_rooms=ROOM) as house, api(house) as web:
        await open_contest(house, game="bomberman", players=2, games=1, options={"rounds": 3})
        ada, _ = await entered(house, "ada", "bob", game="bomberman")
        await house.contests.act("cup", "start", "operator")
        await web.post({"user_name": "ada", "password": ada["password"]})
        while house.contests.awaited("cup") != ["bob"]:  # the plan may not have been made yet
            await asyncio.sleep(0.01)
        entry = await house.arena.store.bot("ada")
        assert entry is not None
        _, token = await house.arena.rotate(entry)
        assert sorted(house.contests.awaited("cup")) == ["ada", "bob"]
        assert "user_id" in await web.post({"user_name": "ada", "password": token})
        while house.contests.awaited("cup") != ["bob"]:  # the plan may not have been made yet
            await asyncio.sleep(0.01)


async def test_rooms_of_contests_are_closed_after_their_matches(tmp_path: Path) -> None:
    async with (
        server(tmp_path, bomber_port=0, bomber_rooms=ROOM) as house,
        api(house) as one,
        api(house) as two,
    ):
        watchers = len(house.desk._watchers)
        await open_contest(house, game="bomberman", players=2, games=1, options={"rounds": 3})
        logins = await entered(house, "ada", "bob", game="bomberman")
        await house.contests.act("cup", "start", "operator")
        playing = [
            asyncio.create_task(play_on(house, web, login))
            for web, login in zip((one, two), logins, strict=True)
        ]
        await asyncio.wait_for(asyncio.gather(*playing), PATIENCE)
        await until(lambda: len(house.desk._watchers) <= watchers)
