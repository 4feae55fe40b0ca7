"""A server of one's own, and clients that are as simple as a bot's."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.app import RunningServer, open_server
from botdrome.catalogue import CATALOGUE
from botdrome.client.protocol_clients import JsonSocket
from botdrome.protocols import load_settings
from tests.patience import PATIENCE as PATIENCE


@asynccontextmanager
async def server(folder: Path, **changes: Any) -> AsyncIterator[RunningServer]:
    """A server on a port of the system's choice."""
    quick: dict[str, Any] = dict.fromkeys(
        ("port", "duel_port", "boats_port", "bomber_port", "cube_port"), 0
    )
    quick |= {"match_start_delay": 0.0, "drain": 0.0, "cube_limit": 60.0}
    quick["db"] = f"sqlite:///{folder / 'test.db'}"
    house = await open_server(load_settings(quick | changes))
    try:
        yield house
    finally:
        await house.close()


def leap(seconds: float) -> None:
    """Move the clock of the loop ahead: all timers within this number of seconds are due now."""
    loop = asyncio.get_running_loop()
    time = loop.time
    loop.time = lambda: time() + seconds  # type: ignore[method-assign]


@contextmanager
def unhurried(game: str) -> Iterator[None]:
    """Matches of this game wait for their players longer than any test does."""
    row = CATALOGUE[game]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            CATALOGUE,
            game,
            replace(row, terms=replace(row.terms, pace=replace(row.terms.pace, limit=3_600_000))),
        )
        yield


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port without a listener. It is bound, so that no other program can listen there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


class Client(JsonSocket):
    patience = PATIENCE


@asynccontextmanager
async def client(house: RunningServer, path: str = "/") -> AsyncIterator[Client]:
    async with Client.connected(house.url, path) as one:
        yield one


NOTICES = {"features": ["notices"]}
"""In a login: tell this bot why a wait or its connection ends."""
GAME_TYPES = {
    "NOUGHTS_AND_CROSSES": "noughts-and-crosses",
    "BUMBLEBOTS": "bumblebots",
    "GOMOKU": "gomoku",
}


async def registered(
    house: RunningServer, name: str, game: str = "noughts-and-crosses"
) -> dict[str, Any]:
    """A new bot's login."""
    _, token = await house.arena.register(game, name, "somebody")
    return {"gameType": game.upper().replace("-", "_"), "name": name, "password": token}


@asynccontextmanager
async def bot(
    house: RunningServer, login: dict[str, Any], path: str = "/"
) -> AsyncIterator[Client]:
    """A client that has logged in."""
    async with client(house, path) as one:
        await one.send(login)
        answer = await one.receive()
        assert answer["authentication"] == "OK", answer
        yield one


@asynccontextmanager
async def pair(
    house: RunningServer,
    game: str = "noughts-and-crosses",
    names: tuple[str, str] = ("ada", "bob"),
    **extra: Any,
) -> AsyncIterator[tuple[Client, Client]]:
    """Ada and Bob at one table, after the first message."""
    ada, bob = [await registered(house, name, game) | extra for name in names]
    async with bot(house, ada) as one, bot(house, bob) as two:
        for each in (one, two):
            await each.receive()
        yield one, two


async def play_noughts(one: Client, name: str) -> Any:
    """Take the first free space until it is over; the last message."""
    message = await one.receive()
    while message["state"]["result"] is None:
        state = message["state"]
        if name in state["waitingFor"]:
            free = [[r, c] for r in range(3) for c in range(3) if not state["board"][r][c]]
            await one.send({"mark": "X" if state["marks"]["X"] == name else "O", "space": free[0]})
        message = await one.receive()
    return message
