"""Kept inputs: the inputs of running matches as bytes, from which another node resumes them."""

import msgspec
import structlog
from msgspec import Struct

from botdrome.match.record import Setup
from botdrome.store.store import MatchEntry

log = structlog.get_logger()


class MatchHead(Struct, frozen=True):
    """What is needed to set the table again."""

    entry: MatchEntry
    setup: Setup
    resumes: bool = True
    """Whether the players can return to it at another node."""


class InputChunk(Struct, frozen=True, array_like=True, gc=False):
    """Some lines of the input log of a match, in order."""

    match: str
    first: int
    """The index of the first line."""
    lines: list[bytes]
    head: bytes = b""
    """The packed head of the match, with its first lines."""


class KeptMatch:
    """A match as its inputs in the store and in memory have it."""

    __slots__ = ("_lines", "head")

    def __init__(self) -> None:
        self.head: bytes = b""
        self._lines: dict[int, bytes] = {}

    def add(self, chunk: InputChunk) -> None:
        """Add a chunk, in the order of writing.

        Chunks may overlap, since inputs are written again.
        """
        self.head = chunk.head or self.head
        self._lines.update(enumerate(chunk.lines, chunk.first))

    @property
    def lines(self) -> list[bytes]:
        """All lines up to the first gap."""
        end = next(
            (index for index in range(len(self._lines)) if index not in self._lines),
            len(self._lines),
        )
        return [self._lines[index] for index in range(end)]


pack_row = msgspec.msgpack.Encoder().encode
pack_head = msgspec.msgpack.Encoder().encode
unpack_row = msgspec.msgpack.Decoder(list[InputChunk]).decode
unpack_head = msgspec.msgpack.Decoder(MatchHead).decode


def chunks_in(row: bytes) -> list[InputChunk]:
    """Return the chunks of a row; none if the row cannot be read."""
    try:
        return unpack_row(row)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        log.warning("a row of inputs cannot be read", bytes=len(row), problem=str(problem))
        return []
