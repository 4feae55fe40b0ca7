"""Framings and conditions: messages are cut and written without a loss, whole and byte by byte."""

import json

import pytest

from botdrome.kit.traffic import (
    CONDITIONS,
    PROTOCOL_NAMES,
    HttpFraming,
    LengthFraming,
    LineFraming,
    MessageFraming,
    SocketFraming,
    WireCondition,
    WireMessage,
    conditions_of,
    fragmented,
    halves,
    in_other_order,
    opponent_of,
    rewritten,
    single_bytes,
    text_frame,
    with_unknown_keys,
)
from botdrome.wire.framing.websocket import WHOLE_TEXT

HANDSHAKE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
STREAMS: dict[str, tuple[type[MessageFraming], bytes, int]] = {
    "lines": (LineFraming, b"G|1.2.0\nN|ann\n", 2),
    "lengths": (LengthFraming, b"\0\0\0\2{}\0\0\0\4null", 2),
    "http": (
        HttpFraming,
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No Content\r\n\r\n",
        2,
    ),
    "websocket": (
        SocketFraming,
        HANDSHAKE
        + text_frame(WHOLE_TEXT, b"x" * 70000)
        + text_frame(WHOLE_TEXT, b"{}")
        + b"\x88\0",
        4,
    ),
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_messages_are_cut_and_written_again(name: str, size: int) -> None:
    kind, stream, count = STREAMS[name]
    framing, buffer, found = kind(), bytearray(), list[WireMessage]()
    for at in range(0, len(stream), size):
        buffer += stream[at : at + size]
        while message := framing.cut(buffer):
            found.append(message)
    assert len(found) == count
    assert not buffer
    assert b"".join(map(framing.write, found)) == stream


def test_a_changed_body_has_its_length_in_the_head() -> None:
    message = WireMessage(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", b"abcd")
    assert HttpFraming().write(message) == b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nabcd"


def test_fragments_are_one_message_in_three_frames() -> None:
    assert fragmented(b"abcde") == b"\x01\x01a\x00\x01b\x80\x03cde"


@pytest.mark.parametrize("cut", [halves, single_bytes])
def test_pieces_are_the_whole(cut: type) -> None:
    for message in (b"a", b"abc", b"x" * 1000):
        pieces = cut(message)
        assert b"".join(pieces) == message
        assert all(pieces)


def test_messages_get_unknown_keys_and_another_order() -> None:
    message = {"state": {"bots": ["a"]}, "turn": None}
    assert list(with_unknown_keys(message)["state"]) == ["xUnknown", "bots"]
    assert with_unknown_keys(message)["turn"] is None
    assert (
        json.dumps(in_other_order([{"a": 1, "b": {"c": 2, "d": 3}}]))
        == '[{"b": {"d": 3, "c": 2}, "a": 1}]'
    )


def test_only_json_is_rewritten() -> None:
    keys, order = (
        WireCondition("", "", rewrite=with_unknown_keys),
        WireCondition("", "", rewrite=in_other_order),
    )
    assert rewritten(b"[1]", keys) == b"[1]"
    assert rewritten(b"no JSON", keys) == b"no JSON"
    assert rewritten(b'{"a":1}', CONDITIONS[0]) == b'{"a":1}'
    assert "Zoë".encode() in rewritten('{"a": "Zoë"}'.encode(), order)


def test_names_come_with_escapes_and_in_utf_8() -> None:
    assert (
        rewritten('{"a": "Zoë"}'.encode(), WireCondition("", "", escaped=True))
        == b'{"a": "Zo\\u00eb"}'
    )
    assert (
        rewritten(b'{"a": "Zo\\u00eb"}', WireCondition("", "", escaped=False))
        == '{"a": "Zoë"}'.encode()
    )


def test_opponents_take_turns_and_have_names_that_the_protocol_allows() -> None:
    long = next(one for one in CONDITIONS if one.name == "long name")
    assert opponent_of(CONDITIONS[0], "duel", 0) != opponent_of(CONDITIONS[0], "duel", 1)
    assert {protocol: len(opponent_of(long, protocol, 0)) for protocol in PROTOCOL_NAMES} == {
        "battlebot": 32, "duel": 32, "boats": 10, "bomber": 32, "battlecube": 32,
    }  # fmt: skip


def test_every_protocol_has_conditions_and_begins_plainly() -> None:
    for protocol in PROTOCOL_NAMES:
        assert conditions_of(protocol, True)[0].name == "plain"
    names = {one.name for one in conditions_of("battlebot", True)} - {
        one.name for one in conditions_of("battlebot", False)
    }
    assert names == {"repeated question"}
