"""The path of one move, for each protocol: docs/architecture.md describes it, and this shows that
it is true.
"""

from pathlib import Path

import pytest

from tests.server.clients import pair, server
from tests.server.paths import Calls, documented
from tests.server.rooms.boats import clients as boats
from tests.server.rooms.bomber import clients as bombers
from tests.server.rooms.duel import clients as duellists

pytestmark = pytest.mark.anyio


async def test_a_battlebot_move(tmp_path: Path) -> None:
    calls = Calls()
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        with calls.recorded():
            await ada.send({"mark": "X", "space": [1, 1]})
            await bob.receive()
    calls.check(documented("A Battlebot move"))


async def test_a_duel_move(tmp_path: Path) -> None:
    calls = Calls()
    async with (
        duellists.arena(tmp_path) as house,
        duellists.pair(house, "ada", "bob") as (ada, bob, question),
    ):
        with calls.recorded():
            await ada.answer(question, 7, 7)
            await bob.receive()
    calls.check(documented("A duel arena move"))


async def test_a_shot(tmp_path: Path) -> None:
    calls = Calls()
    async with (
        boats.boat_server(tmp_path) as house,
        boats.sailors(house, "ada", "bob") as (ada, bob),
    ):
        with calls.recorded():
            ada.send("S|bob|1|1")
            await bob.until("N|")
    calls.check(documented("A shot over Xterm Boat Sinker's lines"))


async def test_a_bomberman_action(tmp_path: Path) -> None:
    calls = Calls()
    async with bombers.room(tmp_path) as (_, api):
        user, *_ = await api.begin("ada", "bob")
        with calls.recorded():
            await api.act(user, "MOVE_DOWN")
    calls.check(documented("A Bomberman action"))
