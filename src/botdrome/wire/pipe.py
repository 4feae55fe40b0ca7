"""Pipes: the bytes of one client between two nodes, over a TCP connection of their own.

The front has the client's socket, and opens the pipe. Each of the two nodes sends a random number,
and proves by it that it knows the secret of the cluster, which is never sent. Frames follow, both
ways. The end of the connection without `END` means that the client is lost, or its session.
"""

import struct
from collections.abc import Sequence
from hmac import digest
from math import inf

from botdrome.wire.framing.streams import BadFrame

VERSION = 1
"""The first byte that each node sends."""
NONCE = PROOF = 32
"""Bytes of a random number and of a proof."""
HELLO = 1 + NONCE
"""Bytes that the front sends first. The other node answers as many, and its proof."""
FRAME = struct.Struct("!BI")
"""The kind of a frame, and the bytes that follow."""
LONGEST = 16 << 20
"""Bytes of a frame."""
PIECE = 256 << 10
"""Bytes of data in one frame."""
SECONDS = struct.Struct("!d")

# From the front: a header opens the pipe. DATA begins with the time of its arrival by the front's
# clock. HELD is the last frame after HOLD.
OPEN, DATA, NETWORK, EOF, STOPS, HELD = range(6)
# To the front, beside DATA and EOF. GIVE_BACK is a header: the client goes elsewhere.
END, HOLD, GIVE_BACK = range(6, 9)


def proof(secret: bytes, role: bytes, front: bytes, home: bytes) -> bytes:
    """Return what proves that a node (b"front" or b"home") knows the secret."""
    return digest(secret, role + front + home, "sha256")


def frame(kind: int, body: bytes = b"") -> bytes:
    return FRAME.pack(kind, len(body)) + body


def data_frames(data: bytes) -> bytes:
    """Return data for the front as frames."""
    if len(data) <= PIECE:
        return frame(DATA, data)
    return b"".join([frame(DATA, data[at : at + PIECE]) for at in range(0, len(data), PIECE)])


class PipeReader:
    """Cuts what the other node sends into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Return the kinds and bodies of the frames that are complete. Raise BadFrame."""
        data = self._rest + data if self._rest else data
        frames, start, size = list[tuple[int, bytes]](), 0, len(data)
        while size - start >= FRAME.size:
            kind, length = FRAME.unpack_from(data, start)
            if kind > GIVE_BACK or length > LONGEST:
                raise BadFrame(f"a frame of kind {kind} with {length} bytes")
            end = start + FRAME.size + length
            if end > size:
                break
            frames.append((kind, data[start + FRAME.size : end]))
            start = end
        self._rest = data[start:]
        return frames


WINDOW = 30.0
"""Seconds. The shortest way of a frame in this and in the previous window counts as no delay."""


class PipeDelay:
    """How long frames from another node take beyond the shortest time.

    The clocks of two nodes differ, and drift.
    """

    def __init__(self) -> None:
        self._least = self._next = inf
        self._turn = 0.0

    def of(self, sent: float, now: float) -> float:
        if now >= self._turn:
            self._least, self._next, self._turn = self._next, inf, now + WINDOW
        took = now - sent
        if took < self._next:
            self._next = took
            self._least = min(self._least, took)
        return took - self._least
