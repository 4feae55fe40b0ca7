"""HostConsole: executes the commands of a boat room's host, connected over a WebSocket."""

import asyncio
import hmac
from functools import partial
from typing import Any

from botdrome.server import metrics
from botdrome.server.boats.orders import BadOrder, carry_out, shown
from botdrome.server.boats.room import BoatRoom
from botdrome.server.boats.rooms import BoatRooms
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.failures import log_failure
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.network.connection import Connection
from botdrome.server.operator.keys import OPERATOR, NotOperator
from botdrome.server.protocol import ServerParts
from botdrome.server.session import Session
from botdrome.wire.boats.host import EnterAsHost, GiveOrder, HostConversation, HostTold, RoomChanged
from botdrome.wire.conversation import Admitted, Command, LoginRefused


class HostConsole:
    """The console of one host."""

    protocol = "boats host"
    _room: BoatRoom

    def __init__(self, server: ServerParts, rooms: BoatRooms) -> None:
        self._desk, self._keys, self._rooms = server.desk, server.keys, rooms

    def act(self, session: Session, command: Command) -> None:
        if isinstance(command, EnterAsHost):
            self._desk.tasks.start(self._log_in(session, command))
        elif isinstance(command, GiveOrder):
            session.answer(HostTold(executed(command.order, self._room)))

    async def _log_in(self, session: Session, command: EnterAsHost) -> None:
        try:
            await self._check(command.token)
        except (TooMany, NotOperator) as problem:
            return session.answer(LoginRefused(str(problem)))
        except Exception:
            log_failure("the token of a host could not be looked up")
            return session.answer(LoginRefused("the token cannot be looked up"))
        room = self._rooms.called(command.room) if isinstance(command.room, str) else None
        if room is None:
            return session.answer(
                LoginRefused(
                    f"there is no room of that title; there is {', '.join(self._rooms.titles)}"
                )
            )
        return None if session.closed else self._enter(session, room)

    async def _check(self, token: Any) -> None:
        """Accept the `host_token` or the operator's token, or raise TooMany or NotOperator."""
        given, known = (
            token if isinstance(token, str) else "",
            self._desk.settings.of(BoatsSection).host_token,
        )
        self._desk.registry.guesses.check(OPERATOR)
        if known and hmac.compare_digest(given.encode(), known.encode()):
            return
        try:
            await self._keys.check(given)
        except NotOperator:
            metrics.REFUSED.labels("host").inc()
            raise NotOperator("that is not the token of this server") from None

    def _enter(self, session: Session, room: BoatRoom) -> None:
        self._room, changed = room, partial(session.answer, RoomChanged())
        room.on_change.add(changed)
        session.release = partial(room.on_change.discard, changed)
        session.answer(Admitted(room.plan.title))


def executed(order: dict[str, Any] | None, room: BoatRoom) -> dict[str, Any]:
    """Execute an order and return the answer. None: return the room after a change."""
    if order is None or order.get("do") == "show":
        return {"room": shown(room)} | ({} if order is None else {"asked": True})
    try:
        return {"done": carry_out(order, room)}
    except BadOrder as problem:
        return {"error": str(problem)}


def connect_host(server: ServerParts, rooms: BoatRooms, connection: Connection) -> Session:
    settings, now = server.settings, asyncio.get_running_loop().time()
    conversation = HostConversation(settings.limits.login, settings.message.burst, now)
    return Session(connection, conversation, HostConsole(server, rooms), server.desk)
