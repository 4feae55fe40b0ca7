"""The connection to a client, independent of the transport."""

from typing import Protocol

from botdrome.server.network.traffic import Traffic
from botdrome.wire.framing.websocket import GOING, INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER

__all__ = ("GOING", "INTERNAL", "MALFORMED", "NORMAL", "POLICY", "TRY_LATER", "Connection", "Receiver")
"""WebSocket close codes. Other transports do not send them."""


class Connection(Protocol):
    """The connection to a client. No method waits or raises. A client that reads too slowly is dropped."""

    @property
    def address(self) -> str:
        """The address of the client."""

    @property
    def traffic(self) -> Traffic: ...

    def send(self, messages: list[bytes]) -> None: ...

    def close(self, code: int = NORMAL, reason: str = "") -> None: ...

    def network_time(self) -> float:
        """Return the seconds that a message and its answer are on the way; 0: unknown."""

    def delay(self) -> float:
        """Return the seconds since the last input arrived at this machine; 0: unknown."""


class Receiver(Protocol):
    """Receives the messages of one client."""

    def received(self, message: bytes) -> None: ...

    def lost(self) -> None:
        """Handle the loss of the connection."""
