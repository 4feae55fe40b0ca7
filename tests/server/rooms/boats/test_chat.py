"""Messages between boat players, and their limits."""

from pathlib import Path

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.rooms.boats.clients import boat_server, sailors

pytestmark = pytest.mark.anyio

TRIO = BoatRoomSettings(max=3)


async def test_what_is_said_goes_to_whom_it_is_for(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, TRIO) as house,
        sailors(house, "ann", "bob", "carl") as (ann, bob, carl),
    ):
        ann.send(
            "M||to all",
            "M|bob|to bob",
            "M|BOB|no",
            "M|bo|no",
            "M|ann|no",
            "M|bob|",
            "M||",
            "M|dora|no",
            "M| carl | x | y",
        )
        await bob.expect("M|ann|to all|All", "M|ann|to bob")
        await carl.expect("M|ann|to all|All", "M|ann|x")
        ann.send("P|nothing was echoed")
        await ann.expect("P|nothing was echoed")


async def test_who_talks_too_much_is_not_passed_on(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        ann.send(*[f"M||{number}" for number in range(60)], "K")
        said = await bob.until("K|")
        assert 20 <= len(said) <= 30
        told = await ann.until("K|")
        assert told[:-1] == ["M||you talk too much, that was not passed on"] * (60 - len(said) + 1)


async def test_one_message_a_turn_is_always_passed_on(tmp_path: Path) -> None:
    turns = 60
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        heard: list[str] = []
        for turn in range(turns):
            for one, other in ((ann, bob), (bob, ann)):
                one.send("K")
                heard += await other.until("K|")
                one.send(f"M||turn {turn}")
        ann.send("P|end")
        bob.send("P|end")
        heard += await ann.until("P|end") + await bob.until("P|end")
        said = [line for line in heard if line.startswith("M|")]
        assert sorted(said) == sorted(
            f"M|{name}|turn {turn}|All" for turn in range(turns) for name in ("ann", "bob")
        )
