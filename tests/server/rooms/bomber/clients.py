"""Clients of the Bomberman API, and rooms in which a round ends when everybody has acted: no test
has to wait for a clock.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from botdrome.app import RunningServer
from botdrome.server.rooms.bomber_api import BomberApi
from botdrome.server.rooms.bomber_room import BomberRooms
from tests.patience import until
from tests.server.clients import PATIENCE, server

STEPS = "default:players=2,early=1,round=60000,registration=3600,rest=3600"
Told = dict[str, Any]


class Api:
    """One HTTP client, at one room."""

    def __init__(self, client: httpx.AsyncClient, path: str) -> None:
        self.client, self.path = client, path

    async def ask(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        return await self.client.request(method, self.path + path, **more)

    async def post(self, message: Any, path: str = "", **params: Any) -> Told:
        """Send a message to the universal route, and return the answer with any status."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        told: Told = (await self.ask("POST", path, content=body, params=params)).json()
        return told

    async def register(self, name: str, **more: Any) -> str:
        told = await self.post({"user_name": name} | more)
        assert "user_id" in told, told
        return str(told["user_id"])

    async def act(self, user_id: str, action: str, params: Told | None = None, **more: Any) -> Told:
        return await self.post({"user_id": user_id, "action": action} | more, **(params or {}))

    async def state(self, user_id: str = "", **params: Any) -> Told:
        answer = await self.ask("GET", f"/state/{user_id}", params=params)
        assert answer.status_code == 200, answer.text
        told: Told = answer.json()
        return told

    async def begin(self, *names: str) -> list[str]:
        """These register, and fill the room; the first state is there."""
        users = [await self.register(name) for name in names]
        while (await self.state(after=0))["phase"] != "PLAYING":
            pass
        return users

    async def round(self, *actions: tuple[str, str]) -> Told:
        """All living users act, which ends the round. Return the state after it."""
        number = (await self.state())["state_number"]
        for user_id, action in actions:
            answer = await self.act(user_id, action)
            assert answer["response"] == "ACCEPTED", answer
        return await self.state(after=number)


@asynccontextmanager
async def api(house: RunningServer, path: str = "/bomber/rest") -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=house.url, trust_env=False, timeout=PATIENCE) as client:
        yield Api(client, path)


@asynccontextmanager
async def room(
    folder: Path, rooms: str = STEPS, **settings: Any
) -> AsyncIterator[tuple[RunningServer, Api]]:
    """A server with these rooms, and a client at the first."""
    async with server(folder, bomber_rooms=rooms, **settings) as house, api(house) as one:
        yield house, one


def rooms_of(house: RunningServer) -> BomberRooms:
    """The rooms themselves, for tests that look for leftovers."""
    return house.server_of(BomberApi).rooms


async def until_waiting(house: RunningServer, count: int) -> None:
    """Wait until this number of requests waits for the next state of the first room."""
    await until(lambda: len(rooms_of(house).first.waits) == count)
