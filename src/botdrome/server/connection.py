"""Connection: what a session can do to the client at the other end, whatever carries it."""

from typing import Protocol


class Connection(Protocol):
    """Nothing here waits or raises. A client that does not read is cut off when too much is unsent."""

    def send(self, messages: list[bytes]) -> None: ...

    def close(self, code: int = 1000, reason: str = "") -> None: ...


class Session(Protocol):
    """One client's conversation."""

    def received(self, message: bytes) -> None: ...

    def lost(self) -> None:
        """The client is gone."""
