"""A spectator on a connection whose writes never wait."""

import json

import pytest

from botdrome.api.live_spectator import LiveSpectator, live_spectator
from botdrome.server.arena import Arena
from botdrome.server.network.traffic import Traffic
from tests.api.tables import HandTables, entry_of, mark

pytestmark = pytest.mark.anyio


class Line:
    address = "127.0.0.1"
    traffic = Traffic()

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed: tuple[int, str] | None = None

    def send(self, messages: list[bytes]) -> None:
        self.sent += messages

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed = (code, reason)


async def test_it_is_shown_the_match_until_it_is_over(arena: Arena, tables: HandTables) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    make = live_spectator(arena, "/watch/m?any=thing")
    assert make is not None
    spectator = make(line)
    spectator.received(b"hello")
    table.submit(0, mark(0, 1, 1))
    snapshot, played = map(json.loads, line.sent)
    assert snapshot["snapshot"]
    assert played["event"]["event"] == "played"
    tables.close("m")
    assert line.closed == (1000, "")


async def test_who_is_gone_is_forgotten(arena: Arena, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    spectator = LiveSpectator(arena, "m", Line())
    assert len(table.audience) == 1
    spectator.lost()
    assert len(table.audience) == 0


async def test_a_match_that_ended_meanwhile(arena: Arena, tables: HandTables) -> None:
    line = Line()
    LiveSpectator(arena, "m", line)
    assert json.loads(line.sent[0]) == {"error": "match m runs no longer; come again"}
    assert line.closed == (4404, "nothing to see")


@pytest.mark.parametrize("target", ["/watch/other", "/watch", "/watch/m/events", "/m", "/graphql", "*"])
async def test_all_else_is_left_to_the_http_stack(arena: Arena, tables: HandTables, target: str) -> None:
    tables.open(entry_of("m", "Ann", "Bob"))
    assert live_spectator(arena, target) is None
