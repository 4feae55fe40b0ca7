"""Connection: what a session can do to its client, whatever the transport."""

from typing import Protocol

from botdrome.server.network.traffic import Traffic
from botdrome.wire.framing.websocket import GOING, INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER

__all__ = ("GOING", "INTERNAL", "MALFORMED", "NORMAL", "POLICY", "TRY_LATER", "Connection", "Receiver")
"""Connections close with the codes of WebSockets. Other transports have no room for a code."""


class Connection(Protocol):
    """Nothing here waits or raises. A client that reads too slowly is dropped."""

    @property
    def address(self) -> str:
        """The address of the client."""

    @property
    def traffic(self) -> Traffic: ...

    def send(self, messages: list[bytes]) -> None: ...

    def close(self, code: int = NORMAL, reason: str = "") -> None: ...


class Receiver(Protocol):
    """Gets the messages of one client."""

    def received(self, message: bytes) -> None: ...

    def lost(self) -> None:
        """The connection is gone."""
