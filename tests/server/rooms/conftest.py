"""One server for all tests of a module that leave nothing behind."""

from collections.abc import AsyncIterator, Iterator

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import server
from tests.server.rooms.boats.clients import TOKEN
from tests.server.rooms.bomber.clients import STEPS, Api, api

ROOMS = [f"room{number}" for number in range(40)]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    """A server with a boat room that waits for its host, duel arena, and Bomberman rooms."""
    rooms = " ".join(name + STEPS.removeprefix("default") for name in ROOMS)
    waiting = BoatRoomSettings(max=3, auto_start=False)
    ports = {"duel_port": -1, "boats_port": -1, "boats_host_token": TOKEN}
    folder = tmp_path_factory.mktemp("shared")
    async with server(folder, **ports, boats_rooms=(waiting,), bomber_rooms=rooms) as house:
        yield house


@pytest.fixture(scope="module")
def unused_rooms() -> Iterator[str]:
    return iter(ROOMS)


@pytest.fixture
async def one(shared: RunningServer, unused_rooms: Iterator[str]) -> AsyncIterator[Api]:
    """A client at a Bomberman room that no other test uses."""
    async with api(shared, f"/bomber/rooms/{next(unused_rooms)}/rest") as client:
        yield client
