"""A spectator on a connection whose writes never wait."""

import json

import pytest

from botdrome.api.app import NO_SOCKET, Api
from botdrome.api.spectators import LiveSpectator
from botdrome.server.arena import Arena
from botdrome.server.network.connection import Traffic
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.websocket import PacedSocket
from tests.api.tables import HandTables, entry_of, mark

pytestmark = pytest.mark.anyio


class Line:
    address = "127.0.0.1"
    traffic = Traffic()

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed: tuple[int, str] | None = None

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def send(self, messages: list[bytes]) -> None:
        self.sent += messages

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed = (code, reason)


async def test_it_is_shown_the_match_until_it_is_over(app: Api, tables: HandTables) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    welcome = app.receive_socket("/watch/m?any=thing", {})
    assert isinstance(welcome, SocketOptions)
    spectator = welcome.make_session(line)
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


async def test_a_match_at_no_table_is_replayed_as_fast_as_it_is_read(app: Api) -> None:
    welcome = app.receive_socket("/watch/other", {})
    assert isinstance(welcome, SocketOptions) and welcome.kind is PacedSocket


@pytest.mark.parametrize("target", ["/watch", "/m", "/graphql", "*"])
async def test_other_targets_are_not_for_spectators(app: Api, target: str) -> None:
    assert app.receive_socket(target, {}) is None


async def test_there_is_no_socket_below_a_match(app: Api) -> None:
    assert app.receive_socket("/watch/m/events", {}) == NO_SOCKET
