"""Bad input over real sockets gets a clear answer and disturbs no other client."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from botdrome.app import RunningServer
from botdrome.games.reading import DEEPEST
from tests.match.telling import mark
from tests.server.clients import (
    NOTICES,
    PATIENCE,
    Client,
    bot,
    client,
    pair,
    play_noughts,
    registered,
    server,
    unhurried,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    """A server for all tests that need no settings of their own. A match on it begins before all
    bad input and ends after it.
    """
    folder = tmp_path_factory.mktemp("shared")
    async with server(folder, message_longest=1 << 20) as one, undisturbed(one):
        yield one


NUMBERS = count(1)


async def newcomer(house: RunningServer) -> dict[str, Any]:
    """The login of a bot that no other test uses."""
    return await registered(house, f"newcomer {next(NUMBERS)}")


@asynccontextmanager
async def newcomers(
    house: RunningServer, game: str = "noughts-and-crosses", **extra: Any
) -> AsyncIterator[tuple[Client, Client, tuple[str, str]]]:
    """Two bots that no other test uses, at one table after the first message, and their names."""
    names = f"ada {next(NUMBERS)}", f"bob {next(NUMBERS)}"
    async with pair(house, game, names, **extra) as (ada, bob):
        yield ada, bob, names


@asynccontextmanager
async def undisturbed(house: RunningServer) -> AsyncIterator[None]:
    """A match that begins before the bad input and ends after it."""
    one, two = await registered(house, "quiet one"), await registered(house, "quiet two")
    with unhurried("noughts-and-crosses"):
        async with bot(house, one) as first, bot(house, two) as second:
            yield
            last, _ = await asyncio.gather(
                play_noughts(first, "quiet one"), play_noughts(second, "quiet two")
            )
            assert last["state"]["result"]["reason"] == "complete"


FAILED = [{"authentication": "failed"}]


@pytest.mark.parametrize(
    "message",
    [
        None, True, 5, 1e300, "login", [], {}, {"name": None},
        {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": {"$ne": None}},
        {"gameType": "NOUGHTS_AND_CROSSES", "name": {"$gt": ""}, "password": "x"},
        {"gameType": "toString", "name": "ada", "password": "x"},
        {"gameType": ["NOUGHTS_AND_CROSSES"], "name": "ada", "password": "x"},
        {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada' or '1'='1", "password": "x"},
        {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": "", "contest": {"a": 1}},
        {"gameType": "NOUGHTS_AND_CROSSES", "name": "nul\x00", "password": "x"},
    ],
)  # fmt: skip
async def test_a_first_message_that_is_no_login_fails(house: RunningServer, message: Any) -> None:
    async with client(house) as one:
        await one.send(message)
        assert await one.until_closed() == (FAILED, 1000, "")


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ({"players": 3}, "players is from 2 to 2"),
        ({"players": "2"}, "players is from 2 to 2"),
        ({"options": []}, "options is an object"),
        ({"options": {"size": 4}}, "noughts-and-crosses has no option 'size'; it has none"),
        ({"opponent": 5}, "opponent is text"),
        ({"match": {}}, "match is text"),
    ],
)
async def test_further_keys_that_make_no_sense_are_named(
    house: RunningServer, extra: dict[str, Any], why: str
) -> None:
    login = await newcomer(house)
    async with client(house) as one:
        await one.send(login | extra)
        assert await one.until_closed() == ([{"authentication": "failed", "why": why}], 1000, "")


MALFORMED = [
    b"",
    b"{",
    b"nonsense",
    b'{"a": NaN}',
    b"Infinity",
    b"\xff\xfe",
    b"[1,]",
    b'{"mark": "X"',
    b"\x00",
]


@pytest.mark.parametrize("data", [*MALFORMED, b"[" * 100_000])
async def test_what_is_not_json_is_closed_without_a_word(house: RunningServer, data: bytes) -> None:
    async with client(house) as one:
        await one.socket.send(data)
        assert await one.until_closed() == ([], 1002, "ERROR")
    async with bot(house, await newcomer(house)) as waiting:
        await waiting.socket.send(data)
        assert await waiting.until_closed() == ([], 1002, "ERROR")


DEEP_MOVE = '{"mark": "X", "space": [0, 0], "more": ' + "[" * DEEPEST + "]" * DEEPEST + "}"
"""It could be read, but not be told to anybody if it were only somewhat deeper."""


@pytest.mark.parametrize("data", ["{oops", DEEP_MOVE])
async def test_what_is_not_json_in_a_match_is_a_disconnection(
    house: RunningServer, data: str
) -> None:
    async with newcomers(house) as (ada, bob, names):
        await ada.socket.send(data)
        assert await ada.until_closed() == ([], 1002, "ERROR")
        messages, code, _ = await bob.until_closed()
        assert messages[0]["state"]["result"] == {"reason": "disconnect", "victor": names[1]}
        assert code == 1000


@pytest.mark.parametrize(
    "raw",
    [None, [], 5, "toString", {"mark": {}}, {"__proto__": 1}, {"mark": "X", "space": [1e308, 0]}],
)
async def test_any_json_is_a_turn_that_may_be_refused(house: RunningServer, raw: Any) -> None:
    async with newcomers(house) as (ada, bob, _):
        await ada.send(raw)
        assert (await ada.receive())["turn"]["valid"] is False
        await ada.send(mark(0, 1, 1))
        assert (await bob.receive())["state"]["board"][1][1] == "X"


async def test_a_number_beyond_all_bounds_is_a_turn_that_is_refused(house: RunningServer) -> None:
    """JavaScript reads it, and says null where it repeats it."""
    async with newcomers(house) as (ada, bob, names):
        for strikes, number in enumerate(["1e400", "-1e400"], 1):
            await ada.socket.send(f'{{"mark": "X", "space": [1, {number}]}}')
            answer = await ada.receive()
            assert (answer["turn"]["space"], answer["turn"]["valid"]) == ([1, None], False)
            assert answer["state"]["invalidTurns"] == dict(zip(names, (strikes, 0), strict=True))
        await ada.socket.send('{"mark": "X", "space": [1.0, 1e0], "score": 1e400}')
        for each in (ada, bob):
            answer = await asyncio.wait_for(each.socket.recv(), PATIENCE)
            words = f'"turn":{{"mark":"X","space":[1,1],"score":null,"name":"{names[0]}",'
            assert words in str(answer)


async def test_orders_that_ended_the_original_are_dropped(house: RunningServer) -> None:
    """In a match each; these run beside each other, since their ticks take time."""
    bad: list[Any] = [
        {"toString": "UL"}, {"orders": {"toString": "toString"}}, {"orders": {"__class__": "UL"}},
        {"orders": None}, {"orders": [[]]}, {"orders": {"a": {"b": 1}}}, {"orders": "UL"}, [], None,
    ]  # fmt: skip
    async with AsyncExitStack() as matches:
        bobs = []
        for orders in bad:
            ada, bob, _ = await matches.enter_async_context(
                newcomers(house, "bumblebots", options={"ticks": 2})
            )
            await ada.send(orders)
            bobs.append(bob)
        for bob, orders in zip(bobs, bad, strict=True):
            messages, code, _ = await bob.until_closed()
            assert (messages[-1]["turnNumber"], code) == (2, 1000), orders


async def test_names_that_the_original_could_not_store_are_stored(house: RunningServer) -> None:
    names = ("my.bot", "$where; -- 'drop' \"it\" 🤖")
    logins = [await registered(house, name) for name in names]
    async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
        last, _ = await asyncio.gather(*map(play_noughts, (one, two), names))
        assert last["state"]["result"]["victor"] == "my.bot"


async def test_a_message_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with (
        server(tmp_path, message_longest=1000) as house,
        undisturbed(house),
        client(house) as one,
    ):
        await one.socket.send("5" * 2000)
        assert (await one.until_closed())[1] == 1009


async def test_a_message_that_is_too_long_in_pieces_is_refused(tmp_path: Path) -> None:
    async with server(tmp_path, message_longest=1000) as house, client(house) as one:
        await one.socket.send(["5" * 400] * 5)
        assert (await one.until_closed())[1] == 1009


async def test_pieces_make_a_message(house: RunningServer) -> None:
    text = json.dumps(await newcomer(house))
    async with client(house) as one:
        await one.socket.send([text[:5], text[5:9], text[9:]])
        assert (await one.receive())["authentication"] == "OK"


async def test_a_flood_is_told_and_closed(tmp_path: Path) -> None:
    async with server(tmp_path, message_rate=1.0, message_burst=20) as house, undisturbed(house):
        login = await registered(house, "ada") | NOTICES
        async with bot(house, login) as one:
            for _ in range(40):
                await one.send({})
            assert await one.until_closed() == (
                [{"error": "too many messages"}],
                1008,
                "too many messages",
            )


async def test_too_many_from_one_address_are_turned_away(tmp_path: Path) -> None:
    async with server(tmp_path, limits_connections_per_address=2) as house:
        async with client(house), client(house):
            with pytest.raises(InvalidStatus, match="503"):
                await client(house).__aenter__()
        async with bot(house, await registered(house, "ada")):
            pass


class Wire:
    """A connection on which anything can be sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer

    def frame(self, opcode: int, payload: bytes = b"", fin: bool = True, rsv: int = 0) -> None:
        first = (0x80 if fin else 0) | rsv << 4 | opcode
        length = len(payload)
        head = (
            bytes([first, 0x80 | length])
            if length < 126
            else bytes([first, 0xFE]) + struct.pack("!H", length)
        )
        self.writer.write(head + b"\0\0\0\0" + payload)

    async def close_code(self) -> int | None:
        """The code of the close frame that comes; None: it was cut off."""
        data = await asyncio.wait_for(self._reader.read(), PATIENCE)
        return struct.unpack("!H", data[2:4])[0] if data[:1] == b"\x88" else None


@asynccontextmanager
async def upgraded(house: RunningServer) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
    assert b" 101 " in head
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([{"opcode": 1, "payload": b"5", "rsv": 4}], 1002),
        ([{"opcode": 0, "payload": b"5"}], 1002),
        ([{"opcode": 1, "payload": b"5", "fin": False}, {"opcode": 1, "payload": b"5"}], 1002),
        ([{"opcode": 3, "payload": b"5"}], 1002),
        ([{"opcode": 9, "payload": b"5", "fin": False}], 1002),
        ([{"opcode": 8, "payload": struct.pack("!H", 1000)}], 1000),
        ([{"opcode": 8}], 1000),
    ],
)
async def test_the_rules_of_websockets_are_kept(
    house: RunningServer, frames: list[dict[str, Any]], code: int
) -> None:
    async with upgraded(house) as wire:
        for frame in frames:
            wire.frame(**frame)
        assert await wire.close_code() == code


async def test_a_ping_is_answered(house: RunningServer) -> None:
    async with client(house) as one:
        await asyncio.wait_for(await one.socket.ping(b"hello"), PATIENCE)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"G" * 20_000,
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000,
        b"\x16\x03\x01\x02\x00",
    ],
)
async def test_what_is_no_request_is_no_burden(house: RunningServer, data: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(data)
    writer.write_eof()
    await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()


async def test_a_handshake_for_graphql_that_fails_is_answered(house: RunningServer) -> None:
    head = (
        b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n"
        b"Cookie: %b\r\n\r\n" % (b"x" * 17_000)
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(head)
    assert (await asyncio.wait_for(reader.read(), PATIENCE)).startswith(b"HTTP/1.1 4")
    writer.close()


async def test_half_a_request_is_dropped_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.network.limits.HEAD_TIMEOUT", 0.01)
    async with server(tmp_path) as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET / HTTP/1.1\r\nUpgr")
        with pytest.raises(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            raise ConnectionResetError
        writer.close()


async def test_who_does_not_read_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server refuses every illegal turn; the client does not read the refusals."""
    monkeypatch.setattr("botdrome.server.network.websocket.BACKLOG", 20_000)
    async with (
        server(tmp_path, message_burst=1_000_000, message_longest=1 << 20) as house,
        undisturbed(house),
    ):
        ada, bob = [await registered(house, name, "battleship") for name in ("ada", "bob")]
        async with bot(house, bob), upgraded(house) as wire:
            wire.writer.write(b"")
            text = json.dumps(ada).encode()
            wire.frame(1, text)
            padding = json.dumps({"board": "x" * 30_000}).encode()
            try:
                for _ in range(3000):
                    wire.frame(1, padding[:30_000] + b'"}' if len(padding) > 30_000 else padding)
                    await wire.writer.drain()
            except ConnectionError:
                return
            assert await wire.close_code() is None
