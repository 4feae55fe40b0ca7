"""WebSocket: the handshake, frames read whole, in any pieces and against the rules, and frames
written.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.protocol import CLIENT, Protocol

from botdrome.wire.framing.websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    LAST,
    MOST_PARTS,
    PING,
    PONG,
    SHORT,
    TEXT,
    WHOLE,
    WHOLE_MESSAGES,
    Reader,
    Violation,
    check_text,
    close,
    close_answer,
    packed,
    ping,
    pong,
    text_reader,
    unmasked,
    whole,
)

LONGEST = 100_000


# Input from a client.


def frame(first: int, payload: bytes = b"", mask: bytes = b"\x01\xff\0\x37") -> bytes:
    """As a client writes it."""
    length = len(payload)
    if length <= SHORT:
        size = bytes((0x80 | length,))
    else:
        size = (
            b"\xfe" + length.to_bytes(2, "big")
            if length < 1 << 16
            else b"\xff" + length.to_bytes(8, "big")
        )
    return (
        bytes((first,))
        + size
        + mask
        + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
    )


def read(*pieces: bytes, longest: int = LONGEST) -> list[tuple[int, bytes]]:
    reader, found = Reader(longest), []
    for piece in pieces:
        reader.feed(piece)
        while (one := reader.next()) is not None:
            found.append(one)
    return found


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 125, 126, 127, 65535, 65536])
def test_a_payload_of_any_length_is_read(length: int) -> None:
    payload = bytes(number % 251 for number in range(length))
    assert unmasked(b"\1\2\3\4", unmasked(b"\1\2\3\4", payload)) == payload
    for opcode in (TEXT, BINARY):
        data = frame(LAST | opcode, payload)
        assert read(data) == [(opcode, payload)]
        assert whole(data, LONGEST) == (payload if length < 1 << 16 else None)


@pytest.mark.parametrize("payload", [b"hello", b"hello" * 40])
def test_only_a_whole_frame_is_read_at_once(payload: bytes) -> None:
    allowed = WHOLE if len(payload) <= SHORT else WHOLE_MESSAGES
    for first in range(256):
        assert (whole(frame(first, payload), LONGEST) == payload) == (first in allowed)
    data = frame(LAST | TEXT, payload)
    assert not [
        piece for end in range(len(data)) if (piece := whole(data[:end], LONGEST)) is not None
    ]
    assert whole(data + data, LONGEST) is None
    assert whole(data, len(payload) - 1) is None
    assert whole(bytes((data[0], data[1] & 0x7F)) + data[2:], LONGEST) is None, "not masked"


@pytest.mark.parametrize("payload", [b"", b"hello", b"h" * SHORT, b"hello" * 40])
def test_a_text_in_ascii_that_comes_alone_and_in_one_frame_is_read_at_once(payload: bytes) -> None:
    read_text, data = text_reader(LONGEST), frame(LAST | TEXT, payload)
    assert read_text(data) == payload
    for first in range(256):
        assert (read_text(frame(first, payload)) == payload) == (first == LAST | TEXT)
    assert [read_text(data[:end]) for end in range(len(data))] == [None] * len(data)
    assert read_text(data + data) is None
    assert read_text(data[:1] + bytes((data[1] & 0x7F,)) + data[2:]) is None, "not masked"
    assert read_text(frame(LAST | TEXT, payload + "é".encode())) is None, "another reader checks it"
    if payload:
        assert text_reader(len(payload) - 1)(data) is None, "it is too long"


def test_what_clients_by_hand_write_is_read_where_it_can_be() -> None:
    payload = b"x" * 300
    assert read(b"\x81\x05hello", b"\x82\x7e\x01\x2c" + payload) == [
        (TEXT, b"hello"),
        (BINARY, payload),
    ], "no mask"
    assert (
        read(b"\x81\xfe\0\x05\0\0\0\0hello", b"\x81\x7f" + bytes(7) + b"\x05hello")
        == [(TEXT, b"hello")] * 2
    ), "long lengths"


MIX = [
    frame(TEXT, b"he"), frame(LAST | PING, b"?"), frame(CONTINUATION, b"l"), frame(CONTINUATION),
    frame(LAST, b"lo"), frame(LAST | BINARY, b"x" * 300), frame(LAST | PONG), frame(BINARY),
    frame(LAST, b"y"), frame(LAST | CLOSE, b"\x03\xe8bye"),
]  # fmt: skip
MEANING = [
    (PING, b"?"),
    (TEXT, b"hello"),
    (BINARY, b"x" * 300),
    (PONG, b""),
    (BINARY, b"y"),
    (CLOSE, b"\x03\xe8bye"),
]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 1000])
def test_frames_in_pieces_of_any_size_give_the_same_messages(size: int) -> None:
    stream = b"".join(MIX)
    assert read(*[stream[at : at + size] for at in range(0, len(stream), size)]) == MEANING


def test_another_reader_goes_on_from_the_rest() -> None:
    stream = b"".join(MIX)
    for at in range(len(stream)):
        reader, found = Reader(LONGEST), []
        for piece in (stream[:at], stream[at:]):
            reader.feed(piece)
            while (message := reader.next()) is not None:
                found.append(message)
            rest, reader = reader.rest, Reader(LONGEST)
            reader.feed(rest)
        assert (found, rest) == (MEANING, b"")


messages = st.tuples(
    st.sampled_from([TEXT, BINARY]), st.lists(st.binary(max_size=200), min_size=1, max_size=4)
)
controls = st.tuples(
    st.sampled_from([PING, PONG]), st.binary(max_size=SHORT).map(lambda payload: [payload])
)


@pytest.mark.no_cover
@given(st.lists(messages | controls), st.binary(min_size=4, max_size=4), st.data())
def test_any_split_of_any_frames_gives_the_same_messages(
    said: list[tuple[int, list[bytes]]], mask: bytes, data: st.DataObject
) -> None:
    stream = b""
    for opcode, (first, *others) in said:
        stream += frame(opcode if others else LAST | opcode, first, mask)
        for number, part in enumerate(others, 1):
            stream += frame(LAST if number == len(others) else CONTINUATION, part, mask)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=10).map(sorted))
    pieces = [
        stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
    ]
    assert read(*pieces) == read(stream) == [(opcode, b"".join(parts)) for opcode, parts in said]


def test_a_reader_says_whether_it_keeps_anything() -> None:
    reader = Reader(LONGEST)
    assert reader.idle
    for piece, idle in [
        (MIX[1][:-1], False),
        (MIX[1][-1:], True),
        (MIX[0], False),
        (MIX[1], False),
        (MIX[4], True),
    ]:
        reader.feed(piece)
        while reader.next() is not None:
            pass
        assert reader.idle is idle


BEGIN, UNFINISHED = "cannot begin with", "before the last one is whole"


@pytest.mark.parametrize(
    ("stream", "code", "why"),
    [
        *[(frame(LAST | rsv | TEXT, b"5"), 1002, BEGIN) for rsv in (0x10, 0x20, 0x40)],
        *[
            (frame(LAST | opcode, b"5"), 1002, BEGIN)
            for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)
        ],
        *[(frame(opcode, b"5"), 1002, BEGIN) for opcode in (CLOSE, PING, PONG)],
        *[
            (frame(LAST | opcode, b"5" * 126)[:2], 1002, "at most 125 bytes")
            for opcode in (CLOSE, PING, PONG)
        ],
        (frame(LAST), 1002, "a part that is not its first"),
        (frame(CONTINUATION), 1002, "a part that is not its first"),
        (frame(TEXT) + frame(LAST | TEXT), 1002, UNFINISHED),
        (frame(TEXT) + frame(BINARY), 1002, UNFINISHED),
        (b"\x81\xff" + b"\xff" * 8, 1009, "a message has at most 100000 bytes"),
        (b"\x81\xff\x7f" + b"\xff" * 7, 1009, "a message has at most 100000 bytes"),
        (
            b"\x82\xff" + (LONGEST + 1).to_bytes(8, "big"),
            1009,
            "a message has at most 100000 bytes",
        ),
        (
            frame(TEXT, bytes(LONGEST)) + frame(LAST, b"5")[:2],
            1009,
            "a message has at most 100000 bytes",
        ),
        (frame(TEXT) + frame(CONTINUATION) * (MOST_PARTS - 1), 1009, "at most 4096 parts"),
    ],
)
def test_the_rules_are_kept_as_soon_as_they_can_be(stream: bytes, code: int, why: str) -> None:
    before = frame(LAST | TEXT, b"hello")
    reader = Reader(LONGEST)
    reader.feed(before + stream[:-1])
    assert reader.next() == (TEXT, b"hello")
    if code == 1002 and len(stream) > 2:
        reader.feed(stream[-1:])
    else:
        assert reader.next() is None, "nothing is wrong yet"
        reader.feed(stream[-1:])
    with pytest.raises(Violation, match=why) as caught:
        reader.next()
    assert caught.value.code == code
    assert whole(stream, LONGEST) is None


def test_the_longest_that_is_allowed() -> None:
    assert read(frame(LAST | TEXT, b"12345"), longest=5) == [(TEXT, b"12345")]
    assert read(
        frame(TEXT, b"123"), frame(LAST | PING, b"x" * SHORT), frame(LAST, b"45"), longest=5
    )[1:] == [(TEXT, b"12345")]
    assert read(frame(TEXT) + frame(CONTINUATION) * (MOST_PARTS - 2) + frame(LAST)) == [(TEXT, b"")]


# Frames of a server.


def seen(data: bytes) -> list[tuple[int, bytes]]:
    """The frame as another implementation reads it."""
    protocol = Protocol(CLIENT)
    protocol.receive_data(data)
    protocol.receive_eof()
    return [(event.opcode.value, bytes(event.data)) for event in protocol.events_received()]  # type: ignore[union-attr]


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65535, 65536])
def test_messages_are_written_each_as_one_frame(length: int) -> None:
    message = b"x" * length
    assert seen(packed([message])) == [(TEXT, message)]
    assert seen(packed([message, b"and", message])) == [
        (TEXT, message),
        (TEXT, b"and"),
        (TEXT, message),
    ]
    assert packed([]) == b""


def test_pongs_and_closes_are_written() -> None:
    assert seen(pong(b"") + pong(b"x" * SHORT) + ping(b"y")) == [
        (PONG, b""),
        (PONG, b"x" * SHORT),
        (PING, b"y"),
    ]
    assert seen(close(1000)) == [(CLOSE, b"\x03\xe8")]
    assert seen(close(1002, "words")) == [(CLOSE, b"\x03\xeawords")]
    assert close(4404, "€" * 100) == b"\x88\x7d\x11\x34" + "€".encode() * 41, (
        "whole characters, 125 bytes at most"
    )
    assert close(1000, "a\ud800b") == b"\x88\x04\x03\xe8ab"


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1007, 1011, 1014, 3000, 4999])
def test_a_close_is_answered_with_its_code(code: int) -> None:
    assert close_answer(
        code.to_bytes(2, "big") + "why \u017e".encode()
    ) == b"\x88\x02" + code.to_bytes(2, "big")
    assert close_answer(b"") == b"\x88\x02\x03\xe8"


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\x03", 1002),
        *[
            (code.to_bytes(2, "big"), 1002)
            for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535)
        ],
        (b"\x03\xe8\xff", 1007),
    ],
)
def test_a_close_with_a_code_or_a_reason_that_cannot_be(payload: bytes, code: int) -> None:
    with pytest.raises(Violation) as caught:
        close_answer(payload)
    assert caught.value.code == code


def test_a_text_that_is_none() -> None:
    check_text("é😀".encode())
    with pytest.raises(Violation) as caught:
        check_text(b"\xed\xa0\x80")
    assert caught.value.code == 1007
