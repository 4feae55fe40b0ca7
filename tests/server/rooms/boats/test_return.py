"""Players without a secret that lost their connection, and clients that come to a started game."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import leap
from tests.server.rooms.boats.clients import BOARD, Line, boat_server, line, sailors

pytestmark = pytest.mark.anyio

WAITS = BoatRoomSettings(absence=1000)
NEXT = "G|1.2.0|Botdrome|N|2|2|{}|17|10|10|5|A5|B4|C3|D3|E2"
STARTED = "G|1.2.0|Botdrome|Y|2|2|2|17|10|10|5|A5|B4|C3|D3|E2"
OTHER = BOARD[::-1]


@asynccontextmanager
async def left_by_bob(folder: Path, farewell: str = "") -> AsyncIterator[RunningServer]:
    """Ann is at the table; bob has left, and said why or not."""
    async with boat_server(folder, WAITS) as house, sailors(house, "ann", "bob") as (ann, bob):
        if farewell:
            bob.send(farewell)
        await bob.close()
        await ann.until("B|bob|")
        yield house


@asynccontextmanager
async def line_from(address: str, house: RunningServer) -> AsyncIterator[Line]:
    one = Line(
        *await asyncio.open_connection("127.0.0.1", house.ports["xbs"], local_addr=(address, 0))
    )
    yield one
    await one.close()


@pytest.mark.parametrize("board", [f"|{OTHER}", f"|{'.' * 100}", ""])
async def test_a_client_that_was_killed_and_started_again_is_back_at_its_seat(
    tmp_path: Path, board: str
) -> None:
    """The first line that it gets is that of a started game, as at the original, for this tells it
    to come back.
    """
    async with left_by_bob(tmp_path) as house, line(house) as again:
        await again.expect(STARTED)
        again.send(f"J|bob{board}", "G")
        await again.expect("J|bob", f"Y|{BOARD}")
        assert (await again.until("G|"))[-1] == STARTED


async def test_others_at_that_address_are_shown_the_next_game(tmp_path: Path) -> None:
    async with left_by_bob(tmp_path) as house, line(house) as first, line(house) as second:
        await first.expect(STARTED)
        await second.expect(NEXT.format(0))
        first.send(f"J|carl|{BOARD}", "G")
        await first.expect("J|carl", NEXT.format(1))


async def test_after_a_minute_nobody_is_expected_back(tmp_path: Path) -> None:
    async with left_by_bob(tmp_path) as house:
        leap(61.0)
        async with line(house) as again:
            await again.expect(NEXT.format(0))
            again.send(f"J|bob|{OTHER}")
            await again.expect("J|bob", f"Y|{BOARD}")


async def test_a_client_that_said_goodbye_and_brings_a_fleet_joins_the_next_game(
    tmp_path: Path,
) -> None:
    async with left_by_bob(tmp_path, "L|enough") as house, line(house) as new, line(house) as back:
        await new.expect(NEXT.format(0))
        new.send(f"J|bob|{OTHER}", "G")
        await new.expect("J|bob", NEXT.format(1))
        await back.receive()
        back.send("J|bob")
        await back.expect("E|name in use")


async def test_nobody_takes_a_seat_from_another_address(tmp_path: Path) -> None:
    async with left_by_bob(tmp_path) as house, line_from("127.0.0.2", house) as thief:
        await thief.expect(NEXT.format(0))
        thief.send("J|bob", f"J|bob|{BOARD}", "G")
        await thief.expect("E|name in use", "J|bob", NEXT.format(1))


async def test_a_newcomer_to_a_started_game_hears_so_when_it_joins(tmp_path: Path) -> None:
    """Whether it connected before the start or after, and whether all players are there or not."""
    async with (
        boat_server(tmp_path, BoatRoomSettings(tables=1)) as house,
        line(house) as early,
        sailors(house, "ann", "bob") as ships,
    ):
        await early.expect(NEXT.format(0))
        early.send("J|some name")
        assert await early.rest() == ["game is already started"]
        async with line(house) as late, line(house) as later:
            await late.expect(STARTED)
            late.send("J|ann", f"J|late|{BOARD}")
            assert await late.rest() == ["E|name in use", "game is already started"]
            await ships[1].close()
            await ships[0].until("B|bob|disconnected|")
            await later.expect(STARTED)
            later.send("J|some name")
            assert await later.rest() == ["game is already started"]


async def test_a_connection_that_came_before_a_player_was_lost_may_return_it(
    tmp_path: Path,
) -> None:
    plan = BoatRoomSettings(tables=1, absence=100)
    async with (
        boat_server(tmp_path, plan) as house,
        sailors(house, "ann", "bob") as ships,
        line(house) as spare,
    ):
        await spare.expect(STARTED)
        await ships[1].close()
        await ships[0].until("B|bob|disconnected|")
        spare.send("J|bob")
        await spare.expect("J|bob", f"Y|{BOARD}")
