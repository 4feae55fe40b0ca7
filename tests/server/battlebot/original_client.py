"""A client like Battlebot's own: it reads the state of every message, and crashes on any other
message.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.server.clients import PATIENCE

State = dict[str, Any]
Answer = Callable[[str, State], Any]
"""The turn to send, or None for silence."""


def first_free(name: str, state: State) -> Any:
    free = [
        [row, column] for row in range(3) for column in range(3) if not state["board"][row][column]
    ]
    return {"mark": "X" if state["marks"]["X"] == name else "O", "space": free[0]}


def nothing(name: str, state: State) -> None:
    """A bot that hangs."""


def nonsense(name: str, state: State) -> Any:
    return {"mark": "?", "space": [9, 9]}


async def log_in(url: str, login: dict[str, Any]) -> ClientConnection:
    """Like the usual libraries it sends an Origin, and offers no compression."""
    origin = url.replace("ws", "http", 1)
    socket = await connect(url, origin=origin, compression=None, open_timeout=PATIENCE)  # type: ignore[arg-type]
    await socket.send(json.dumps(login))
    async with asyncio.timeout(PATIENCE):  # wait_for of Python 3.11 may swallow a cancellation
        answer = json.loads(await socket.recv())
    assert answer["authentication"] == "OK", answer
    return socket


async def play(url: str, login: dict[str, Any], answer: Answer = first_free) -> State:
    """One game of noughts and crosses, from the login to the last state.

    It waits for an opponent for as long as it takes.
    """
    name, socket = login["name"], await log_in(url, login)
    async with socket:
        async for text in socket:
            state: State = json.loads(text)["state"]
            if state["result"]:
                return state
            if name in state["waitingFor"] and (turn := answer(name, state)) is not None:
                await socket.send(json.dumps(turn))
    raise EOFError("closed before the end of the game")


async def play_on(url: str, login: dict[str, Any], results: list[State]) -> None:
    """As it plays a contest: one game after another, for ever."""
    while True:
        results.append(await play(url, login))
