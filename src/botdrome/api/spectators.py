"""Spectators of one match, on a WebSocket or as server-sent events.

A running match is shown from its present position on; a match that is over is replayed from its
record by a worker process. Messages that a spectator has not read yet wait in a bounded backlog. A
spectator that reads too slowly is disconnected.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from botdrome.api.requests import Problem, known_problem, no_match
from botdrome.api.rest.endpoint import error_response
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.server.arena import Arena, glance
from botdrome.server.failures import log_failure
from botdrome.server.network.connection import INTERNAL, MALFORMED, POLICY, TRY_LATER, Connection
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.limits import Bucket
from botdrome.server.network.websocket import PacedSocket, Socket
from botdrome.server.workers.jobs import JobFailed
from botdrome.server.workers.pool import Job
from botdrome.store.entries import BrokenMatch, StoreUnavailable

# Backlog: the messages that wait for one spectator, within limits.

BACKLOG_BYTES, BACKLOG_MESSAGES = 1 << 20, 256
TOO_SLOW = "too slow: more than 1 MiB or 256 messages were waiting"


class SpectatorTooSlow(Exception):
    """The spectator did not read what it was sent."""


class Backlog:
    """Messages that a spectator has not taken yet."""

    def __init__(self) -> None:
        self.cut = asyncio.Event()
        """Set when the spectator was too slow."""
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._over = False
        self._news = asyncio.Event()

    def show(self, message: bytes) -> None:
        if self.cut.is_set():
            return
        self._size += len(message)
        self._messages.append(message)
        if self._size > BACKLOG_BYTES or len(self._messages) > BACKLOG_MESSAGES:
            self._messages.clear()
            self.cut.set()
        self._news.set()

    def end(self) -> None:
        self._over = True
        self._news.set()

    async def begun(self) -> bool:
        """Wait for the first message. False: there is none, and the backlog can be used again."""
        while not self._messages and not self._over and not self.cut.is_set():
            self._news.clear()
            await self._news.wait()
        self._over = self._over and bool(self._messages)
        return bool(self._messages) or self.cut.is_set()

    async def take(self) -> bytes | None:
        """The next message; None when the match is over and all was taken."""
        while not self._messages:
            if self.cut.is_set():
                raise SpectatorTooSlow(TOO_SLOW)
            if self._over:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._messages.popleft()
        self._size -= len(message)
        return message


# Many running matches over one WebSocket, at a pace for small boards, as the TV page shows them.
#
# The client sends the list of matches that it shows, and again whenever the list changes. The
# server sends the messages of the spectator streams, but at most one message a match in 0.2 s, the
# newest: bots may play hundreds of steps a second.

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


PREFIX = "/watch/"
REPLAY = "botdrome.api.replays:replay_job"
LONGEST_MESSAGE = 64 << 10
"""Bytes of a message from a spectator."""
CHANGEOVER, UNTOLD, PAUSE = 5.0, 1.0, 0.1
"""Seconds within which a match that is over is stored, and other nodes know a new one; between two
looks for it; and at least.
"""
NOTHING_TO_SEE = 4404
HEARTBEAT = 15.0
"""Seconds of silence after which a stream of events shows that it is still there."""
LAST_EVENT = 2.0
"""Seconds for a spectator that is disconnected to read the reason."""
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

_messages = msgspec.msgpack.Decoder(list[bytes])


class Viewing:
    """One spectator of one match."""

    def __init__(self, arena: Arena, match_id: str) -> None:
        self._arena, self._match_id = arena, match_id
        self._backlog = Backlog()
        self._replay: Job | None = None
        self._live = False

    async def messages(self) -> AsyncGenerator[bytes, None]:
        """Yield JSON messages: a snapshot, then all events.

        Raise Problem if there is no such match, and SpectatorTooSlow if the spectator does not
        keep up.
        """
        try:
            await self._enter()
            if self._replay is None:
                while (shown := await self._backlog.take()) is not None:
                    yield shown
                return
            async with aclosing(self._replay.pieces()) as pieces:
                async for piece in pieces:
                    for message in _messages.decode(piece):
                        yield message
                        # a client that reads fast must not keep all others waiting
                        await asyncio.sleep(0)
        finally:
            if self._replay is not None:
                self._replay.drop()
            if self._live:
                self._arena.tables.unwatch(self._match_id, self._backlog)

    async def _enter(self) -> None:
        """Raise Problem if there is no such match."""
        if "\0" in self._match_id:
            raise no_match(self._match_id)
        try:
            found = await self._found() or await self._found_after_a_change()
        except (BrokenMatch, JobFailed, StoreUnavailable) as failed:
            raise known_problem(failed) or failed from None
        if not found:
            raise Problem(f"match {self._match_id} cannot be shown: it does not go on", 404)

    async def _found(self) -> bool:
        """False: the match is neither at a table nor stored, as between the two."""
        if await self._watches():
            return True
        replay = await self._arena.workers.read(self._arena.store, REPLAY, self._match_id)
        self._replay = (
            replay if replay.value else None
        )  # an answer without pieces need not be dropped
        return bool(replay.value) or await self._found_at_its_node()

    async def _found_at_its_node(self) -> bool:
        """Nodes tell each other only some of their matches; the store has the node of each."""
        entry = await self._arena.store.match(self._match_id)
        return entry is not None and entry.status == "running" and await self._watches(entry.node)

    async def _watches(self, node: str = "") -> bool:
        """Wait for the present position.

        Another node may have listed the match, and then it was over there.
        """
        self._live = self._arena.tables.watch(self._match_id, self._backlog, node)
        if self._live and not await self._backlog.begun():
            self._live = False
        return self._live

    async def _found_after_a_change(self) -> bool:
        """Look again whenever matches begin or end, here or at another node."""
        changed = asyncio.Event()
        forget = self._arena.tables.on_change(changed.set)
        try:
            async with asyncio.timeout(CHANGEOVER):
                while not await self._found():
                    await _wait_for_change(changed)
                return True
        except TimeoutError:
            return await self._found()
        finally:
            forget()

    async def attend(
        self,
        write: Callable[[bytes], Awaitable[None]],
        gone: Callable[[], Coroutine[Any, Any, None]],
    ) -> str:
        """Write every message until the match is over, the spectator is too slow, or `gone`
        returns. Return which of them it was, in words.
        """
        tasks = [
            asyncio.create_task(way)
            for way in (self._play(write), gone(), self._backlog.cut.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            played, *_ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(played, Exception) and not isinstance(played, JobFailed | SpectatorTooSlow):
            raise played
        if played is None:
            return "the match is over"
        return TOO_SLOW if self._backlog.cut.is_set() else ""

    async def _play(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        async with aclosing(self.messages()) as messages:
            async for message in messages:
                await write(message)


async def _wait_for_change(changed: asyncio.Event) -> None:
    """Nodes do not list all their matches, so some changes are not told."""
    with suppress(TimeoutError):
        async with asyncio.timeout(UNTOLD):
            await changed.wait()
    changed.clear()
    await asyncio.sleep(PAUSE)


# WebSockets: every message is a text frame; closed when the match is over.


def watch_socket(
    arena: Arena, target: str, rate_refusal: Callable[[str], bytes] | None = None
) -> SocketOptions:
    """The sessions of /watch/ (many matches) and /watch/MATCH.

    Only replays are work, and count as requests.
    """
    path, _, _ = target.partition("?")
    match_id = unquote(path.removeprefix(PREFIX))
    if not match_id:
        return SocketOptions(
            lambda connection: TvSession(arena, connection), LONGEST_MESSAGE, Socket, player=False
        )
    if glance(arena.tables, match_id) is not None:
        live = lambda connection: LiveSpectator(arena, match_id, connection)  # noqa: E731
        return SocketOptions(live, LONGEST_MESSAGE, Socket, player=False)
    replay = lambda connection: ReplaySpectator(Viewing(arena, match_id), connection)  # noqa: E731
    return SocketOptions(replay, LONGEST_MESSAGE, PacedSocket, player=False, refusal=rate_refusal)


class LiveSpectator:
    """A spectator of a running match. The connection drops it when it reads too slowly."""

    def __init__(self, arena: Arena, match_id: str, connection: Connection) -> None:
        self._arena, self._match_id, self._connection = arena, match_id, connection
        arena.tables.watch(match_id, self)

    def show(self, message: bytes) -> None:
        self._connection.send([message])

    def end(self) -> None:
        self._connection.close()

    def received(self, message: bytes) -> None:
        """Ignored."""

    def lost(self) -> None:
        self._arena.tables.unwatch(self._match_id, self)


class ReplaySpectator:
    """A spectator of a match that is not at a table: it is replayed as fast as the client reads."""

    def __init__(self, viewing: Viewing, connection: Connection) -> None:
        assert isinstance(connection, PacedSocket)
        self._viewing, self._connection = viewing, connection
        self._task = asyncio.create_task(self._show())

    def received(self, message: bytes) -> None:
        """Ignored."""

    def lost(self) -> None:
        self._task.cancel()

    async def _show(self) -> None:
        try:
            async with aclosing(self._viewing.messages()) as messages:
                async for message in messages:
                    self._connection.send([message])
                    await self._connection.drained()
            self._connection.close()
        except Problem as problem:
            self._connection.send([msgspec.json.encode({"error": problem.words})])
            self._connection.close(NOTHING_TO_SEE, "nothing to see")
        except SpectatorTooSlow:
            self._connection.close(POLICY, TOO_SLOW)
        except JobFailed as problem:
            self._connection.close(TRY_LATER, str(problem))
        except Exception:
            log_failure("a match could not be shown")
            self._connection.close(INTERNAL)


# Server-sent events.


class WatchEvents:
    """`/watch/{match}/events`: every message is an event's data; an event `end` says how the stream
    ended.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewing = Viewing(self._arena, scope["path_params"]["match"])
        stream = EventStream(receive, send)
        try:
            if scope["method"] == "HEAD":
                async with aclosing(viewing.messages()) as messages:
                    await anext(messages, b"")
                ending = "the match is over"
            else:
                ending = await viewing.attend(stream.data, stream.gone)
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_EVENT):
                    await stream.end(ending)
        except Problem as problem:
            if stream.begun:
                await stream.end(problem.words)
            else:
                await error_response(problem)(scope, receive, send)


class EventStream:
    """A response that goes on."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.begun = False

    async def data(self, message: bytes) -> None:
        await self._write(b"data: " + message + b"\n\n")

    async def end(self, why: str) -> None:
        message = b"event: end\ndata: " + msgspec.json.encode({"end": why}) + b"\n\n"
        await self._write(message, more_body=False)

    async def gone(self) -> None:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT):
                    message = await self._receive()
            except TimeoutError:
                if self.begun:  # until then the answer may be an error
                    await self._write(b": still here\n\n")
            else:
                if message["type"] == "http.disconnect":
                    return

    async def _write(self, body: bytes, more_body: bool = True) -> None:
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await self._send({"type": "http.response.body", "body": body, "more_body": more_body})
