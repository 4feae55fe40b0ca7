"""Native bots that play on and on, come back to their matches, and remember every result that they
were told.
"""

import asyncio
from random import Random
from time import monotonic
from typing import Any

from websockets.exceptions import WebSocketException

from botdrome.client.protocol_clients import JsonSocket
from tests.chaos.arena import NO_ENDS, Ends
from tests.faults.diary import Diary
from tests.faults.trying import Address

TRY_LATER = 1013
TROUBLE = (OSError, WebSocketException, TimeoutError, EOFError)
SILENCE = 60.0
"""Seconds after which a bot takes its connection for dead."""


class NodeSocket(JsonSocket):
    patience = SILENCE


class NativeBot:
    """Plays random legal moves. `kind` is its heading in the diary."""

    def __init__(
        self, address: Address, diary: Diary, kind: str, login: dict[str, Any], think: float
    ) -> None:
        self._address, self._diary, self._kind, self.think = address, diary, kind, think
        self._login = login | {"features": ["again", "frames"]}
        self.name = str(login["name"])
        self._random = Random(self.name)
        self.match = ""
        """The match that it plays; empty: none."""
        self.known = set[str]()
        """All matches of which it was told."""
        self.ends: Ends = NO_ENDS
        """The ports of its connection, the server's first."""
        self._one: NodeSocket
        self.lost: list[tuple[float, str]] = []
        """When it lost its connection, and in which match."""
        self.returns = 0
        self.over = False
        """It has nothing more to play."""

    async def play(self, stop: asyncio.Event) -> None:
        while not stop.is_set() and not self.over:
            try:
                async with NodeSocket.connected(
                    self._url(), "", open_timeout=5, ping_interval=None
                ) as one:
                    self.ends = one.socket.remote_address[1], one.socket.local_address[1]
                    self._one = one
                    await self._play_on(one, stop)
            except TROUBLE:
                self.lost.append((monotonic(), self.match))
                await self.wait_to_return()
            finally:
                self.ends = NO_ENDS

    def cut_off(self) -> None:
        """Take the connection for dead, as a client does whose node does not answer."""
        if self.ends != NO_ENDS:
            self._one.socket.transport.abort()

    def _url(self) -> str:
        return self._address.url.replace("http", "ws", 1)

    async def wait_to_return(self) -> None:
        await asyncio.sleep(0.1)

    async def _play_on(self, one: NodeSocket, stop: asyncio.Event) -> None:
        back = {"match": self.match} if self.match else {}
        await one.send(self._login | back)
        while not stop.is_set() or self.match:
            message = await one.receive()
            if "complete" in message:
                self._diary.complete.append((self.name, message["contest"]))
                self.over = True
                return
            if "error" in message or message.get("authentication") == "failed":
                await one.socket.wait_closed()
                if (
                    one.socket.close_code != TRY_LATER
                ):  # else the match is about to move to another node
                    self.match = ""
                raise OSError(message)
            if message.get("snapshot"):
                self._greet(message["match"], bool(back))
                back = {}
            if await self._act(one, message):
                if stop.is_set() or self.over:
                    return
                await one.send({"again": True})

    def _greet(self, match: str, back: bool) -> None:
        self.match = match
        self.known.add(match)
        self.returns += back

    async def _act(self, one: NodeSocket, message: dict[str, Any]) -> bool:
        """Move if it is this bot's turn. Return whether the match is over."""
        event = message.get("event", {})
        if event.get("event") == "ended":
            if "aborted" not in event["result"]["causes"]:
                self._diary.note(
                    self._kind, self.name, (message["match"], tuple(event["result"]["places"]))
                )
            self.match = ""
            return True
        if "legal" in message:
            await self.choose(one, message["legal"])
        return False

    async def choose(self, one: NodeSocket, legal: list[Any]) -> None:
        await asyncio.sleep(self.think)
        await one.send({"move": self._random.choice(legal)})
