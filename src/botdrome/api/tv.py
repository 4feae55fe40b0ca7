"""Many running matches over one WebSocket, at a pace for small boards, as the TV page shows them.

The client sends the list of matches that it shows, and again whenever the list changes. The server
sends the messages of the spectator streams, but at most one message a match in 0.2 s, the newest:
bots may play hundreds of steps a second.
"""

import asyncio

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE, bounded
from botdrome.server.arena import Arena
from botdrome.server.network.connection import MALFORMED, POLICY, Connection
from botdrome.server.network.rate_limit import Bucket

MOST_MATCHES = 100
PACE = 0.2
"""Seconds between two messages about the same match."""
LISTS_RATE, LISTS_BURST = 5.0, 50
BEGAN = b'"event":{"event":"began"'
"""The beginning of the message that names the seats of a board; later messages do not."""
HEAD = 200
"""Bytes of a message that contain the beginning of its event."""


class WatchRequest(Struct, forbid_unknown_fields=True):
    """A message of the client: the matches that it shows from now on."""

    watch: list[str]


class TvMatch:
    """One match: a spectator that keeps the newest message, and the one that names the seats."""

    def __init__(self, session: "TvSession", match_id: str) -> None:
        self._session, self.match_id = session, match_id
        self._start: bytes | None = None
        self._newest: bytes | None = None
        self._over = False

    def show(self, message: bytes) -> None:
        if BEGAN in message[:HEAD]:
            self._start, self._newest = message, None
        else:
            self._newest = message
        self._session.changed(self)

    def end(self) -> None:
        self._over = True
        self._session.changed(self)

    def taken(self) -> list[bytes]:
        """The messages to send now."""
        kept = [message for message in (self._start, self._newest) if message is not None]
        self._start = self._newest = None
        return (
            [*kept, msgspec.json.encode({"match": self.match_id, "end": True})]
            if self._over
            else kept
        )


class TvSession:
    """One client."""

    def __init__(self, arena: Arena, connection: Connection, pace: float = PACE) -> None:
        self._tables, self._connection, self._pace = arena.tables, connection, pace
        self._matches: dict[str, TvMatch] = {}
        self._changed: dict[TvMatch, None] = {}
        self._bucket = Bucket(LISTS_RATE, LISTS_BURST)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def received(self, message: bytes) -> None:
        if not self._bucket.take():
            return self._refuse(POLICY, "too many messages")
        try:
            wanted = msgspec.json.decode(bounded(message), type=WatchRequest).watch
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
        for match_id in self._matches.keys() - wanted.keys():
            match = self._matches.pop(match_id)
            self._changed.pop(match, None)
            self._tables.unwatch(match_id, match)
        for match_id in wanted:
            if match_id not in self._matches:
                match = self._matches[match_id] = TvMatch(self, match_id)
                if not self._tables.watch(match_id, match):
                    match.end()

    def _refuse(self, code: int, words: str) -> None:
        self._connection.send([msgspec.json.encode({"error": words})])
        self._connection.close(code, words.partition(":")[0])

    def changed(self, match: TvMatch) -> None:
        self._changed[match] = None
        if self._timer is None:
            self._timer = self._loop.call_later(0, self._send)

    def _send(self) -> None:
        changed, self._changed = self._changed, {}
        self._timer = self._loop.call_later(self._pace, self._send) if changed else None
        messages = [message for match in changed for message in match.taken()]
        if messages:
            self._connection.send(messages)
