"""Fuzzing over lines: no input breaks the server or disturbs another client."""

import asyncio
import gc
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.rooms.boats.clients import BOARD, Line, boat_server, sailors, the_room

pytestmark = pytest.mark.anyio

WORDS = [
    b"G", b"P", b"J", b"S", b"K", b"M", b"T", b"L", b"Z", b"", b" ", b"|", b"ann", b"bob", b"eve",
    b"mallory", BOARD.encode(), b"." * 100, b"1", b"0", b"10", b"11", b"+3", b"-1", b"hit", b"miss",
    b"\r", b"\0", b"\xff\xfe", b"\xc3\xa9", b"x" * 5000, b"9" * 400, b"Botdrome",
]  # fmt: skip


def nonsense(rng: Random) -> bytes:
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.randrange(1, 300))
    fields = [rng.choice(WORDS) for _ in range(rng.randrange(1, 6))]
    if kind < 0.5:
        fields[0] = rng.choice([b"J", b"S", b"M", b"K", b"T", b"G"])
    if fields[0] == b"J" and kind < 0.4:
        fields[1:] = [rng.choice([b"eve", b"mallory", b"oscar"]), BOARD.encode()]
    line = b"|".join(fields) + b"\n"
    return line[: rng.randrange(len(line))] if kind > 0.97 else line


async def babble(port: int, rng: Random, lines: int) -> None:
    """Send this number of lines, on one connection after the other."""
    while lines > 0:
        one = Line(*await asyncio.open_connection("127.0.0.1", port))
        with suppress(ConnectionError):
            for _ in range(rng.randrange(1, 30)):
                lines -= 1
                one.write(nonsense(rng))
                if one.reader.at_eof():
                    break
                if rng.random() < 0.3:
                    await one.writer.drain()
                    await asyncio.sleep(0)
        await one.close()


@pytest.mark.parametrize("seed", range(3))
async def test_nonsense(tmp_path: Path, seed: int) -> None:
    faults: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context))
    rng = Random(seed)
    rooms = (
        BoatRoomSettings(),
        BoatRoomSettings(title="Three", max=3, turn_limit=0.02, absence=0.01),
        BoatRoomSettings(title="Small", width=8, height=8),
    )
    async with boat_server(tmp_path, *rooms) as house, sailors(house, "ann", "bob") as (ann, bob):
        babblers = [
            asyncio.create_task(babble(house.ports["xbs"], Random(rng.random()), 300))
            for _ in range(4)
        ]
        for number in range(40):
            ann.send(f"S|bob|{number % 10 + 1}|{number // 10 + 1}")
            await bob.until("N|bob")
            bob.send("K")
            await ann.until("N|ann")
        await asyncio.gather(*babblers)
        ann.send("M||still here")
        assert (await bob.until("M|ann|still here|All"))[-1]
        assert the_room(house).games
    gc.collect()
    assert not faults
