"""Gallery: many running matches over one connection, at a pace for small boards.

The client says which matches it wants to see, and again whenever that changes. Of each it is sent the messages of the spectator
stream, but of those that come within a fifth of a second only the newest: matches between programs may play hundreds of
steps a second, and a page shows twenty of them.
"""

import asyncio

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE
from botdrome.server.arena import Arena
from botdrome.server.network.connection import MALFORMED, POLICY, Connection
from botdrome.server.network.rate_limit import Bucket

MOST_MATCHES = 100
PACE = 0.2
"""Seconds between two messages about the same match."""
WISHES_RATE, WISHES_BURST = 5.0, 50
BEGAN = b'"event":{"event":"began"'
"""How messages say who sits where; the next messages of that board do not."""
HEAD = 200
"""Bytes of a message in which its event begins."""


class Wish(Struct, forbid_unknown_fields=True):
    """What a client sends: the matches that it wants to see from now on, in place of those before."""

    watch: list[str]


class Picture:
    """One match in a gallery: a spectator that keeps just what a newcomer needs."""

    def __init__(self, gallery: "Gallery", match_id: str) -> None:
        self._gallery, self.match_id = gallery, match_id
        self._start: bytes | None = None
        self._newest: bytes | None = None
        self._over = False

    def show(self, message: bytes) -> None:
        if BEGAN in message[:HEAD]:
            self._start, self._newest = message, None
        else:
            self._newest = message
        self._gallery.changed(self)

    def end(self) -> None:
        self._over = True
        self._gallery.changed(self)

    def taken(self) -> list[bytes]:
        """What is to be sent now."""
        kept = [message for message in (self._start, self._newest) if message is not None]
        self._start = self._newest = None
        return [*kept, msgspec.json.encode({"match": self.match_id, "end": True})] if self._over else kept


class Gallery:
    """The session of one client."""

    def __init__(self, arena: Arena, connection: Connection, pace: float = PACE) -> None:
        self._tables, self._connection, self._pace = arena.tables, connection, pace
        self._pictures: dict[str, Picture] = {}
        self._changed: dict[Picture, None] = {}
        self._bucket = Bucket(WISHES_RATE, WISHES_BURST)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    # As a session.

    def received(self, message: bytes) -> None:
        if not self._bucket.take():
            return self._refuse(POLICY, "too many messages")
        try:
            wanted = msgspec.json.decode(message, type=Wish).watch
        except UNREADABLE as error:
            return self._refuse(MALFORMED, f'this should be {{"watch": ["MATCH", ...]}}: {error}')
        if len(wanted) > MOST_MATCHES:
            return self._refuse(POLICY, f"{MOST_MATCHES} matches are the most, not {len(wanted)}")
        return self._show(dict.fromkeys(wanted))

    def lost(self) -> None:
        self._show({})
        if self._timer is not None:
            self._timer.cancel()

    def _show(self, wanted: dict[str, None]) -> None:
        for match_id in self._pictures.keys() - wanted.keys():
            picture = self._pictures.pop(match_id)
            self._changed.pop(picture, None)
            self._tables.unwatch(match_id, picture)
        for match_id in wanted:
            if match_id not in self._pictures:
                picture = self._pictures[match_id] = Picture(self, match_id)
                if not self._tables.watch(match_id, picture):
                    picture.end()

    def _refuse(self, code: int, words: str) -> None:
        self._connection.send([msgspec.json.encode({"error": words})])
        self._connection.close(code, words.partition(":")[0])

    # What the pictures tell.

    def changed(self, picture: Picture) -> None:
        self._changed[picture] = None
        if self._timer is None:
            self._timer = self._loop.call_later(0, self._send)

    def _send(self) -> None:
        changed, self._changed = self._changed, {}
        self._timer = self._loop.call_later(self._pace, self._send) if changed else None
        messages = [message for picture in changed for message in picture.taken()]
        if messages:
            self._connection.send(messages)
