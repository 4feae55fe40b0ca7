"""A spectator of a match that runs, on a connection whose writes never wait: a fraction of what the HTTP stack costs."""

from collections.abc import Callable
from urllib.parse import unquote

import msgspec

from botdrome.api.gallery import Gallery
from botdrome.api.live import glance
from botdrome.server.arena import Arena
from botdrome.server.network.connection import Connection

NOTHING_TO_SEE = 4404
PREFIX = "/watch/"


class LiveSpectator:
    """Both ends of the thread: the match shows, and the connection is told. Who does not read is cut off by the connection."""

    def __init__(self, arena: Arena, match_id: str, connection: Connection) -> None:
        self._arena, self._match_id, self._connection = arena, match_id, connection
        if not arena.tables.watch(match_id, self):
            connection.send([msgspec.json.encode({"error": f"match {match_id} runs no longer; come again"})])
            connection.close(NOTHING_TO_SEE, "nothing to see")

    # As a spectator.

    def show(self, message: bytes) -> None:
        self._connection.send([message])

    def end(self) -> None:
        self._connection.close()

    # As a session.

    def received(self, message: bytes) -> None:
        """Nothing that a spectator says is heard."""

    def lost(self) -> None:
        self._arena.tables.unwatch(self._match_id, self)


def live_spectator(arena: Arena, target: str) -> Callable[[Connection], LiveSpectator | Gallery] | None:
    """For the target of a request for a WebSocket; None unless it is a match that runs, or many: all else is the HTTP stack's."""
    path, _, _ = target.partition("?")
    if path == PREFIX:
        return lambda connection: Gallery(arena, connection)
    match_id = unquote(path.removeprefix(PREFIX))
    if not path.startswith(PREFIX) or glance(arena.tables, match_id) is None:
        return None
    return lambda connection: LiveSpectator(arena, match_id, connection)
