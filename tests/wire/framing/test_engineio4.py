"""Engine.IO 4, packet by packet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.wire.framing.socketio import BINARY, MESSAGE, MOST_PACKETS, PONG, BadPacket, EngineIo4


def packet(kind: str, data: str | bytes = "") -> bytes:
    return BINARY + data if isinstance(data, bytes) else (kind + data).encode()


ENGINE = EngineIo4()
PAYLOADS = [
    ("3", [packet(PONG)]),
    ("40", [packet(MESSAGE, "0")]),
    (
        '42["a"]\x1e42["😀"]\x1e3',
        [packet(MESSAGE, '2["a"]'), packet(MESSAGE, '2["😀"]'), packet(PONG)],
    ),
]


@pytest.mark.parametrize(("payload", "packets"), PAYLOADS)
def test_a_payload_is_read_and_written(payload: str, packets: list[bytes]) -> None:
    assert ENGINE.read_payload(payload) == packets
    assert ENGINE.write_payload(packets) == payload


def test_bytes_come_in_base64_after_a_b_and_bare_in_a_frame() -> None:
    assert ENGINE.read_payload("4x\x1ebAQIDBA==") == [
        packet(MESSAGE, "x"),
        packet(MESSAGE, b"\1\2\3\4"),
    ]
    assert ENGINE.read_frame(b"\4\1") == packet(MESSAGE, b"\4\1")


@pytest.mark.parametrize("payload", ["", "\x1e", "4\x1e", "x", "7", "b!", "bA"])
def test_a_bad_payload_is_refused(payload: str) -> None:
    with pytest.raises(BadPacket):
        ENGINE.read_payload(payload)


def test_the_packets_of_a_payload_are_limited() -> None:
    assert len(ENGINE.read_payload("\x1e".join("6" * MOST_PACKETS))) == MOST_PACKETS
    with pytest.raises(BadPacket, match="1000 packets at most"):
        ENGINE.read_payload("\x1e".join("6" * (MOST_PACKETS + 1)))


def test_a_payload_is_never_bytes() -> None:
    with pytest.raises(BadPacket, match="a payload is text"):
        ENGINE.read_binary_payload(b"4x")


@given(st.text())
def test_any_text_gives_packets_or_bad_packet(payload: str) -> None:
    try:
        ENGINE.read_payload(payload)
    except BadPacket as problem:
        assert str(problem)
