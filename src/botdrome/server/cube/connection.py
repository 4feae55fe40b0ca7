"""Organiser: somebody at the other end of a connection who starts games and watches them; and who looks after such callers."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from botdrome.server.network.traffic import Traffic

MUCH = 1 << 20
"""Bytes, roughly, that a caller may leave unread before whoever tells it much waits, or tells it less."""


class Caller(Protocol):
    """One organiser's connection, whatever carries it."""

    @property
    def sid(self) -> str:
        """Its name on the wire: what the client calls its `socket.id`."""

    @property
    def traffic(self) -> Traffic: ...

    @property
    def unread(self) -> int:
        """Bytes, roughly, that wait to be read."""

    def when_read(self, tell: Callable[[], None]) -> None:
        """Call this once, when no more than MUCH is unread. Not when the caller leaves before."""

    def emit(self, event: str, payload: Any) -> None:
        """Never waits, never raises; in the order of the calls. A caller that leaves far more than MUCH unread is cut off."""

    def emit_all(self, events: Sequence[tuple[str, Any]]) -> None:
        """The same for several at once, which costs less."""

    def disconnect(self) -> None:
        """What was emitted before still arrives."""


class Organiser(Protocol):
    """Is told who has come, what they say and that they have gone. None of these waits."""

    def connected(self, caller: Caller) -> None: ...

    def event(self, caller: Caller, name: str, args: list[Any]) -> None: ...

    def gone(self, caller: Caller) -> None: ...
