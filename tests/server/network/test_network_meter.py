"""The network meter: what it measures, and what a client cannot gain."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.network import client_connection, connection, websocket
from botdrome.server.network.connection import (
    LAST_DATA,
    LEAST_ROUND_TRIP,
    NUMBER,
    RECENT,
    ROUND_TRIP,
    SIZE,
    UNKNOWN,
    NetworkMeter,
    tcp_round_trip,
    unread_for,
)
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.tcp import Tcp
from botdrome.server.settings import Settings
from botdrome.wire.framing.streams import Lines
from tests.patience import until
from tests.server.clients import pair, server
from tests.server.network.test_websocket import frame, post

pytestmark = pytest.mark.anyio


class Wire(asyncio.BaseTransport):
    """A connection as the system measures it, and its own socket. Times are in microseconds."""

    def __init__(
        self, rtt: int | None = None, least: int = UNKNOWN, proxied: bool = False, unread: int = 0
    ) -> None:
        super().__init__({"proxied": proxied, "socket": self})
        self.rtt, self.least, self.unread = rtt, least, unread

    def getsockopt(self, level: int, name: int, size: int) -> bytes:
        if self.rtt is None:
            raise OSError
        info = bytearray(SIZE)
        NUMBER.pack_into(info, ROUND_TRIP, self.rtt)
        NUMBER.pack_into(info, LEAST_ROUND_TRIP, self.least)
        NUMBER.pack_into(info, LAST_DATA, self.unread)
        return bytes(info[:size])


class Pinged:
    """A meter and a client that answers its pings after a delay."""

    def __init__(self, wire: Wire) -> None:
        self.words: list[bytes] = []
        self.meter = NetworkMeter(wire, self.words.append)
        self.now = 100.0

    def ping(self, delay: float | None) -> float:
        """The network time after a ping. None: there is no answer."""
        self.now += 1.0
        self.meter.seconds(self.now)
        if delay is not None and self.words:
            self.meter.pong(self.words[-1], self.now + delay)
        return self.meter.seconds(self.now + (delay or 0.0))


@pytest.mark.parametrize(
    ("rtt", "least", "seconds"),
    [
        (None, 0, None),
        (0, UNKNOWN, None),
        (40_000, UNKNOWN, 0.04),
        (40_000, 30_000, 0.03),
        (0, 30_000, 0.03),
    ],
)
def test_the_system_measures_the_round_trip(
    rtt: int | None, least: int, seconds: float | None
) -> None:
    assert tcp_round_trip(Wire(rtt, least)) == seconds


def test_the_system_knows_how_long_input_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unread_for(Wire(1, unread=25)) == 0.025
    assert unread_for(Wire()) == 0.0
    monkeypatch.setattr(connection, "TCP_INFO", None)
    assert unread_for(Wire(1, unread=25)) == 0.0


def test_delaying_some_pongs_gains_nothing() -> None:
    client = Pinged(Wire(proxied=True))
    assert client.ping(0.05) == pytest.approx(0.05)
    for _ in range(RECENT - 1):
        assert client.ping(0.9) == pytest.approx(0.05)
    assert client.ping(0.9) == pytest.approx(0.9), "by now it is a client that is far away"


def test_a_client_that_answers_no_ping_has_no_credit_from_pings() -> None:
    silent = Pinged(Wire(proxied=True))
    assert [silent.ping(None) for _ in range(5)] == [0.0] * 5
    assert len(silent.words) == 5
    assert Pinged(Wire(80_000)).ping(None) == 0.08


def test_pongs_that_nobody_asked_for_do_not_count() -> None:
    client = Pinged(Wire(proxied=True))
    client.meter.pong(b"", 1.0)
    client.ping(None)
    first = client.words[0]
    client.meter.pong(b"", client.now + 0.01)
    client.meter.pong(bytes(8), client.now + 0.01)
    assert client.ping(0.2) == pytest.approx(0.2)
    client.meter.pong(client.words[-1], client.now)
    client.meter.pong(first, client.now + 0.9)
    assert client.meter.seconds(client.now) == pytest.approx(0.2), (
        "one that is too late, or comes twice, does not count"
    )


def test_delaying_acknowledgements_or_pongs_alone_gains_nothing() -> None:
    assert Pinged(Wire(250_000)).ping(0.02) == pytest.approx(0.02)
    assert Pinged(Wire(20_000)).ping(0.25) == pytest.approx(0.02)


def test_behind_a_proxy_only_the_ping_counts_and_nearby_no_ping_is_sent() -> None:
    assert Pinged(Wire(300, proxied=True)).ping(0.12) == pytest.approx(0.12)
    near = Pinged(Wire(300))
    assert near.ping(0.12) == pytest.approx(0.0003)
    assert near.words == []


def test_it_measures_once_a_second() -> None:
    client = Pinged(Wire(9_000))
    for part in range(10):
        client.meter.seconds(100 + part / 10)
    assert len(client.words) == 1
    client.meter.seconds(101.0)
    assert len(client.words) == 2


async def test_a_real_client_is_pinged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "tcp_round_trip", lambda transport: None)
    monkeypatch.setattr(client_connection, "is_local", lambda transport, address: False)
    async with post() as office:
        line, diary = await office.upgraded()
        assert diary.connection.network_time() == 0.0
        assert await line.until(b"\x89\x08") == b"\x89\x08"
        word = await line.take(8)
        await line.send(frame(0x8A, bytes(8)), frame(0x8A, word), frame(0x81, b"hello"))
        await line.until(b"!")
        assert diary.connection.network_time() > 0.0
        assert diary.connection.delay() >= 0.0
        await line.leave()
        await diary.gone.wait()
        assert (diary.connection.network_time(), diary.connection.delay()) == (0.0, 0.0)


@pytest.mark.parametrize(("proxies", "pings"), [("", 0), ("127.0.0.1", 2)])
async def test_clients_on_this_machine_are_pinged_only_through_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxies: str, pings: int
) -> None:
    asked: list[Any] = []
    meters: list[NetworkMeter] = []

    def meter(*words: Any) -> NetworkMeter:
        meters.append(NetworkMeter(*words))
        return meters[-1]

    monkeypatch.setattr(connection, "tcp_round_trip", asked.append)
    monkeypatch.setattr(websocket, "NetworkMeter", meter)
    async with server(tmp_path, network_trusted_proxies=proxies) as house, pair(house):
        assert len(meters) == pings
        await until(lambda: all(one._pings for one in meters))
        assert asked == [], "the system would measure the time to the proxy"


async def test_bots_on_plain_tcp_are_measured_by_the_system() -> None:
    line = Tcp(Lines, lambda connection: None, ConnectionLimits(Settings()))  # type: ignore[arg-type, return-value]
    assert (line.network_time(), line.delay()) == (0.0, 0.0)
    line._transport, line.address = Wire(80_000, unread=5), "203.0.113.7"  # type: ignore[assignment]
    assert (line.network_time(), line.delay()) == (0.08, 0.005)
    assert line.network_time() == 0.08
    line.address = "127.0.0.1"
    assert line.network_time() == 0.0
