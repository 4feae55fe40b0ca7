"""A connection survives any bytes: it gives an answer or the reason why there is none, and never
raises.
"""

import asyncio
import random
from collections.abc import Iterator
from typing import cast

import pytest

from botdrome.server.calling.bot_connection import BotAnswer, BotConnection, CallFailed
from tests.server.calling.test_answers import BAD, SAYINGS

pytestmark = pytest.mark.anyio
SAID = [*SAYINGS.values(), *(said for said, _ in BAD.values() if len(said) < 5000)]


class Wire:
    """Where bytes go to be forgotten."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...

    def get_extra_info(self, name: str) -> None: ...


def mutated(luck: random.Random) -> Iterator[bytes]:
    """An answer with a few bytes changed, doubled or left out, in pieces."""
    said = bytearray(luck.choice(SAID))
    for _ in range(luck.randrange(6)):
        at = luck.randrange(len(said))
        match luck.randrange(4):
            case 0:
                said[at] = luck.randrange(256)
            case 1:
                del said[at : at + luck.randrange(1, 9)]
            case 2:
                said[at:at] = said[: luck.randrange(40)]
            case _:
                said[at:at] = luck.choice([b"\r\n", b"\r\n\r\n", b"\0", b":", b"0", b"HTTP/1.1 "])
        if not said:
            return
    while said:
        length = luck.choice([1, 2, 7, 40, len(said)])
        yield bytes(said[:length])
        del said[:length]


def outcome(connection: BotConnection, pieces: Iterator[bytes]) -> BotAnswer | CallFailed:
    waiter = connection.ask(b"", asyncio.get_running_loop().time() + 100)
    for piece in pieces:
        connection.data_received(piece)
    connection.connection_lost(None)
    problem = waiter.exception()
    assert problem is None or isinstance(problem, CallFailed)
    return problem or waiter.result()


async def test_answers_that_were_tampered_with() -> None:
    luck, answers, failures = random.Random(5), 0, 0
    for _ in range(3000):
        lost: list[BotConnection] = []
        connection = BotConnection(1000, lost.append)
        connection.connection_made(cast(asyncio.Transport, Wire()))
        result = outcome(connection, mutated(luck))
        answers += isinstance(result, BotAnswer)
        failures += isinstance(result, CallFailed)
        assert lost == [connection] and not connection.usable
        if isinstance(result, BotAnswer):
            assert len(result.body) <= 1000
    assert answers > 300
    assert failures > 300
