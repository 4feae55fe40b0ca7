"""The messages of a Bomberman room: its start, kills and rules, also while the server stops."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.patience import until
from tests.server.clients import server
from tests.server.rooms.bomber.clients import STEPS, api, room, until_waiting

pytestmark = pytest.mark.anyio

OPEN_FIELD = STEPS + ",height=5,width=5,crates=30,fuse=1,radius=5"


async def test_the_user_who_takes_the_last_seat_is_told_when_the_game_starts(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, STEPS) as (_, one):
        first = await one.post({"user_name": "Ada"})
        assert 3_000_000 < first["time_left"] <= 3_600_000
        last = await one.post({"user_name": "Bob"})
        assert 0 <= last["time_left"] <= 200


async def test_the_state_and_the_flight_record_say_who_was_killed(tmp_path: Path) -> None:
    async with room(tmp_path, OPEN_FIELD) as (_, one):
        ada = await one.register("Ada", password="mine")
        bob = await one.register("Bob")
        await one.state(after=0)
        await one.round((ada, "PLACE_BOMB"), (bob, "WAIT"))
        end = await one.round((ada, "WAIT"), (bob, "WAIT"))
        users = {user["user_name"]: user for user in end["users"]}
        death = users["Ada"]["death"]
        assert (death["state_number"], death["cause"], death["killed_by"]) == (2, "BOMBS", ["Ada"])
        assert [bomb["placed_in"] for bomb in death["bombs"]] == [1]
        assert "death" not in users["Bob"] or users["Bob"]["death"]["killed_by"] == ["Ada"]
        url = f"/api/v1/matches/{end['game_id']}/seats/0/log"
        lines = (
            await one.client.get(url, headers={"Authorization": "Bearer mine"})
        ).text.splitlines()
        told = [json.loads(json.loads(line)["message"]) for line in lines if '"dir":"out"' in line]
        assert (
            next(message["deaths"] for message in told if "deaths" in message)[0]["user_name"]
            == "Ada"
        )


async def test_the_rules_are_those_of_the_room(tmp_path: Path) -> None:
    async with (
        room(tmp_path, f"{STEPS} blast:radius=7,fuse=9") as (house, _),
        api(house, "/bomber/rooms/blast/rest") as other,
    ):
        found = (await other.ask("GET", "/rules")).json()
        rules = {row["number"]: row["rule"] for row in found["resolutions"]}
        assert rules[17].startswith("9. ") and rules[18].startswith("Its own tile and 7 more")


async def test_a_long_poll_waits_on_while_the_server_drains(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS, drain=3600.0) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        closing = asyncio.ensure_future(house.desk.close())
        await until(lambda: house.desk.closing)
        async with api(house) as other:
            waiting = asyncio.ensure_future(other.state(after=1))
            await until_waiting(house, 1)
            assert not waiting.done()
            await one.round((ada, "WAIT"), (bob, "WAIT"))
            told = await waiting
            assert (told["phase"], told["state_number"]) == ("PLAYING", 2)
        for table in list(house.desk.tables._tables.values()):
            table.abort("the test is over")
        await closing


async def test_the_original_port_has_the_api_alone(tmp_path: Path) -> None:
    async with server(tmp_path, bomber_port=-1) as house, httpx.AsyncClient(trust_env=False) as web:
        base = f"http://127.0.0.1:{house.ports['bomber']}"
        assert (await web.get(f"{base}/bomber/rest/state/")).json()["phase"] == "REGISTRATION"
