"""Engine.IO 3, packet by packet: every payload as a client 2.x writes it, read whole, and written
the same.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.wire.framing.socketio import (
    BINARY,
    MESSAGE,
    MOST_PACKETS,
    NOOP,
    PING,
    UPGRADE,
    BadPacket,
    EngineIo3,
    from_jsonp,
    jsonp,
    units,
)


def packet(kind: str, data: str | bytes = "") -> bytes:
    return BINARY + data if isinstance(data, bytes) else (kind + data).encode()


ENGINE = EngineIo3()
PAYLOADS = [
    ("1:2", [packet(PING)]),
    ("6:2probe", [packet(PING, "probe")]),
    ("1:5", [packet(UPGRADE)]),
    ('11:42["hello"]', [packet(MESSAGE, '2["hello"]')]),
    ("2:40", [packet(MESSAGE, "0")]),
    ("1:61:6", [packet(NOOP), packet(NOOP)]),
    ("6:4hello2:4€", [packet(MESSAGE, "hello"), packet(MESSAGE, "€")]),
    ("4:4a:b6:42:3:x", [packet(MESSAGE, "a:b"), packet(MESSAGE, "2:3:x")]),
    ("3:4😀", [packet(MESSAGE, "😀")]),
    ("3:4😀3:4😀1:6", [packet(MESSAGE, "😀"), packet(MESSAGE, "😀"), packet(NOOP)]),
    ("6:4é€😀x1:2", [packet(MESSAGE, "é€😀x"), packet(PING)]),
    ("7:4ĺ:😀:x1:2", [packet(MESSAGE, "ĺ:😀:x"), packet(PING)]),
]  # U+013A has the byte of a colon in it.


@pytest.mark.parametrize(("payload", "packets"), PAYLOADS)
def test_a_payload_is_read_and_written(payload: str, packets: list[bytes]) -> None:
    assert ENGINE.read_payload(payload) == packets
    assert ENGINE.write_payload(packets) == payload


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_comes_back(texts: list[str]) -> None:
    payload = ENGINE.write_payload([(MESSAGE + text).encode() for text in texts])
    assert ENGINE.read_payload(payload) == [packet(MESSAGE, text) for text in texts]


def test_the_packets_of_a_payload_are_limited() -> None:
    assert len(ENGINE.read_payload("1:6" * MOST_PACKETS)) == MOST_PACKETS
    assert len(ENGINE.read_binary_payload(b"\x00\x01\xff6" * MOST_PACKETS)) == MOST_PACKETS
    for payload in ("1:6" * (MOST_PACKETS + 1), "0:" * (MOST_PACKETS + 1)):
        with pytest.raises(BadPacket, match="1000 packets at most"):
            ENGINE.read_payload(payload)
    with pytest.raises(BadPacket, match="1000 packets at most"):
        ENGINE.read_binary_payload(b"\x00\x01\xff6" * (MOST_PACKETS + 1))


def test_lengths_are_javascripts() -> None:
    assert [units(text) for text in ("", "a", "é", "€", "😀", "a😀é")] == [0, 1, 1, 1, 2, 4]


def test_an_empty_packet_is_passed_over_as_in_the_original() -> None:
    assert ENGINE.read_payload("0:1:2") == [packet(PING)]


def test_bytes_come_in_base64_after_a_b() -> None:
    assert ENGINE.read_payload("10:b4AQIDBA==1:2") == [packet(MESSAGE, b"\1\2\3\4"), packet(PING)]
    assert ENGINE.read_payload("8:b4AQIDBA") == [packet(MESSAGE, b"\1\2\3\4")]
    assert ENGINE.read_payload("2:b4") == [packet(MESSAGE, b"")]


def test_bytes_come_in_a_frame_after_their_type() -> None:
    assert ENGINE.read_frame(b"\4\1\2\3") == packet(MESSAGE, b"\1\2\3")


def test_a_payload_of_bytes() -> None:
    text, binary = b"\0\1\2\xff4" + "2[😀]😀".encode(), b"\1\4\xff\4abc"
    assert ENGINE.read_binary_payload(text + binary) == [
        packet(MESSAGE, "2[😀]😀"),
        packet(MESSAGE, b"abc"),
    ]


BAD = [
    ("", "at least one packet"),
    ("2", "its length and a colon"),
    ("x:2", "is a number"),
    (":2", "is a number"),
    ("-1:2", "is a number"),
    ("+1:2", "is a number"),
    ("1.0:2", "is a number"),
    ("1e0:2", "is a number"),
    ("0x1:2", "is a number"),
    ("١:2", "is a number"),
    ("²:2", "is a number"),
    (" 1:2", "is a number"),
    ("NaN:2", "is a number"),
    ("2:2", "shorter than its length"),
    ("9999999999:2", "shorter than its length"),
    ("99999999999:2", "its length and a colon"),
    ("9" * 5000 + ":2", "its length and a colon"),
    ("1:21", "its length and a colon"),
    ("1:21:", "shorter than its length"),
    ("2:4😀", "in the middle of a character"),
    ("4:4😀", "shorter than its length"),
    ("x:4😀", "is a number"),
    ("1\u3a31\u3400😀", "its length and a colon"),
    ("1:7", "begins with its type"),
    ("1:x", "begins with its type"),
    ("1:-", "begins with its type"),
    ("1:²", "begins with its type"),
    ("1:b", "only a message can be binary"),
    ("2:b2", "only a message can be binary"),
    ("2:b9", "only a message can be binary"),
    ("4:b4!!", "not base64"),
    ("3:b4A", "not base64"),
]


@pytest.mark.parametrize(("payload", "words"), BAD)
def test_a_bad_payload_is_explained(payload: str, words: str) -> None:
    with pytest.raises(BadPacket, match=re.escape(words)):
        ENGINE.read_payload(payload)


BAD_BYTES = [
    (b"", "at least one packet"),
    (b"\2\1\xff2", "begins with 0 or 1"),
    (b"\0\1", "begins with 0 or 1"),
    (b"\0" + b"\1" * 20 + b"\xff2", "begins with 0 or 1"),
    (b"\0\xff2", "is a number"),
    (b"\0\x0a\xff2", "is a number"),
    (b"\0\2\xff2", "shorter than its length"),
    (b"\0" + b"\x09" * 10 + b"\xff2", "shorter than its length"),
    (b"\0\2\xff4\xff", "not UTF-8"),
    (b"\0\1\xffx", "begins with its type"),
    (b"\1\1\xff\7", "begins with its type"),
    (b"\1\0\xff", "begins with its type"),
    (b"\1\1\xff\2", "only a message can be binary"),
]


@pytest.mark.parametrize(("payload", "words"), BAD_BYTES)
def test_a_bad_binary_payload_is_explained(payload: bytes, words: str) -> None:
    with pytest.raises(BadPacket, match=words):
        ENGINE.read_binary_payload(payload)


@given(st.text(st.sampled_from("0123456789:b4é😀")))
def test_any_text_gives_packets_or_bad_packet(payload: str) -> None:
    try:
        ENGINE.read_payload(payload)
    except BadPacket as problem:
        assert str(problem)


@given(st.binary())
def test_any_bytes_give_packets_or_bad_packet(payload: bytes) -> None:
    for read in (ENGINE.read_binary_payload, ENGINE.read_frame):
        try:
            read(payload)
        except BadPacket as problem:
            assert str(problem)


def test_jsonp_calls_a_function() -> None:
    assert jsonp("3", '2:4"\u2028') == '___eio[3]("2:4\\"\\u2028");'


FORMS = [("2:4\\n", "2:4\n"), ("3:4\\\\n", "3:4\\n"), ("4:4a\\b", "4:4a\\b"), ("\\n\\\\n", "\n\\n")]


@pytest.mark.parametrize(("form", "payload"), FORMS)
def test_a_form_carries_line_breaks(form: str, payload: str) -> None:
    assert from_jsonp(form) == payload
