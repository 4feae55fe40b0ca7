"""Framings and ailments: messages are cut and written without a loss, whole and byte by byte."""

import json

import pytest

from botdrome.doctor.ailments import (
    PROTOCOL_NAMES,
    ailments_of,
    asks,
    halves,
    in_other_order,
    rewritten,
    single_bytes,
    with_unknown_keys,
)
from botdrome.doctor.framing import (
    HttpFraming,
    LengthFraming,
    LineFraming,
    MessageFraming,
    SocketFraming,
    WireMessage,
    fragmented,
    text_frame,
)
from botdrome.wire.framing.websocket import WHOLE_TEXT

HANDSHAKE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
STREAMS: dict[str, tuple[type[MessageFraming], bytes, int]] = {
    "lines": (LineFraming, b"G|1.2.0\nN|ann\n", 2),
    "lengths": (LengthFraming, b"\0\0\0\2{}\0\0\0\4null", 2),
    "http": (HttpFraming, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No Content\r\n\r\n", 2),
    "websocket": (SocketFraming, HANDSHAKE + text_frame(WHOLE_TEXT, b"x" * 70000) + text_frame(WHOLE_TEXT, b"{}") + b"\x88\0", 4),
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
    assert list(with_unknown_keys(message)["state"]) == ["xDoctor", "bots"]
    assert with_unknown_keys(message)["turn"] is None
    assert json.dumps(in_other_order([{"a": 1, "b": {"c": 2, "d": 3}}])) == '[{"b": {"d": 3, "c": 2}, "a": 1}]'
    assert rewritten(b"[1]", with_unknown_keys) == b"[1]"
    assert rewritten(b"no JSON", with_unknown_keys) == b"no JSON"
    assert "Zoë".encode() in rewritten('{"a": "Zoë"}'.encode(), in_other_order)


def test_only_open_questions_are_repeated() -> None:
    assert asks(b'{"event": "get_move"}', "duel")
    assert asks(b'{"state": {"waitingFor": ["a", "b"], "result": null}}', "battlebot")
    assert not asks(b'{"state": {"waitingFor": ["a"], "result": null}}', "battlebot")
    assert not asks(b"[]", "battlebot")
    assert not asks(b"pong", "battlebot")


def test_every_protocol_has_ailments_and_begins_plainly() -> None:
    for protocol in PROTOCOL_NAMES:
        assert ailments_of(protocol, True)[0].name == "plain"
    names = {one.name for one in ailments_of("battlebot", True)} - {one.name for one in ailments_of("battlebot", False)}
    assert names == {"repeated question"}
