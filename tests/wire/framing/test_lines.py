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
