"""Lines: messages that end with a line feed, the same however the stream is cut; those that are too
long come in pieces.
"""

from itertools import pairwise

import pytest

from botdrome.games.chance import Chance
from botdrome.wire.framing.streams import Lines

LONGEST = 8


def pieces_of(stream: bytes) -> list[bytes]:
    """Line by line, and without a thought for how it came."""
    *lines, _ = stream.split(b"\n")
    return [
        line[at : at + LONGEST] for line in lines for at in range(0, max(1, len(line)), LONGEST)
    ]


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(300))
def test_a_stream_in_pieces_of_any_size_gives_the_same_lines(seed: int) -> None:
    chance = Chance(seed)
    longest = chance.choice((2, LONGEST, 3 * LONGEST))
    stream = b"".join(
        [bytes([65 + chance.below(20)]) * chance.below(longest + 1) + b"\n" for _ in range(12)]
    )
    ends = sorted({0, len(stream), *(chance.below(len(stream)) for _ in range(chance.below(30)))})
    lines, found = Lines(LONGEST), list[bytes]()
    for start, end in pairwise(ends):
        found += lines.feed(stream[start:end])
    assert (found, lines.rest) == (pieces_of(stream), b"")


def test_a_line_that_comes_alone_and_in_one_piece_is_read_at_once() -> None:
    lines = Lines(LONGEST)
    assert [lines.whole(data) for data in (b"\n", b"a\n", b"1234567\n")] == [b"", b"a", b"1234567"]
    for data in (b"", b"a", b"a\nb", b"a\nb\n", b"\n\n", b"12345678\n"):
        assert lines.whole(data) is None
    assert lines.feed(b"a") == []
    assert lines.whole(b"b\n") is None, "something came before"
    assert lines.feed(b"b\n") == [b"ab"]
