"""Bots with an address: an HTTP server that plays any game in the native tongue, and players to
meet it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

from botdrome.app import RunningServer
from botdrome.bots.house import HOUSE
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from tests.server.calling.hosts import Asked, Host, answer, host
from tests.server.clients import Client

CHANCE = Chance(7)
Brain = Callable[[str, Any], Any]
"""From a bot's name and a native message to its move."""


def brain(game: str) -> Brain:
    """Any legal move."""

    def noughts(name: str, message: Any) -> Any:
        state = message["state"]
        mark = next(mark for mark, owner in state["marks"].items() if owner == name)
        free = [[r, c] for r in range(3) for c in range(3) if not state["board"][r][c]]
        return {"mark": mark, "space": free[0]}

    def bees(name: str, message: Any) -> Any:
        return {"orders": dict.fromkeys(message["drones"][name], "UL")}

    def any_other(name: str, message: Any) -> Any:
        if game not in HOUSE:
            return next(iter(CATALOGUE[game].game.start(2, CHANCE).moves(0)))
        return HOUSE[game]["random"](message["state"], CHANCE)

    return {"noughts-and-crosses": noughts, "bumblebots": bees}.get(game, any_other)


def result_in(message: Any) -> Any:
    return message.get("state", message)["result"]


class UrlBot:
    """Run an HTTP bot; `instead` may return another answer, or None."""

    def __init__(self, move: Brain) -> None:
        self.move = move
        self.instead: Callable[[asyncio.StreamWriter, Any], bytes | None] = lambda _, __: None
        self.messages: list[Any] = []
        self.ended: asyncio.Queue[Any] = asyncio.Queue()
        """How matches ended, as it was told."""
        self.host: Host

    @property
    def url(self) -> str:
        return self.host.url

    async def __call__(self, writer: asyncio.StreamWriter, asked: Asked) -> None:
        message = json.loads(asked.body)
        other = self.instead(writer, message)
        if other is not None:
            writer.write(other)
        elif "challenge" in message:
            writer.write(answer(json.dumps({"challenge": message["challenge"]}).encode()))
        elif result_in(message):
            self.ended.put_nowait(message)
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            self.messages.append(message)
            writer.write(
                answer(
                    json.dumps(
                        self.move(unquote(asked.headers["x-botdrome-bot"]), message)
                    ).encode()
                )
            )


@asynccontextmanager
async def url_bot(
    game: str = "noughts-and-crosses", move: Brain | None = None
) -> AsyncIterator[UrlBot]:
    bot = UrlBot(move or brain(game))
    async with host(bot) as bot.host:
        yield bot


async def with_address(
    house: RunningServer, name: str, bot: UrlBot, game: str = "noughts-and-crosses"
) -> str:
    """The token of a new bot that is called."""
    return (await house.arena.register(game, name, "somebody", bot.url))[1]


async def play(one: Client, name: str, move: Brain) -> Any:
    """To the end of the match; the last message."""
    while True:
        message = await one.receive()
        if "error" in message or result_in(message):
            return message
        if name in message.get("state", {}).get("waitingFor", [name]):
            await one.send(move(name, message))
