"""A connection on socket.io knows how much is unread, and tells when it was read."""

import asyncio

import pytest

from botdrome.server.rooms.cube import MUCH_UNREAD as MUCH
from tests.api.socketio_rig import PATIENCE, Caller, rig, said

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [3, 4])
LONG = "x" * MUCH


def read(caller: Caller) -> asyncio.Event:
    """Set when the client has read most of its events."""
    event = asyncio.Event()
    caller.connection.when_read(event.set)
    return event


@both
async def test_a_client_that_polls(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        caller = next(iter(one.echo.callers.values()))
        assert caller.connection.unread == 0
        for _ in range(3):
            caller.emit("LONG", LONG)
        done = read(caller)
        assert caller.connection.unread > 3 * MUCH
        await client.packet()
        assert caller.connection.unread > 2 * MUCH and not done.is_set()
        for _ in range(2):
            await client.packet()
        assert caller.connection.unread == 0 and done.is_set()


@both
async def test_a_client_on_a_websocket(version: int) -> None:
    async with rig() as one, one.caller(version) as socket:
        caller = next(iter(one.echo.callers.values()))
        for _ in range(12):
            caller.emit("LONG", LONG)
        done = read(caller)
        assert caller.connection.unread > MUCH
        for _ in range(12):
            assert len(await said(socket)) > MUCH
        await asyncio.wait_for(done.wait(), PATIENCE)
        assert caller.connection.unread <= MUCH


async def test_unread_packets_follow_a_client_to_its_websocket() -> None:
    async with rig() as one:
        client = await one.poller(4)
        caller = next(iter(one.echo.callers.values()))
        async with one.socket(4, client.sid) as socket:
            await socket.send("2probe")
            assert await said(socket) == "3probe"
            for _ in range(3):
                caller.emit("LONG", LONG)
            done = read(caller)
            await socket.send("5")
            for _ in range(3):
                assert len(await said(socket)) > MUCH
            await asyncio.wait_for(done.wait(), PATIENCE)


async def test_a_caller_that_is_gone_reads_nothing() -> None:
    async with rig() as one:
        async with one.caller(4):
            caller = next(iter(one.echo.callers.values()))
        await one.echo.until_gone()
        caller.connection.when_read(pytest.fail)
        assert caller.connection.unread == 0
