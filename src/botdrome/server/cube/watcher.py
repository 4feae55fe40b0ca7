"""Watcher: a client that gets the events of Battlecube games, on socket.io or as a run of the
operator.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from botdrome.server.network.connection import Traffic
from botdrome.wire.cube.writer import CubeEvent

MUCH_UNREAD = 1 << 20
"""Bytes, roughly.

A game pauses while its organiser has more than this to read; spectators miss ticks meanwhile.
"""


class Watcher(Protocol):
    @property
    def traffic(self) -> Traffic: ...

    @property
    def unread(self) -> int:
        """Bytes, roughly, that were not sent yet because the client reads too slowly."""

    def when_read(self, tell: Callable[[], None]) -> None:
        """Call `tell` once, when no more than MUCH_UNREAD is unread, unless the client leaves
        before.
        """

    def emit(self, events: Sequence[CubeEvent]) -> None:
        """Send events in order.

        Never waits, never raises. A client with far more than MUCH_UNREAD is dropped.
        """

    def disconnect(self) -> None:
        """Close the connection, after the events that were sent before."""
