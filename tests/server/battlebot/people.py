"""Guests of the native protocol: human players, which get frames."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from botdrome.app import RunningServer
from tests.server.clients import Client, bot

SECRET = "a secret of my own"


def person(name: str = "eve", game: str = "noughts-and-crosses", **more: Any) -> dict[str, Any]:
    """A guest's login."""
    login = {
        "gameType": game.upper().replace("-", "_"),
        "name": name,
        "guest": True,
        "secret": f"{SECRET} {name}",
    }
    return login | {"pace": "stepped", "features": ["frames"]} | more


@asynccontextmanager
async def seated(
    house: RunningServer, **more: Any
) -> AsyncIterator[tuple[Client, dict[str, Any], dict[str, Any]]]:
    """A person at a table with a house bot, its snapshot and the frame with which the
    match begins.
    """
    async with bot(house, person(**{"opponent": "house:perfect", **more})) as one:
        yield one, await one.receive(), await one.receive()


async def move(one: Client, raw: Any) -> None:
    await one.send({"move": raw})


async def play_out(one: Client, frame: dict[str, Any]) -> list[dict[str, Any]]:
    """Play the first legal move whenever there is one, until the match is over; all frames from
    then on.
    """
    frames = [frame]
    while frames[-1].get("event", {}).get("event") != "ended":
        if "legal" in frames[-1]:
            await move(one, frames[-1]["legal"][0])
        frames.append(await one.receive())
    return frames


def events(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["event"]["event"] for frame in frames]
