"""HostSession: the host of a boat room, connected over a WebSocket with JSON messages."""

import asyncio
import hmac
from typing import Any

import msgspec

from botdrome.games.reading import UNREADABLE
from botdrome.server import metrics
from botdrome.server.boats.orders import BadOrder, carry_out, shown
from botdrome.server.boats.room import BoatRoom
from botdrome.server.boats.rooms import BoatRooms
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.failures import log_failure
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.network.connection import POLICY, Connection
from botdrome.server.operator.keys import OPERATOR, NotOperator, OperatorKeys
from botdrome.server.settings import Settings

REDRAW = 0.1
"""Seconds between two views of the room."""


class HostSession:
    """The first message is `{"token": ..., "room": TITLE}`, each later one an order. The room is shown after each change."""

    def __init__(self, connection: Connection, rooms: BoatRooms, settings: Settings, keys: OperatorKeys) -> None:
        self._connection, self._rooms, self._token = connection, rooms, settings.of(BoatsSection).host_token
        self._guesses, self._keys, self._tasks = rooms.guesses, keys, rooms.tasks
        self._held: list[bytes] | None = None
        """Messages that came during the login."""
        self._room: BoatRoom | None = None
        self._over = False
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = self._loop.call_later(settings.limits.login, self._refuse, "no token came")

    def received(self, message: bytes) -> None:
        if self._over:
            return None
        if self._held is not None:
            return self._held.append(message)
        try:
            value = msgspec.json.decode(message, type=dict[str, Any])
        except UNREADABLE:
            return self._misread()
        if self._room is None:
            self._held = []
            return self._tasks.start(self._log_in(value))
        if value.get("do") == "show":
            return self._answer({"room": shown(self._room), "asked": True})
        try:
            done = carry_out(value, self._room)
        except BadOrder as problem:
            return self._answer({"error": str(problem)})
        return self._answer({"done": done})

    def _misread(self) -> None:
        """Tell a host its mistake, but close the connection of a stranger."""
        words = "an order is a JSON object"
        return self._refuse(words) if self._room is None else self._answer({"error": words})

    async def _log_in(self, value: dict[str, Any]) -> None:
        try:
            await self._check(value.get("token"))
        except (TooMany, NotOperator) as problem:
            return self._refuse(str(problem))
        except Exception:
            log_failure("the token of a host could not be looked up")
            return self._refuse("the token cannot be looked up")
        if not self._over:
            self._enter(value.get("room") or "")
        held, self._held = self._held or [], None
        for message in held:
            self.received(message)
        return None

    async def _check(self, token: Any) -> None:
        """Accept the `host_token` or the operator's token, or raise TooMany or NotOperator."""
        given = token if isinstance(token, str) else ""
        self._guesses.check(OPERATOR)
        if self._token and hmac.compare_digest(given.encode(), self._token.encode()):
            return
        try:
            await self._keys.check(given)
        except NotOperator:
            metrics.REFUSED.labels("host").inc()
            raise NotOperator("that is not the token of this server") from None

    def _enter(self, title: Any) -> None:
        room = self._rooms.called(title) if isinstance(title, str) else None
        if room is None:
            return self._refuse(f"there is no room of that title; there is {', '.join(self._rooms.titles)}")
        self._stop_timer()
        self._room = room
        room.on_change.add(self._changed)
        return self._show()

    def _changed(self) -> None:
        """Show several changes together."""
        if self._timer is None:
            self._timer = self._loop.call_later(REDRAW, self._show)

    def _show(self) -> None:
        self._stop_timer()
        if self._room is not None:
            self._answer({"room": shown(self._room)})

    def _answer(self, answer: dict[str, Any]) -> None:
        if not self._over:
            self._connection.send([msgspec.json.encode(answer)])

    def _refuse(self, words: str) -> None:
        self._answer({"error": words})
        self.lost()
        self._connection.close(POLICY, words)

    def lost(self) -> None:
        self._over = True
        self._stop_timer()
        if self._room is not None:
            self._room.on_change.discard(self._changed)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
