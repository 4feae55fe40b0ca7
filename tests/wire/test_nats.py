"""The NATS protocol: what a server sends, whole and in pieces, and what a client sends."""

import pytest

from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.nats import (
    LONGEST_LINE,
    PING,
    PONG,
    NatsError,
    NatsEvent,
    NatsInfo,
    NatsReader,
    connect,
    publish,
    subscribe,
)

INFO = b'INFO {"server_id":"NA","max_payload":1048576,"tls_required":true} \r\n'
STREAM = (
    INFO + b"+OK\r\nPING\r\nMSG a.b 1 5\r\nhe\r\no\r\nMSG a.b 1 an.answer 0\r\n\r\nPONG\r\n"
    b"-ERR 'Authorization Violation'\r\n"
)
EVENTS: list[NatsEvent] = [
    NatsInfo(1048576, tls_required=True),
    PING,
    (b"a.b", b"he\r\no"),
    (b"a.b", b""),
    PONG,
    NatsError("Authorization Violation"),
]


def test_a_stream_whole_and_byte_by_byte() -> None:
    assert NatsReader().feed(STREAM) == EVENTS
    reader = NatsReader()
    assert [event for byte in STREAM for event in reader.feed(bytes([byte]))] == EVENTS


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the line 'SSH-2.0-OpenSSH_9.2'"),
        (b"PING\r\n", "the line 'PING'"),
        (b"PONG\r\n", "the line 'PONG'"),
        (b"+OK\r\n", r"the line '\+OK'"),
        (b"x" * (LONGEST_LINE + 1), "more than 65536 bytes"),
        (b"INFO {}\r\n", "missing required field `max_payload`"),
        (b"MSG a 5\r\n", "without its size"),
        (b"MSG a 1 -5\r\n", "without its size"),
    ],
)
def test_what_no_nats_server_sends(data: bytes, words: str) -> None:
    with pytest.raises(BadFrame, match=words):
        NatsReader().feed(data)


def test_what_a_client_sends() -> None:
    assert publish(b"a.b", b"hello") == b"PUB a.b 5\r\nhello\r\n"
    assert subscribe("a.*") == b"SUB a.* 1\r\n"
    assert b'"user":"me","pass":"x"' in connect("ant", "1", False, "me", "x")
    assert b'"auth_token":"t"' in connect("ant", "1", False, "t")
    assert connect("ant", "1", True).endswith(
        b'"tls_required":true,"name":"ant","lang":"python","version":"1","protocol":1}\r\n'
    )
