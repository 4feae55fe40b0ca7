"""Synthetic bots on Xterm Boat Sinker's protocol: lines over TCP."""

import asyncio
from random import Random

from botdrome.client.boats_board import RandomFleets
from botdrome.games.chance import Chance
from botdrome.rehearsal.bot_faults import BotFaults
from botdrome.rehearsal.synthetic_bot import Registered
from botdrome.wire.boats.lines import offer_in


class BoatsBot:
    """Shoots at every square once, in random order."""

    def __init__(self, seed: int) -> None:
        self._random, self._chance = Random(seed), Chance(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", bot.ports["xbs"])
        faults.begin_match()
        try:
            await self._play(reader, writer, bot, faults)
        finally:
            writer.close()

    async def _play(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        bot: Registered,
        faults: BotFaults,
    ) -> None:
        target, squares, name = "", list[tuple[int, int]](), bot.name
        while line := (await reader.readline()).decode("latin-1").rstrip("\n"):
            kind, *words = line.split("|")
            if kind == "G" and not squares:
                offer = offer_in([kind, *words])
                squares = [
                    (x, y) for x in range(1, offer.width + 1) for y in range(1, offer.height + 1)
                ]
                self._random.shuffle(squares)
                writer.write(
                    f"J|{name}|{RandomFleets(offer).draw(self._chance)}|{bot.token}\n".encode(
                        "latin-1"
                    )
                )
            elif kind == "S":
                target = words[(words.index(name) + 1) % len(words)]
            elif kind == "N" and words == [name] and squares:
                await faults.before_move()
                x, y = squares.pop()
                writer.write(f"S|{target}|{x}|{y}\n".encode("latin-1"))
            await writer.drain()
