"""Frames: messages after their length, read whole, byte by byte and with bytes left over."""

import pytest

from botdrome.wire.framing.streams import BadFrame, Frames

LONGEST = 65536
MESSAGES = [
    b"{}",
    b'{"username": "ada"}',
    "\u017dofie".encode(),
    b"x" * 255,
    b"x" * 256,
    b"y" * LONGEST,
]
STREAM = b"".join([len(message).to_bytes(4, "big") + message for message in MESSAGES])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100, 4096, len(STREAM)])
def test_a_stream_in_pieces_of_any_size_gives_the_same_messages(size: int) -> None:
    frames, found = Frames(), []
    for start in range(0, len(STREAM), size):
        found += frames.feed(STREAM[start : start + size])
    assert found == MESSAGES


def test_each_message_alone_and_all_in_one_piece() -> None:
    frames = Frames()
    assert [frames.pack([message]) for message in MESSAGES] == [
        len(each).to_bytes(4, "big") + each for each in MESSAGES
    ]
    assert frames.pack(MESSAGES) == STREAM
    for message in MESSAGES:
        assert frames.feed(frames.pack([message])) == [message]


def test_a_message_that_comes_alone_and_in_one_piece_is_read_at_once() -> None:
    frames = Frames()
    for message in MESSAGES:
        data = frames.pack([message])
        assert frames.whole(data) == message
        assert frames.whole(data[:-1]) is frames.whole(data + b"\0") is None
    assert frames.whole(b"\0\0\0\0") is None, "no message is empty"
    assert Frames(2).whole(b"\0\0\0\3abc") is None, "it is too long"
    assert frames.feed(b"\0") == []
    assert frames.whole(b"\0\0\0\1a") is None, "something came before"


def test_what_is_left_over_is_kept_for_the_next_piece() -> None:
    frames = Frames()
    assert frames.feed(STREAM[:7]) == [b"{}"]
    assert frames.rest == STREAM[6:7]
    assert frames.feed(STREAM[7:]) == MESSAGES[1:]
    assert not frames.rest
    assert frames.feed(b"") == []


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"\0\0\0\0", "a frame of 0 bytes: it has 1 to 65536"),
        (b"\0\1\0\1", "a frame of 65537 bytes: it has 1 to 65536"),
        (b"\xff\xff\xff\xff", "a frame of 4294967295 bytes: it has 1 to 65536"),
    ],
)
def test_no_message_is_empty_or_too_long_and_what_came_before_is_given(
    header: bytes, why: str
) -> None:
    frames = Frames()
    assert frames.feed(Frames().pack([b"{}"]) + header + b"rest") == [b"{}"]
    for _ in range(2):
        with pytest.raises(BadFrame) as caught:
            frames.feed(b"")
        assert str(caught.value) == why


def test_the_longest_message_can_be_set() -> None:
    assert Frames(3).feed(b"\0\0\0\3abc") == [b"abc"]
    with pytest.raises(BadFrame):
        Frames(3).feed(b"\0\0\0\4abcd")


def test_what_looks_like_a_frame_within_a_frame_is_none() -> None:
    inner = Frames().pack([b"{}"])
    outer = Frames().pack([b"[" + inner + b"]"])
    frames = Frames()
    assert frames.feed(outer[:5]) == frames.feed(inner) == []
    assert frames.feed(b"]") == [b"[" + inner + b"]"]
