"""Battlecube as its users know it: bots that answer over HTTP, and an organiser on socket.io."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from websockets.exceptions import ConnectionClosed

from botdrome.app import RunningServer
from botdrome.client.protocol_clients import BotReply, CubeOrganiser, HttpMessage, UrlBotClient
from tests.server.clients import PATIENCE

Reply = BotReply
NOOP = [{"task": "NOOP"}]


class Asked(Struct):
    """One call of the server."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


Answering = Callable[[Asked], Awaitable[Reply]]


def saying(*plans: Any) -> Answering:
    """Answers one by one, the last one for ever."""
    left = list(plans)

    async def answer(_: Asked) -> Reply:
        return Reply(json.dumps(left.pop(0) if len(left) > 1 else left[0]).encode())

    return answer


class Bot(UrlBotClient):
    """A bot with a URL, which keeps its calls."""

    def __init__(self, answer: Answering) -> None:
        self.asked: list[Asked] = []

        async def answered(call: HttpMessage) -> Reply:
            method, path, _ = call.line.split(" ")
            asked = Asked(method, path, call.headers, json.loads(call.body or b"null"))
            self.asked.append(asked)
            return await answer(asked)

        super().__init__(answered)


@asynccontextmanager
async def bot(answer: Answering) -> AsyncIterator[Bot]:
    async with Bot(answer).serving() as one:
        yield one


class Organiser(CubeOrganiser):
    patience = PATIENCE

    async def until(self, wanted: str) -> list[tuple[str, Any]]:
        """All events up to this one."""
        events = [await self.receive()]
        while events[-1][0] != wanted:
            events.append(await self.receive())
        return events

    async def new_game(self, *players: tuple[str, str], **setup: Any) -> str:
        """The id of a game that was started."""
        await self.emit("NEW_GAME", game(*players, **setup))
        event, payload = await self.receive()
        assert event == "GAME_STARTED", payload
        return str(payload["id"])

    async def error(self) -> Any:
        event, payload = await self.receive()
        assert event == "ERROR", payload
        return payload

    async def closed(self) -> None:
        """Until the server hangs up."""
        try:
            while True:
                await asyncio.wait_for(self.socket.recv(), PATIENCE)
        except ConnectionClosed:
            pass


async def fence(one: Organiser) -> list[tuple[str, Any]]:
    """All that came before the answer to a question that is asked now."""
    await one.emit("LIST_GAMES")
    return (await one.until("GAMES"))[:-1]


def game(*players: tuple[str, str], **setup: Any) -> dict[str, Any]:
    """The payload of NEW_GAME."""
    whole = {"maxNumOfTicks": 3, "edgeLength": 4, "speed": 0, "numOfTasksPerTick": 1} | setup
    return {"setup": whole, "players": [{"name": name, "url": url} for name, url in players]}


def starts(**cells: tuple[int, int, int]) -> list[dict[str, Any]]:
    """The value of playerStartPositions."""
    return [{"name": name, "x": x, "y": y, "z": z} for name, (x, y, z) in cells.items()]


@asynccontextmanager
async def organiser(house: RunningServer) -> AsyncIterator[Organiser]:
    async with Organiser.connected(house.url) as one:
        yield one
