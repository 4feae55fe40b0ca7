"""The game that a line of Xterm Boat Sinker's offers."""

from msgspec import Struct

VERSION = b"1.2.0"
"""Of the protocol: clients want 1.1 at least."""


class Offer(Struct, frozen=True):
    """The game that can be joined, as its first line tells it."""

    title: bytes
    least: int
    most: int
    goal: int
    width: int
    height: int
    boats: tuple[str, ...]

    def info(self, started: bool, joined: int) -> bytes:
        boats = "|".join(self.boats).encode()
        counts = b"%d|%d|%d|%d|%d|%d|%d" % (
            self.least, self.most, joined, self.goal, self.width, self.height, len(self.boats),
        )  # fmt: skip
        return b"G|%b|%b|%b|%b|%b" % (VERSION, self.title, b"Y" if started else b"N", counts, boats)
