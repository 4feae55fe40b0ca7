"""Several events at once: each arrives whole and in order, at any length and over any transport."""

import json

import pytest

from tests.api.socketio_rig import rig, said

pytestmark = pytest.mark.anyio

LENGTHS = (0, 1, 100, 125, 200, 65_000, 65_536, 200_000)
EVENTS = [(f"E{length}", "x" * length) for length in LENGTHS]


@pytest.mark.parametrize("version", [3, 4])
async def test_over_a_websocket(version: int) -> None:
    async with rig() as server, server.caller(version) as socket:
        await server.echo.next()
        (caller,) = server.echo.callers.values()
        caller.emit_all(EVENTS)
        caller.emit("LAST", 1)
        caller.emit_all([])
        for event in (*EVENTS, ("LAST", 1)):
            assert json.loads(str(await said(socket)).removeprefix("42")) == list(event)


async def test_over_polling() -> None:
    async with rig() as server:
        poller = await server.poller(4)
        (caller,) = server.echo.callers.values()
        caller.emit_all(EVENTS)
        for event in EVENTS:
            assert json.loads((await poller.packet()).removeprefix("42")) == list(event)
