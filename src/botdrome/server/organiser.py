"""Organiser: somebody at the other end of a connection who starts games and watches them; and who looks after such callers."""

from collections.abc import Sequence
from typing import Any, Protocol


class Caller(Protocol):
    """One organiser's connection, whatever carries it."""

    @property
    def sid(self) -> str:
        """Its name on the wire: what the client calls its `socket.id`."""

    def emit(self, event: str, payload: Any) -> None:
        """Never waits, never raises; in the order of the calls. Who does not read is cut off."""

    def emit_all(self, events: Sequence[tuple[str, Any]]) -> None:
        """The same for several at once, which costs less."""

    def disconnect(self) -> None:
        """What was emitted before still arrives."""


class Organiser(Protocol):
    """Is told who has come, what they say and that they have gone. None of these waits."""

    def connected(self, caller: Caller) -> None: ...

    def event(self, caller: Caller, name: str, args: list[Any]) -> None: ...

    def gone(self, caller: Caller) -> None: ...
