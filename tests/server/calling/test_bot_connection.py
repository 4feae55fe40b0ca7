"""A connection survives any bytes: it gives an answer or the reason why there is none, and never
raises.
"""

import asyncio
import random
from collections.abc import Iterable, Iterator
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


def made() -> BotConnection:
    connection = BotConnection(1000, lambda _: None)
    connection.connection_made(cast(asyncio.Transport, Wire()))
    return connection


def asked(connection: BotConnection, pieces: Iterable[bytes]) -> BotAnswer | CallFailed | None:
    """The outcome of a request that gets these bytes; None: there is none yet."""
    told: list[BotAnswer | CallFailed] = []
    now = asyncio.get_running_loop().time()
    connection.ask(b"", now, now + 100, told.append)
    for piece in pieces:
        connection.data_received(piece)
    assert len(told) <= 1
    return told[0] if told else None


async def test_answers_that_were_tampered_with() -> None:
    luck, answers, failures = random.Random(5), 0, 0
    for _ in range(3000):
        lost: list[BotConnection] = []
        connection = BotConnection(1000, lost.append)
        connection.connection_made(cast(asyncio.Transport, Wire()))
        told: list[BotAnswer | CallFailed] = []
        now = asyncio.get_running_loop().time()
        connection.ask(b"", now, now + 100, told.append)
        for piece in mutated(luck):
            connection.data_received(piece)
        connection.connection_lost(None)
        (result,) = told
        answers += isinstance(result, BotAnswer)
        failures += isinstance(result, CallFailed)
        assert lost == [connection] and not connection.usable
        if isinstance(result, BotAnswer):
            assert len(result.body) <= 1000
    assert answers > 300
    assert failures > 300


async def test_a_head_that_is_known_is_read_as_the_parser_reads_it() -> None:
    """One connection has had the answer before in one piece, and so remembers its head; the other
    had it byte by byte.
    """
    luck, answers = random.Random(7), 0
    for _ in range(3000):
        first, seed = luck.choice([*SAYINGS.values()]), luck.random()
        connections = [made() for _ in range(2)]
        told = [
            asked(connections[0], [first]),
            asked(connections[1], [bytes((byte,)) for byte in first]),
        ]
        assert told[0] == told[1]
        again = [asked(one, changed(first, random.Random(seed))) for one in connections]
        assert str(again[0]) == str(again[1])
        assert connections[0].usable == connections[1].usable
        answers += isinstance(again[0], BotAnswer)
    assert 300 < answers < 2700


def changed(said: bytes, luck: random.Random) -> list[bytes]:
    """An answer, often with one byte changed, added or left out, mostly in one piece."""
    at, pieces = luck.randrange(len(said)), luck.choice([1, 1, 1, 2])
    said = luck.choice(
        [
            said,
            said[:at] + bytes((luck.randrange(256),)) + said[at + 1 :],
            said[:at] + luck.choice([b"\r\n", b" ", b"1"]) + said[at:],
            said[:at] + said[at + 1 :],
            said + luck.choice([b"\r\n", b"x", said]),
        ]
    )
    return [said] if pieces == 1 else [said[:at], said[at:]]
