"""The two ends of a channel, without a network between them."""

from typing import Any, cast

import pytest

from botdrome.server.nodes import carrying
from botdrome.server.nodes.carrying import (
    CarriedConnection,
    Carrier,
    CarryMessage,
    Heard,
    HeardAll,
    LinkDelay,
    Measured,
    OpenChannel,
)
from botdrome.server.session import Transfer
from botdrome.server.workers.limits import CLIENT_SOURCE


class Far:
    """A client whose network time and delay are known."""

    address, network, late = "192.0.2.1", 0.25, 0.5

    def network_time(self) -> float:
        return self.network

    def delay(self) -> float:
        return self.late

    def close(self, code: int, reason: str) -> None:
        pass


def test_the_delay_beyond_the_shortest_way_counts() -> None:
    delay = LinkDelay()
    assert [
        delay.of(sent, sent + 1000 + took) for sent, took in ((0, 3), (1, 2), (2, 7), (3, 2))
    ] == [0, 0, 5, 0]


def test_clocks_that_drift_do_not_count_for_long() -> None:
    delay = LinkDelay()
    assert delay.of(0, 5) == 0
    assert delay.of(20, 26) == 1
    assert delay.of(40, 46) == 1, "the shortest of the previous window counts"
    assert delay.of(80, 86) == 0


def test_the_front_sends_the_network_time_and_the_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sent, now = Far(), list[CarryMessage](), [100.0]
    monkeypatch.setattr(carrying, "monotonic", lambda: now[0])
    carrier = Carrier(cast(Any, client), 7, "b.1", sent.append, lambda: now[0] > 101, lambda: True)
    carrier.open(Transfer("duel"), [b"login"])
    carrier.received(b"one")
    client.network = 0.2
    carrier.received(b"two")
    now[0] = 102.0
    carrier.received(b"three")
    assert sent == [
        OpenChannel(7, Transfer("duel"), "192.0.2.1", 0.25, [b"login"]),
        Heard(7, 100.0, b"one"),
        Heard(7, 100.0, b"two"),
        Measured(7, 0.2),
        Heard(7, 101.5, b"three"),
    ]


def test_the_front_sends_how_long_input_was_held(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, held = list[CarryMessage](), [True]
    monkeypatch.setattr(carrying, "monotonic", lambda: 100.0)
    monkeypatch.setattr(carrying, "was_held", lambda: held[0])
    carrier = Carrier(cast(Any, Far()), 7, "b.1", sent.append, lambda: False, lambda: True)
    carrier.received(b"one")
    held[0] = False
    carrier.received(b"two")
    assert sent == [Heard(7, 99.5, b"one"), Heard(7, 100.0, b"two")]


def test_the_session_sees_the_network_time_and_works_for_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, float, float]] = []

    class Receiver:
        def received(self, message: bytes) -> None:
            seen.append((CLIENT_SOURCE.get(), carried.network_time(), carried.delay()))

    monkeypatch.setattr(carrying, "monotonic", lambda: 10.0)
    opened = OpenChannel(7, Transfer("duel"), "192.0.2.1", 0.25, [])
    carried = CarriedConnection("a.1", opened, lambda _: None, LinkDelay(), lambda: True)
    carried.redirect(cast(Any, Receiver()))
    carried.heard(Heard(7, 8.0, b"one"))
    carried.receive(Measured(7, 0.5))
    carried.heard(Heard(7, 5.0, b"two"))
    assert seen == [("192.0.2.1", 0.25, 0.0), ("192.0.2.1", 0.5, 3.0)]
    assert (carried.traffic.received, CLIENT_SOURCE.get()) == (2, "")


def test_eof_after_the_end_of_the_session_is_the_end_of_the_connection() -> None:
    sent: list[CarryMessage] = []
    carrier = Carrier(cast(Any, Far()), 7, "b.1", sent.append, lambda: False, lambda: True)
    assert carrier.heard_all()
    carrier.close(1000, "")
    assert not carrier.heard_all()
    assert sent == [HeardAll(7)]
