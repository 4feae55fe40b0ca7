"""Rooms of the Bomberman API: players, spectators and secrets."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from botdrome.catalogue import CATALOGUE
from botdrome.games.options import with_options
from botdrome.match.record import read, verify
from botdrome.server.rooms.bomber_room import read_room_settings
from tests.server.clients import Client, bot, registered
from tests.server.rooms.bomber.clients import STEPS, Api, room

pytestmark = pytest.mark.anyio
QUICK = "default:players=2,round=20,registration=3600,rest=0.1,rounds=30"


async def poll_and_act(one: Api, user_id: str) -> dict[str, Any]:
    """A bot that waits for each state and sends an action, until the game is over; the last state
    that it saw of it.
    """
    told = last = await one.state(user_id, after=0)
    while told["phase"] == "PLAYING":
        await one.act(user_id, "WAIT")
        last, told = told, await one.state(user_id, after=told["state_number"])
    return told if told["phase"] == "FINISHED" else last


async def test_whole_games_at_their_own_pace_one_after_the_other(tmp_path: Path) -> None:
    async with room(tmp_path, QUICK) as (house, one):
        for number in (1, 2):
            users = [await one.register(f"{name} {number}") for name in ("Ada", "Bob")]
            ends = await asyncio.gather(*(poll_and_act(one, user) for user in users))
            assert ends[0]["game_id"] == ends[1]["game_id"]
            assert (await one.state(after=31))["phase"] == "REGISTRATION"
            record = await house.arena.store.record(ends[0]["game_id"])
            assert record is not None
            kept = read(record)
            verify(kept, with_options(CATALOGUE["bomberman"].game, kept.setup.options))


async def test_a_late_action_counts_for_the_round_that_now_runs(tmp_path: Path) -> None:
    async with room(tmp_path, "default:players=2,round=10,registration=3600") as (_, one):
        ada, _ = await one.begin("Ada", "Bob")
        seen = (await one.state(after=3))["state_number"]
        acted = await one.act(ada, "WAIT")
        assert acted["response"] == "ACCEPTED"
        assert acted["state_number"] >= seen
        late = await one.act(ada, "WAIT", state_number=1)
        assert (late["information"], late["state_number"] > 1) == ("TOO_LATE", True)


# Natives and house bots at the same table.


async def native(house: Any, name: str, players: int, **options: Any) -> dict[str, Any]:
    return await registered(house, name, "bomberman") | {"players": players, "options": options}


async def act_natively(one: Client, message: dict[str, Any]) -> dict[str, Any]:
    while message["state"]["result"] is None:
        with suppress(ConnectionClosed):  # what it has not read yet is still to be had
            await one.send({"action": "WAIT"})
        message = await one.receive()
    return message


async def test_a_native_bot_that_waits_takes_a_seat_and_the_room_starts(tmp_path: Path) -> None:
    rooms = "default:players=2,round=20,registration=3600,rounds=20,rest=3600"
    async with (
        room(tmp_path, rooms) as (house, one),
        bot(house, await native(house, "nat", 2, rounds=20)) as two,
    ):
        ada = await one.register("Ada")
        first = await two.receive()
        assert first["state"]["bots"] == ["Ada", "nat"]
        told, last = await asyncio.gather(poll_and_act(one, ada), act_natively(two, first))
        assert told["scores"] == {"Ada": 0, "nat": 0}
        assert last["state"]["result"]["players"]["Ada"]["score"] == 0
        assert last["state"]["round"] == 20


async def test_a_native_bot_may_say_the_usual_options_or_leave_them_out(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=9") as (house, one):
        wish = await native(house, "nat", 2, rounds="9", width=13, flame_pierces=False)
        async with bot(house, wish) as two:
            await one.register("Ada")
            assert (await two.receive())["state"]["bots"] == ["Ada", "nat"]


async def test_a_native_bot_that_comes_later_fills_the_room_too(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS) as (house, one):
        ada = await one.register("Ada")
        async with bot(house, await native(house, "nat", 2)) as two:
            assert (await two.receive())["state"]["bots"] == ["Ada", "nat"]
            assert (await one.state(ada, after=0))["users"][1]["user_name"] == "nat"
            await two.send({"action": "PLACE_BOMB"})
            await one.act(ada, "WAIT")
            assert (await one.state(after=1))["users"][1]["bombs_left"] == 0
            await two.socket.close()
            for number in (2, 3):
                await one.act(ada, "WAIT")
                assert (await one.state(after=number))["state_number"] == number + 1, (
                    "who is gone is not waited for"
                )


async def test_a_native_bot_that_wants_something_else_is_left_alone(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=9") as (house, one):
        for wish in (await native(house, "many", 3, rounds=9), await native(house, "long", 2)):
            async with bot(house, wish):
                await one.register("Ada")
                assert (await one.state())["phase"] == "REGISTRATION"


async def test_a_registered_bot_plays_with_its_token_and_can_ask_why(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=2") as (house, one):
        login = await registered(house, "Ada", "bomberman")
        ada = await one.register("Ada", password=login["password"])
        assert await one.register("Ada", password=login["password"]) == ada
        bob = await one.register("Bob")
        await one.state(after=0)
        await one.act(ada, "PLACE_BOMB")
        assert (await one.act(ada, "PLACE_BOMB", state_number=7))["information"] == "TOO_LATE"
        edge = "MOVE_UP" if (await one.state(ada))["user_position"][0] == 0 else "MOVE_DOWN"
        await one.act(ada, edge)
        await one.round((bob, "WAIT"))
        told = await one.round((ada, "WAIT"), (bob, "WAIT"))
        answer = await one.client.get(
            f"/api/v1/matches/{told['game_id']}/seats/0/log",
            headers={"Authorization": f"Bearer {login['password']}"},
        )
        lines = [json.loads(line) for line in answer.text.splitlines()]
        came = [
            (line["message"], line["verdict"].partition(":")[0])
            for line in lines
            if line.get("dir") == "in"
        ]
        assert came == [
            ('{"action":"PLACE_BOMB"}', "accepted"),
            ('{"action":"PLACE_BOMB"}', "not taken"),
            (f'{{"action":"{edge}"}}', "illegal"),
            ('{"action":"WAIT"}', "accepted"),
        ]
        assert [
            json.loads(line["message"]).get("state_number")
            for line in lines
            if line.get("dir") == "out"
        ][:1] == [1]


async def test_house_bots_take_the_free_seats_when_the_time_is_over(tmp_path: Path) -> None:
    async with room(
        tmp_path, "default:players=3,registration=0.05,round=20,rounds=20,house=1,rest=3600"
    ) as (_, one):
        ada = await one.register("Ada")
        told = await poll_and_act(one, ada)
        assert [user["user_name"] for user in told["users"]] == [
            "Ada",
            "house:sapper",
            "house:sapper 1",
        ]
        assert told["users"][1]["tiles"] + told["users"][1]["alive"] > 0
    assert read_room_settings("default", house=True)[0].house, "--house is for the rooms too"


async def test_one_alone_goes_on_waiting(tmp_path: Path) -> None:
    async with room(tmp_path, "default:players=3,registration=0.02,early=1,round=60000") as (
        _,
        one,
    ):
        ada = await one.register("Ada")
        for _ in range(20):
            told = await one.state(ada)
            assert (told["phase"], [user["user_name"] for user in told["users"]]) == (
                "REGISTRATION",
                ["Ada"],
            )
        assert await one.register("Ada") == ada
