"""A link to another node: numbered batches of messages, so that no loss goes unnoticed.

Both ends of a link have the same generation. An end that notices a loss raises it, counts its
batches from 1 again, and greets the other end with the new generation; that end follows. Each end
reports a loss whenever its generation rises, and drops batches of earlier generations. A batch has
the next number of its direction. A greeting has the number of the last batch, so a loss of that one
is noticed too. Ends greet each other every second. Messages wait until something was heard from the
other end; if that takes long, they are lost.
"""

import struct
from collections.abc import Sequence

import msgspec

VERSION = 1
"""Of these batches. The first byte of each batch has it."""
GREETING, LAST, MORE = range(3)
"""Kinds of frames: no messages, the last frame of a batch, or an earlier one.

Few batches are too large for one frame.
"""
HEAD = struct.Struct("!BBIQ")
"""Version, kind, generation, number."""
SILENCE = 3.0
"""Seconds without a word from the other end after which the link is lost."""
MOST = 16 << 20
"""Bytes that may wait for the other end."""

Messages = Sequence[tuple[str, bytes]]
"""Topics and payloads."""
_decoder = msgspec.msgpack.Decoder(list[tuple[str, bytes]])
_encoder = msgspec.msgpack.Encoder()


class OtherVersion(Exception):
    """The other node speaks another version of this protocol. The text is that version."""


class NodeLink:
    """One end of a link. Time is passed in, in seconds."""

    def __init__(self, now: float) -> None:
        self.generation = 1
        self.up = False
        """Whether something was heard from the other end."""
        self.greets = True
        """Whether a greeting is due."""
        self._heard = now
        self._begin(1)

    def _begin(self, generation: int) -> None:
        self.generation = generation
        self._sent = self._received = self._waiting_bytes = self._partial_bytes = 0
        self._waiting: list[tuple[str, bytes]] = []
        self._partial: list[bytes] = []

    @property
    def overfull(self) -> bool:
        return self._waiting_bytes > MOST

    def add(self, topic: str, payload: bytes) -> None:
        self._waiting.append((topic, payload))
        self._waiting_bytes += len(payload) + 64

    def take(self, largest: int) -> list[bytes]:
        """Return the frames to send now, of at most so many bytes."""
        frames = []
        if self.greets:
            self.greets = False
            frames.append(HEAD.pack(VERSION, GREETING, self.generation, self._sent))
        if self._waiting and self.up:
            body, room = _encoder.encode(self._waiting), largest - HEAD.size
            self._waiting, self._waiting_bytes = [], 0
            for start in range(0, len(body), room):
                self._sent += 1
                kind = MORE if start + room < len(body) else LAST
                frames.append(
                    HEAD.pack(VERSION, kind, self.generation, self._sent)
                    + body[start : start + room]
                )
        return frames

    def receive(self, frame: bytes, now: float) -> tuple[str, Messages]:
        """Return the reason of a loss, or an empty string; and the messages that were received
        after it.
        """
        if frame[:1] != bytes([VERSION]):
            raise OtherVersion(str(frame[0]) if frame else "none")
        if len(frame) < HEAD.size:
            return self.lose(f"a frame of {len(frame)} bytes"), ()
        _, kind, generation, number = HEAD.unpack_from(frame)
        if generation < self.generation:
            self.greets = True
            return "", ()
        self._heard, lost = now, ""
        if generation > self.generation:
            lost, self.greets = (
                "the other node has lost messages",
                True,
            )  # it may wait for an answer
            self._begin(generation)
        if not self.up:
            self.up = self.greets = True
        if kind != GREETING:
            self._received += 1
        if number != self._received:
            return self.lose(f"batch {number} came instead of batch {self._received}"), ()
        if kind == LAST and not self._partial:
            return self._opened(lost, frame[HEAD.size :])
        return (lost, ()) if kind == GREETING else self._collect(lost, kind, frame[HEAD.size :])

    def _collect(self, lost: str, kind: int, part: bytes) -> tuple[str, Messages]:
        self._partial.append(part)
        self._partial_bytes += len(part)
        if self._partial_bytes > 2 * MOST:
            return self.lose(f"a batch of more than {2 * MOST} bytes"), ()
        if kind == MORE:
            return lost, ()
        body = b"".join(self._partial)
        self._partial, self._partial_bytes = [], 0
        return self._opened(lost, body)

    def _opened(self, lost: str, body: bytes) -> tuple[str, Messages]:
        try:
            return lost, _decoder.decode(body)
        except msgspec.DecodeError as error:
            return self.lose(f"a batch with a mistake: {error}"), ()

    def lose(self, reason: str) -> str:
        """Start the next generation, and return the reason."""
        self._begin(self.generation + 1)
        self.greets = True
        return reason

    def disconnect(self, reason: str, now: float) -> str:
        """Lose the link because nothing comes through, and let messages wait until something is
        heard.
        """
        self.up, self._heard = False, now
        return self.lose(reason)

    def tick(self, now: float) -> str:
        """Greet.

        If nothing was heard for long and a message was sent, received or waits, return the reason
        of the loss.
        """
        self.greets = True
        silence = now - self._heard
        if silence < SILENCE:
            return ""
        used = bool(self._sent or self._received or self._waiting)
        self.up, self._heard = False, now
        return self.lose(f"nothing was heard for {silence:.1f} s") if used else ""
