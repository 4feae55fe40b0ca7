"""Routing: which node answers an HTTP request, by its target."""

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from botdrome.server.nodes.cluster import rooms_of
from botdrome.server.nodes.node import Key


class Routing:
    def __init__(self, targets: Iterable[tuple[str, str]]) -> None:
        """`targets` are beginnings of targets, with the game in whose rooms they are answered."""
        self._games = [(target.encode(), rooms_of(game)) for target, game in targets]
        self._routed = tuple(target for target, _ in self._games)

    def key_of(self, target: bytes) -> Key | None:
        """Return what a request needs; None: any node answers it."""
        path = _path(target)
        if not path.startswith(self._routed):
            return None
        return next(key for beginning, key in self._games if path.startswith(beginning))


def _path(target: bytes) -> bytes:
    """Return the path as the application reads it; the query may follow."""
    return unquote_to_bytes(target) if b"%" in target else target
