"""Bots that play on and on, come back to their matches, and remember every result that they were told."""

import asyncio
import json
from time import monotonic
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

FEATURES = ["again", "notices"]
TRY_LATER = 1013
TROUBLE = (OSError, WebSocketException, TimeoutError, EOFError)


class Told:
    """A result that a bot was told."""

    def __init__(self, match: str, result: Any) -> None:
        self.match, self.result, self.at = match, result, monotonic()


class NoughtsBot:
    def __init__(self, address: str, name: str, password: str) -> None:
        self._address, self.name, self._password = address, name, password
        self.told: list[Told] = []
        self.match = ""
        """The match that it plays; empty: none."""
        self.losses = self.returns = 0
        """Connections that it lost, and matches to which it came back."""

    async def play(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                async with connect(f"ws://{self._address}/", open_timeout=10, ping_interval=None) as socket:
                    await self._play_on(socket, stop)
            except TROUBLE:
                self.losses += 1
                await asyncio.sleep(0.1)

    async def _play_on(self, socket: Any, stop: asyncio.Event) -> None:
        login = {"gameType": "NOUGHTS_AND_CROSSES", "name": self.name, "password": self._password, "features": FEATURES}
        back = {"match": self.match} if self.match else {}
        await socket.send(json.dumps(login | back))
        while True:
            message = json.loads(await asyncio.wait_for(socket.recv(), 60))
            if "error" in message or message.get("authentication") == "failed":
                await socket.wait_closed()
                if socket.close_code != TRY_LATER:  # else the match is about to move to another node
                    self.match = ""
                raise OSError(message)
            if back and "state" in message:
                self.returns, back = self.returns + 1, {}
            if "match" in message and "state" not in message:
                self.match = message["match"]
            if "state" in message and await self._act(socket, message["state"]):
                if stop.is_set():
                    return
                await socket.send('{"again": true}')

    async def _act(self, socket: Any, state: Any) -> bool:
        """Move if it is this bot's turn; return whether the match is over."""
        if state["result"] is not None:
            self.told.append(Told(self.match, state["result"]))
            self.match = ""
            return True
        if self.name in state["waitingFor"]:
            free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
            await socket.send(json.dumps({"mark": "X" if state["marks"]["X"] == self.name else "O", "space": free[0]}))
        return False


class DuelBot:
    """A client of duel arena, which knows nothing of nodes: it connects again and looks for an opponent."""

    def __init__(self, address: tuple[str, int], name: str) -> None:
        self._address, self.name = address, name
        self.boards = self.losses = 0

    async def play(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                reader, writer = await asyncio.open_connection(*self._address)
                try:
                    await self._play_on(reader, writer, stop)
                finally:
                    writer.close()
            except TROUBLE:
                self.losses += 1
                await asyncio.sleep(0.1)

    async def _play_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stop: asyncio.Event) -> None:
        _send(writer, {"username": self.name})
        while not stop.is_set():
            length = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), 60), "big")
            message = json.loads(await reader.readexactly(length))
            event = message.get("event")
            if event == "player_is_free":
                _send(writer, {"event": "find_opponent"})
            elif event == "get_move":
                moves = {(x, y) for x, y, *_ in message["board"]["_moves"]}
                x, y = next((x, y) for y in range(15) for x in range(15) if (x, y) not in moves)
                _send(writer, {"event": "make_move", "id": message["id"], "x": x, "y": y})
            elif event in ("win", "defeat", "draw"):
                self.boards += 1


def _send(writer: asyncio.StreamWriter, message: Any) -> None:
    body = json.dumps(message).encode()
    writer.write(len(body).to_bytes(4, "big") + body)
