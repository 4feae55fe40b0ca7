"""Frames between two nodes, and how nodes prove who they are."""

import pytest

from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.pipe import (
    DATA,
    FRAME,
    GIVE_BACK,
    HOLD,
    LONGEST,
    PIECE,
    PipeDelay,
    PipeReader,
    data_frames,
    frame,
    proof,
)

FRAMES = [(DATA, b"one"), (HOLD, b""), (DATA, bytes(300)), (GIVE_BACK, b"last")]
STREAM = b"".join([frame(kind, body) for kind, body in FRAMES])


@pytest.mark.parametrize("size", [1, 4, 5, 6, 100, len(STREAM)])
def test_frames_are_read_whole_and_in_pieces(size: int) -> None:
    reader = PipeReader()
    found = [
        one
        for start in range(0, len(STREAM), size)
        for one in reader.feed(STREAM[start : start + size])
    ]
    assert found == FRAMES


@pytest.mark.parametrize("head", [(GIVE_BACK + 1, 0), (DATA, LONGEST + 1)])
def test_frames_of_no_node_are_refused(head: tuple[int, int]) -> None:
    with pytest.raises(BadFrame, match=f"kind {head[0]} with {head[1]} bytes"):
        PipeReader().feed(frame(DATA) + FRAME.pack(*head))


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 3 * PIECE])
def test_long_data_is_cut(size: int) -> None:
    data = bytes(index % 251 for index in range(size))
    found = PipeReader().feed(data_frames(data))
    assert b"".join([body for _, body in found]) == data
    assert all(kind == DATA and len(body) <= PIECE for kind, body in found)


def test_a_proof_holds_for_one_secret_one_role_and_two_numbers() -> None:
    given = (b"secret", b"front", b"1", b"2")
    others = (
        (b"other", b"front", b"1", b"2"),
        (b"secret", b"home", b"1", b"2"),
        (b"secret", b"front", b"3", b"2"),
        (b"secret", b"front", b"1", b"3"),
    )
    assert len({proof(*words) for words in (given, given, *others)}) == 5


def test_the_delay_beyond_the_shortest_way_counts() -> None:
    delay = PipeDelay()
    ways = ((0, 3), (1, 2), (2, 7), (3, 2))
    assert [delay.of(sent, sent + 1000 + took) for sent, took in ways] == [0, 0, 5, 0]


def test_clocks_that_drift_do_not_count_for_long() -> None:
    delay = PipeDelay()
    found = [delay.of(0, 5), delay.of(20, 26), delay.of(40, 46), delay.of(80, 86)]
    assert found == [0, 1, 1, 0], "the shortest of the previous window counts"
