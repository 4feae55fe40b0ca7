"""Connection: what a session can do to the client at the other end, whatever carries it."""

from typing import Protocol

from botdrome.server.network.traffic import Traffic
from botdrome.wire.framing.websocket import GOING, INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER

__all__ = ("GOING", "INTERNAL", "MALFORMED", "NORMAL", "POLICY", "TRY_LATER", "Connection", "Session")
"""Why a connection is closed is said by the codes of WebSockets; others have no room for them."""


class Connection(Protocol):
    """Nothing here waits or raises. A client that does not read is cut off when too much is unsent."""

    @property
    def address(self) -> str:
        """Where the client comes from."""

    @property
    def traffic(self) -> Traffic: ...

    def send(self, messages: list[bytes]) -> None: ...

    def close(self, code: int = NORMAL, reason: str = "") -> None: ...


class Session(Protocol):
    """One client's conversation."""

    def received(self, message: bytes) -> None: ...

    def lost(self) -> None:
        """The client is gone."""
