"""Routing: which node answers an HTTP request, by its target."""

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from botdrome.server.nodes.cluster import OFFICE, rooms_of
from botdrome.server.nodes.node import Key

EVERYWHERE = (
    b"/api/v1/contest-documents", b"/api/v1/contest-meetings", b"/api/v1/crosstables", b"/api/v1/docs", b"/api/v1/duel/boards",
    b"/api/v1/films", b"/api/v1/games", b"/api/v1/matches", b"/api/v1/nodes", b"/api/v1/openapi.json", b"/api/v1/opponents",
    b"/api/v1/profiles", b"/api/v1/ratings", b"/api/v1/search", b"/api/v1/standings",
)  # fmt: skip
"""Beginnings of targets under those of the office that every node answers, from the store or with the help of others."""
OF_OFFICE = (b"/api/v1/", b"/connect", b"/graphql")
"""Beginnings of targets that one node answers for all games."""


class Routing:
    def __init__(self, targets: Iterable[tuple[str, str]]) -> None:
        """`targets` are beginnings of targets, with the game in whose rooms they are answered."""
        self._games = [(target.encode(), rooms_of(game)) for target, game in targets]
        self._routed = (*OF_OFFICE, *(target for target, _ in self._games))

    def key_of(self, target: bytes) -> Key | None:
        """Return what a request needs; None: any node answers it."""
        path = _path(target)
        if not path.startswith(self._routed):
            return None
        for beginning, key in self._games:
            if path.startswith(beginning):
                return key
        return None if path.startswith(EVERYWHERE) else OFFICE


def _path(target: bytes) -> bytes:
    """Return the path as the application reads it; the query may follow."""
    if target[:1] != b"/":  # http://host/path, the form sent to proxies
        target = b"/" + b"/".join(target.split(b"/")[3:])
    return unquote_to_bytes(target) if b"%" in target else target
