"""Fuzzing: rubbish of every kind, sent by many clients at every stage of a conversation, to a real
server.
"""

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from tests.api.tables import entry_of, played_by_the_house
from tests.server.clients import bot, play_noughts, registered, server
from tests.server.network.socket_traps import ALL, fall

CLIENTS = 12
SEEDS: list[Any] = [
    None, True, 0, -1, 1e308, 10**25, "", "toString", "UL", "🤖", [], [[]], {}, {"orders": {}},
    {"orders": {"a": "UL"}}, {"mark": "X", "space": [1, 1]}, {"x": 3, "y": 4}, {"board": "." * 100},
    {"target": 1, "x": 0, "y": 0}, {"skip": True}, [{"task": "MOVE", "direction": "+X"}],
    [{"task": "BOMB", "x": 1, "y": 2, "z": 3}], {"action": "PLACE_BOMB"},
    {"gameType": "GOMOKU", "name": "x", "password": "y"}, {"__proto__": None},
    {"name": {"$ne": None}},
]  # fmt: skip
RAW = [
    b"",
    b"{",
    b"\xff\xff",
    b"NaN",
    b"[" * 3000,
    b'{"a":',
    b"5" * 3000,
    b"\x00\x01",
    b'"\\ud800"',
    b"1e999",
]


def mutated(chance: Chance, value: Any, depth: int = 0) -> Any:
    """Something like it."""
    if depth > 3 or chance.below(3) == 0:
        return chance.choice(SEEDS)
    if isinstance(value, dict):
        return {
            key if chance.below(6) else f"{key} ": mutated(chance, inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [
            mutated(chance, inner, depth + 1) for inner in value for _ in range(chance.below(3))
        ]
    return value


def message(chance: Chance) -> str | bytes:
    if chance.below(20) == 0:
        return chance.choice(RAW)
    text = json.dumps(mutated(chance, chance.choice(SEEDS)))
    return text.encode() if chance.below(4) == 0 else text


class Fuzz:
    def __init__(self, house: RunningServer, messages: int, seed: int) -> None:
        self._house, self._left, self._seed = house, messages, seed
        self._logins: list[dict[str, Any]] = []

    async def run(self) -> None:
        for number, game in enumerate(CATALOGUE):
            self._logins += [
                await registered(self._house, f"fuzz {game} {number} {side}", game)
                for side in range(2)
            ]
        await asyncio.gather(
            *(self._client(Chance(self._seed, number)) for number in range(CLIENTS))
        )

    async def _client(self, chance: Chance) -> None:
        url = self._house.url.replace("http", "ws", 1)
        while self._left > 0:
            try:
                async with connect(
                    url, max_size=None, ping_interval=None, close_timeout=1
                ) as socket:
                    if chance.below(4):
                        await socket.send(json.dumps(chance.choice(self._logins)))
                    reader = asyncio.create_task(self._read(socket))
                    for _ in range(min(self._left, 10 + chance.below(60))):
                        self._left -= 1
                        await socket.send(message(chance))
                    reader.cancel()
            except (ConnectionClosed, InvalidHandshake, OSError):
                continue

    async def _read(self, socket: Any) -> None:
        async for _ in socket:
            pass


class Complaints(logging.Handler):
    """The logged errors."""

    def __init__(self, problems: list[Any]) -> None:
        super().__init__(logging.ERROR)
        self._problems = problems

    def emit(self, record: logging.LogRecord) -> None:
        self._problems.append(self.format(record))


async def fuzz(folder: Path, messages: int, seed: int) -> list[Any]:
    """Send this number of messages, and return the server's errors."""
    return await _observed(_fuzz(folder, messages, seed))


async def trap(folder: Path, clients: int, seed: int) -> list[Any]:
    """Let this number of clients break the WebSocket protocol, and return the server's errors."""
    return await _observed(_trap(folder, clients, Chance(seed)))


async def _observed(attack: Coroutine[Any, Any, None]) -> list[Any]:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    complaints = Complaints(problems)
    logging.getLogger().addHandler(complaints)
    try:
        await attack
    finally:
        logging.getLogger().removeHandler(complaints)
    return problems


async def _trap(folder: Path, clients: int, chance: Chance) -> None:
    async with server(folder) as house:
        await played_by_the_house(house.arena.store, entry_of("over", "Ann", "Bob", game="gomoku"))
        for _ in range(0, clients, CLIENTS):
            traps = [chance.choice(ALL) for _ in range(CLIENTS)]
            await asyncio.gather(
                *(fall(house.port, *one, apart=bool(chance.below(2))) for one in traps)
            )


async def _fuzz(folder: Path, messages: int, seed: int) -> None:
    async with server(folder, message_rate=1e9, message_burst=10**9, limits_waiting=0.5) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await Fuzz(house, messages, seed).run()
        async with bot(house, ada) as one, bot(house, bob) as two:
            last, _ = await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
            assert last["state"]["result"]["reason"] == "complete"


def main(messages: int) -> None:
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seed = int(time.time())
        problems = asyncio.run(fuzz(Path(folder), messages, seed)) + asyncio.run(
            trap(Path(folder), messages // 100, seed)
        )
    print(f"{messages:,} messages in {time.perf_counter() - began:.0f} s, {len(problems)} problems")
    for problem in problems[:10]:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
