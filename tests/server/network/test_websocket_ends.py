"""How a WebSocket ends, by either side, over real connections."""

import asyncio
from contextlib import suppress

import pytest

from botdrome.server.network import websocket
from tests.patience import until
from tests.server.clients import PATIENCE
from tests.server.network.test_websocket import BINARY, CLOSE, PING, TEXT, frame, post

pytestmark = pytest.mark.anyio


# The end.


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xc1\x81\0\0\0\0x", 1002),
        (frame(0x80, b"x"), 1002),
        (frame(CLOSE, b"\x03"), 1002),
        (frame(CLOSE, b"\x03\xed"), 1002),
        (frame(CLOSE, b"\x03\xe8\xff"), 1007),
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT, b"a" * 20 + b"\xed\xa0\x80"), 1007),
        (frame(0x01, b"\xc3") + frame(0x80, b"("), 1007),
        (b"\x81\xfe\x03\xe9", 1009),
        (b"\x81\xff\x7f" + b"\xff" * 7, 1009),
        (frame(TEXT, b"fail"), 1011),
        (frame(TEXT, b"fail") * 2, 1011),
        (frame(PING) * 201, 1008),
    ],
)
async def test_who_breaks_the_rules_is_told_and_heard_no_more(
    data: bytes, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "PINGS_RATE", 0.001)
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(data, frame(TEXT, b"not heard"), b"nonsense" * 1000)
        told = await line.rest()
        end = told.replace(b"\x8a\x00", b"")
        assert (
            end[:1] == b"\x88"
            and int.from_bytes(end[2:4], "big") == code
            and end[1] == len(end) - 2
        )
        assert b"not heard" not in diary.told and diary.lost_times == 1


async def test_a_close_of_ours_waits_for_the_answer() -> None:
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(
            frame(TEXT, b"go"), frame(TEXT, b"passed over"), frame(PING), frame(BINARY, b"this too")
        )
        assert await line.until(b"enough") == b"\x81\x0alast words\x88\x08\x03\xe8enough"
        assert (diary.told, diary.lost_times) == ([b"go"], 0)
        await line.send(frame(CLOSE, b"\x03\xe8"))
        assert await line.rest() == b""
        assert diary.lost_times == 1


async def test_a_close_of_ours_that_is_answered_with_nonsense() -> None:
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(frame(TEXT, b"go") + b"\xff" * 100)
        assert await line.rest() == b"\x81\x0alast words\x88\x08\x03\xe8enough"
        assert diary.lost_times == 1


async def test_a_close_of_ours_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.server.network.limits.CLOSE_TIMEOUT", 0.01)
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(frame(TEXT, b"go"))
        with suppress(ConnectionResetError):
            await line.rest()
        await asyncio.wait_for(diary.gone.wait(), PATIENCE)
        assert diary.lost_times == 1


async def test_too_much_after_a_close_of_ours() -> None:
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(frame(TEXT, b"go"), frame(TEXT, b"more") * websocket.MOST_IGNORED)
        await asyncio.wait_for(diary.gone.wait(), PATIENCE)


async def test_who_does_not_read_is_cut_off() -> None:
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(frame(TEXT, b"flood"))
        await asyncio.wait_for(diary.gone.wait(), PATIENCE)
        diary.connection.send([b"nobody gets this"])
        diary.connection.close()


async def test_who_says_goodbye_and_does_not_read_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botdrome.server.network.limits.CLOSE_TIMEOUT", 0.01)
    monkeypatch.setattr(websocket, "BACKLOG", 1 << 30)
    async with post(limits_connections=1) as one:
        line, _ = await one.upgraded()
        await line.send(frame(TEXT, b"flood"), frame(CLOSE))
        await until(lambda: not one.connection_limits.admit("somebody else"))


async def test_who_just_goes_has_gone() -> None:
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(frame(TEXT, b"fail at the end"))
        await line.leave()
        await asyncio.wait_for(diary.gone.wait(), PATIENCE)
        assert diary.lost_times == 1
        await one.upgraded()
