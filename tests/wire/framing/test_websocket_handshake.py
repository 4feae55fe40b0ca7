"""The handshake of a WebSocket."""

from base64 import b64encode
from hashlib import sha1

import pytest

from botdrome.server.network.http_request import read_headers
from botdrome.wire.framing.websocket import BadHandshake, accepted

# The handshake.

HEAD = (
    b"Host: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
)
"""From RFC 6455, section 1.2, as its answer."""


def answer_to(lines: bytes) -> bytes:
    headers = read_headers(lines + b"\r\n\r\n")
    assert headers is not None
    return accepted(headers)


@pytest.mark.parametrize(
    ("this", "that"),
    [
        (b"", b""),
        (b"Connection: Upgrade", b"connection:keep-alive, Upgrade"),
        (b"Connection: Upgrade", b"Connection: keep-alive\r\nConnection: upgrade"),
        (b"Upgrade: websocket", b"UPGRADE:\t WebSocket "),
        (
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            b"sec-websocket-key:dGhlIHNhbXBsZSBub25jZQ== \t",
        ),
        (b"Version: 13", b"Version: 8"),
        (b"Host", b"Content-Length: 0\r\nHost"),
        (b"Host", b"X-Words: \xff: and more\r\nHost"),
    ],
)
def test_a_handshake_is_answered(this: bytes, that: bytes) -> None:
    for _ in range(2):
        assert answer_to(HEAD.replace(this, that)) == (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
        )


@pytest.mark.parametrize("key", [b"x", b"NjM4YTk5ZDE=", b"=" * 100])
def test_a_key_is_whatever_the_client_calls_one(key: bytes) -> None:
    sent = HEAD.replace(b"dGhlIHNhbXBsZSBub25jZQ==", key)
    expected = b64encode(sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    assert b"\r\nSec-WebSocket-Accept: %b\r\n" % expected in answer_to(sent)


def test_the_key_may_come_last() -> None:
    lines = HEAD.split(b"\r\n")
    assert answer_to(b"\r\n".join([*lines[:3], lines[4], lines[3]])) == answer_to(HEAD)


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        (b"Sec-WebSocket-Protocol: chat", b"chat"),
        (b"sec-websocket-protocol:v1.chat , v2", b"v1.chat"),
        (b"Sec-WebSocket-Protocol: one\r\nSec-WebSocket-Protocol: two", b"one"),
        (b"Sec-WebSocket-Protocol: ", b""),
        (b"Sec-WebSocket-Protocol: \xff", b""),
        (b"X: y", b""),
    ],
)
def test_of_the_subprotocols_that_are_offered_the_first_is_agreed_on(
    offered: bytes, agreed: bytes
) -> None:
    """Clients that are given none leave; the original did the same."""
    lines = answer_to(HEAD + b"\r\n" + offered).split(b"\r\n")
    assert [line for line in lines if b"-Protocol:" in line] == (
        [b"Sec-WebSocket-Protocol: " + agreed] if agreed else []
    )
    assert lines[-2:] == [b"", b""]


KEY = "the field Sec-WebSocket-Key is missing, or not one word"
BODY = "a request for a WebSocket has no body"


@pytest.mark.parametrize(
    ("this", "that", "why"),
    [
        (HEAD, b"X: y", KEY),
        (b"Sec-WebSocket-Key", b"X-Key", KEY),
        (b"ZQ==", b"ZQ== x", KEY),
        (b"dGhl", b"d\xe9hl", KEY),
        (b"dGhlIHNhbXBsZSBub25jZQ==", b"", KEY),
        (b"Host", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nHost", KEY),
        (b"Upgrade: websocket", b"Upgrade: websockets", "the field Upgrade is not 'websocket'"),
        (b"Upgrade: websocket\r\n", b"", "the field Upgrade is not 'websocket'"),
        (b"Connection: Upgrade", b"Connection: close", "the field Connection has no 'Upgrade'"),
        (b"Connection: Upgrade\r\n", b"", "the field Connection has no 'Upgrade'"),
        (b"Host", b"Content-Length: 5\r\nHost", BODY),
        (b"Host", b"Transfer-Encoding: chunked\r\nHost", BODY),
    ],
)
def test_a_handshake_that_is_none_is_told_why(this: bytes, that: bytes, why: str) -> None:
    for _ in range(2):
        with pytest.raises(BadHandshake, match=why) as caught:
            answer_to(HEAD.replace(this, that))
        head, _, body = caught.value.answer.decode().partition("\r\n\r\n")
        assert head.split("\r\n")[:2] == ["HTTP/1.1 400 Bad Request", "Connection: close"]
        assert head.endswith(f"Content-Length: {len(why)}") and body == why


@pytest.mark.parametrize("version", [b"Version: 99", b"Version: ", b"Other: 13"])
def test_the_version_is_named(version: bytes) -> None:
    with pytest.raises(BadHandshake, match="Version is not 13") as caught:
        answer_to(HEAD.replace(b"Version: 13", version))
    assert caught.value.answer.startswith(b"HTTP/1.1 426 Upgrade Required\r\n")
    assert b"\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" in caught.value.answer
