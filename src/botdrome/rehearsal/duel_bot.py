"""Synthetic bots on duel arena's protocol: framed JSON over TCP."""

import asyncio
import json
from typing import Any

from botdrome.rehearsal.bot_faults import BotFaults
from botdrome.rehearsal.synthetic_bot import Registered

FIND = {"event": "find_opponent"}


class DuelBot:
    """Fills its own row, so that boards are short."""

    def __init__(self, seed: int) -> None:
        self._row = seed

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", bot.ports["duel"])
        try:
            await _send(writer, {"username": bot.name, "password": bot.token} | FIND)
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                await self._heed(json.loads(await reader.readexactly(length)), writer, faults)
        finally:
            writer.close()

    async def _heed(
        self, message: dict[str, Any], writer: asyncio.StreamWriter, faults: BotFaults
    ) -> None:
        if message.get("event") == "player_is_free":
            faults.begin_match()
            await _send(writer, FIND)
        elif message.get("event") == "get_move":
            await faults.before_move()
            x, y = self._free(message["board"])
            await _send(writer, {"event": "make_move", "id": message["id"], "x": x, "y": y})

    def _free(self, board: dict[str, Any]) -> tuple[int, int]:
        size, taken = board["_size"], {tuple(move) for move in board["_moves"]}
        rows = [(self._row + offset) % size for offset in range(size)]
        return next((x, y) for y in rows for x in range(size) if (x, y) not in taken)


async def _send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    writer.write(len(body).to_bytes(4, "big") + body)
    await writer.drain()
