"""The operator hosts boat games: rooms are opened, changed, watched, ordered about and closed."""

from pathlib import Path

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import server
from tests.server.operator.clients import TOKEN, office
from tests.server.rooms.boats.clients import BOARD, boat_server, line, sailor

pytestmark = pytest.mark.anyio

TEA = {"title": "Tea", "max": 3, "auto_start": False}


async def test_a_room_is_opened_played_in_and_closed(tmp_path: Path) -> None:
    async with boat_server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        room = await one.have("POST", "/boats", TEA | {"port": -1})
        assert room["port"] == house.ports["xbs Tea"] != house.ports["xbs"]
        async with line(house, "xbs Tea") as ann, line(house, "xbs Tea") as bob:
            for name, ship in (("ann", ann), ("bob", bob)):
                assert "Tea" in await ship.receive()
                ship.send(f"J|{name}|{BOARD}")
                await ship.until(f"J|{name}")
            shown = (await one.get("/boats"))["rooms"][1]
            assert [sailor["name"] for sailor in shown["room"]["gathering"]] == ["ann", "bob"]
            started = await one.have(
                "POST", "/boats/orders", {"title": "Tea", "order": {"do": "start"}}
            )
            assert started["done"].startswith("started: ")
            await ann.until("N|")
            done = await one.have(
                "POST", "/boats/orders", {"title": "Tea", "order": {"do": "boot", "player": "bob"}}
            )
            assert done == {"done": "bob is booted"}
            assert (await bob.rest())[-1] == "booted"
            assert await one.have(
                "POST", "/boats/orders", {"title": "Tea", "order": {"do": "quit"}}
            ) == {"done": "the room is closed"}
            assert "F|aborted|0|2" in await ann.rest()
        while len((await one.get("/boats"))["rooms"]) > 1:
            pass
        room = await one.have("POST", "/boats", TEA | {"port": -1})
        assert room["room"]["gathering"] == []
        assert [action for action, _, _ in await one.audited()] == [
            "open boat room", "boat room: start", "boat room: boot", "boat room: quit",
            "open boat room",
        ]  # fmt: skip


async def test_a_room_at_the_shared_port_is_found_by_its_title(tmp_path: Path) -> None:
    async with boat_server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        room = await one.have("POST", "/boats", TEA)
        assert room["port"] == house.ports["xbs"]
        async with line(house) as ann:
            assert "Botdrome" in await ann.receive()
            ann.send("G|Tea")
            assert "Tea" in await ann.receive()
        await one.have("POST", "/boats/orders", {"title": "Tea", "order": {"do": "quit"}})
        assert [room["settings"]["title"] for room in (await one.get("/boats"))["rooms"]] == [
            "Botdrome"
        ]


async def test_the_rules_of_a_room_change_while_nobody_waits_in_it(tmp_path: Path) -> None:
    plan = BoatRoomSettings(max=3, auto_start=False)
    async with boat_server(tmp_path, plan, operator_token=TOKEN) as house, office(house) as one:
        wanted = {"title": "Botdrome", "settings": {"max": 4, "width": 12, "turn_limit": 5}}
        changed = await one.have("PUT", "/boats", wanted)
        assert (changed["settings"]["max"], changed["settings"]["width"]) == (4, 12)
        async with line(house) as ann:
            assert "|12|10|" in await ann.receive()
        await one.have("PUT", "/boats", {"title": "Botdrome", "settings": {"width": 10}})
        async with sailor(house, "ann"):
            status, words = await one.refused("PUT", "/boats", wanted)
            assert (status, words.partition(":")[0]) == (
                409,
                "players have joined by the present rules",
            )


async def test_what_cannot_be_is_explained(tmp_path: Path) -> None:
    async with boat_server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        refused = one.refused
        assert await refused("POST", "/boats", {"title": "Botdrome"}) == (
            400,
            "there is a room 'Botdrome' already",
        )
        assert await refused("POST", "/boats", {"title": "x", "max": 40}) == (
            400,
            "x: max is from min (2) to 9",
        )
        status, words = await refused("POST", "/boats", {"title": "x", "port": house.ports["http"]})
        assert status == 400 and str(house.ports["http"]) in words
        assert await refused("PUT", "/boats", {"title": "y", "settings": {}}) == (
            404,
            "there is no room 'y'; there are Botdrome",
        )
        order = {"title": "Botdrome", "order": {"do": "start"}}
        assert await refused("POST", "/boats/orders", order) == (
            409,
            "0 have joined; a game is for 2 to 2",
        )
        assert len((await one.get("/boats"))["rooms"]) == 1
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        assert (await one.refused("POST", "/boats", {"title": "x"}))[1].startswith(
            "rooms share no port here"
        )
        assert (await one.get("/boats"))["rooms"][0]["port"] is None
        assert (await one.have("POST", "/boats", {"title": "x", "port": -1}))["port"]
