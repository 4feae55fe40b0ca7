"""Socket.IO's packets, one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.wire.framing.socketio import (
    ACK,
    BINARY_ACK,
    BINARY_EVENT,
    CONNECT,
    DISCONNECT,
    EVENT,
    MOST_ATTACHED,
    Assembly,
    BadPacket,
    SocketPacket,
    connected,
    read_packet,
    refusal,
)

PACKETS = [
    ("0", SocketPacket(CONNECT)),
    ("0/", SocketPacket(CONNECT)),
    ("0/admin", SocketPacket(CONNECT, "/admin")),
    ("0/admin?token=1", SocketPacket(CONNECT, "/admin")),
    ("0/admin,", SocketPacket(CONNECT, "/admin")),
    ('0{"token":"x"}', SocketPacket(CONNECT, data={"token": "x"})),
    ('0/admin,{"token":"x"}', SocketPacket(CONNECT, "/admin", {"token": "x"})),
    ("1", SocketPacket(DISCONNECT)),
    ("1/admin,", SocketPacket(DISCONNECT, "/admin")),
    ('2["hello"]', SocketPacket(EVENT, data=["hello"])),
    ('2["hello",{"a":"😀"},null]', SocketPacket(EVENT, data=["hello", {"a": "😀"}, None])),
    ('2/admin,12["hello","a,b"]', SocketPacket(EVENT, "/admin", ["hello", "a,b"])),
    ('212["hello"]', SocketPacket(EVENT, data=["hello"])),
    ("312[1]", SocketPacket(ACK, data=[1])),
    (
        '51-["x",{"_placeholder":true,"num":0}]',
        SocketPacket(BINARY_EVENT, data=["x", {"_placeholder": True, "num": 0}], attachments=1),
    ),
    ('50-["x"]', SocketPacket(BINARY_EVENT, data=["x"])),
    ('52-/admin,7["x"]', SocketPacket(BINARY_EVENT, "/admin", ["x"], 2)),
    ("61-7[]", SocketPacket(BINARY_ACK, data=[], attachments=1)),
]


@pytest.mark.parametrize(("text", "packet"), PACKETS)
def test_a_packet_is_read(text: str, packet: SocketPacket) -> None:
    assert read_packet(text) == packet


BAD = [
    ("", "begins with its type"),
    ("7", "begins with its type"),
    ("x", "begins with its type"),
    ("²", "begins with its type"),
    ('5["x"]', "attachments and a dash"),
    ('5-["x"]', "attachments and a dash"),
    ('5-1-["x"]', "attachments and a dash"),
    ('51e1-["x"]', "attachments and a dash"),
    ('599999999999-["x"]', "attachments and a dash"),
    ('533-["x"]', "32 attachments at most"),
    ("2", "begins with its name"),
    ("2[]", "begins with its name"),
    ("2[1]", "begins with its name"),
    ('2{"a":1}', "begins with its name"),
    ('2"hello"', "begins with its name"),
    ("50-", "begins with its name"),
    ('2["hello"', "not JSON"),
    ('2["hello"]]', "not JSON"),
    ("2[NaN]", "not JSON"),
    ('2["\\ud800"]', "not JSON"),
    ('2["a",1e999]', "not JSON"),
    ("2" + "[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_a_bad_packet_is_explained(text: str, words: str) -> None:
    with pytest.raises(BadPacket, match=words):
        read_packet(text)


def test_the_name_of_an_event_that_is_nested_too_deeply_stays_for_the_answer() -> None:
    deep = "[" * 5000 + "]" * 5000
    assert read_packet(f'2["NEW_GAME",{deep}]').data == ["NEW_GAME", None]


@given(st.text(st.sampled_from('0123456/,-["x]{}:')))
def test_any_text_gives_packets_or_bad_packet(text: str) -> None:
    try:
        read_packet(text)
    except BadPacket as problem:
        assert str(problem)


def test_attachments_take_their_places_as_base64() -> None:
    assembly = Assembly(
        read_packet(
            '52-["x",{"a":[{"_placeholder":true,"num":1},5],"b":{"_placeholder":true,"num":0}}]'
        )
    )
    assert assembly.add(b"one") is None
    assert assembly.add(b"two") == SocketPacket(
        BINARY_EVENT, data=["x", {"a": ["dHdv", 5], "b": "b25l"}], attachments=2
    )


@pytest.mark.parametrize("number", ["1", "-1", "null", "true", "0.0", '"0"', "[]"])
def test_a_placeholder_must_name_an_attachment(number: str) -> None:
    assembly = Assembly(read_packet('51-["x",{"_placeholder":true,"num":' + number + "}]"))
    with pytest.raises(BadPacket, match="names no attachment"):
        assembly.add(b"")


def test_an_attachment_takes_one_place_alone() -> None:
    """A small packet that names a large attachment many times would be enormous once it is written
    down.
    """
    assembly = Assembly(
        read_packet('51-["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":0}]')
    )
    with pytest.raises(BadPacket, match="two placeholders name the same attachment"):
        assembly.add(b"")


def test_attachments_are_bounded_together() -> None:
    assembly = Assembly(read_packet('52-["x"]'))
    assert assembly.add(bytes(MOST_ATTACHED)) is None
    with pytest.raises(BadPacket, match="1000000 bytes at most"):
        assembly.add(b"x")


def test_data_that_is_nested_too_deeply_is_refused() -> None:
    deep: list[object] = ["x"]
    for _ in range(100_000):
        deep = ["x", deep]
    with pytest.raises(BadPacket, match="nested too deeply"):
        Assembly(SocketPacket(BINARY_EVENT, data=deep, attachments=1)).add(b"")


def test_packets_of_the_server() -> None:
    assert [connected(3, "abc"), connected(4, "abc")] == [b"40", b'40{"sid":"abc"}']
    assert [refusal(3, "no"), refusal(4, "no")] == [b'44"no"', b'44{"message":"no"}']
    assert [refusal(3, "no", "/a"), refusal(4, "no", "/a")] == [
        b'44/a,"no"',
        b'44/a,{"message":"no"}',
    ]
