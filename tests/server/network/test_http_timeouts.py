"""How long an HTTP connection may be idle, by a clock that the test sets."""

import asyncio
from typing import Any, cast

import pytest

from botdrome.server.network.http import LOOK, HttpConnection, HttpLimits, HttpResponse, HttpSite
from botdrome.server.network.limits import ConnectionLimits, body_units
from tests.server.network.test_http import GET, Elsewhere, Shop
from tests.server.network.test_timeouts import Clock

IDLE = HttpLimits().idle


class Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 5)})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    return clock


def test_a_connection_is_idle_from_its_last_request_or_a_late_answer_on(clock: Clock) -> None:
    shop, wire = Shop(HttpLimits()), Wire()
    limits = cast(ConnectionLimits, shop)
    line = HttpConnection(HttpSite(lambda _: shop, limits, Elsewhere, body_units()))
    line.connection_made(wire)
    clock.pass_until(IDLE)
    line.data_received(GET)
    clock.pass_until(2 * IDLE)
    assert not wire.closed
    line.data_received(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
    clock.pass_until(4 * IDLE)
    shop.waiting[0].answer(HttpResponse(200, b"at last"))
    clock.pass_until(5 * IDLE)
    assert wire.written.endswith(b"at last") and not wire.closed
    clock.pass_until(5 * IDLE + LOOK)
    assert wire.closed
