"""Tunnels: connections that bots behind a firewall keep open with `botdrome connect`, and that
carry calls to them.
"""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from time import time
from typing import Protocol
from urllib.parse import quote, unquote

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, too_late
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import GOING, Connection
from botdrome.server.session import Session
from botdrome.server.settings import Settings
from botdrome.store.entries import Epoch
from botdrome.wire.conversation import Command
from botdrome.wire.tunnel import CallId, TakeAnswer, TunnelCall, TunnelConversation, UnknownCall

SCHEME = "connect:"
TAKEN_OVER = 4001


def tunnel_url(name: str) -> str:
    """The URL of a bot that has a tunnel."""
    return SCHEME + quote(name, safe="")


class TunnelHost:
    """The calls to one bot. The host of its session."""

    protocol = "botdrome connect"
    session: Session

    def __init__(self, tunnels: "Tunnels", arrived: Callable[[str], None]) -> None:
        self._tunnels, self._arrived = tunnels, arrived
        self.opened: Epoch = int(time() * 1000)
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._calls: dict[CallId, asyncio.Future[BotAnswer]] = {}

    def act(self, session: Session, command: Command) -> None:
        if not isinstance(command, TakeAnswer):
            session.release = self._leave
            self._tunnels.join(session.name, self)
            return self._arrived(session.name)
        failed = command.failed[:200]
        outcome = (
            CallFailed(failed)
            if failed
            else BotAnswer(command.status, command.body.encode(errors="replace"))
        )
        return None if self._settle(command.call, outcome) else session.answer(UnknownCall())

    def _leave(self) -> None:
        self._tunnels.leave(self.session.name, self)
        for call in tuple(self._calls):
            self._settle(call, CallFailed(f"the connection of {self.session.name} broke off"))

    async def post(
        self, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        if len(self._calls) >= self._tunnels.most_calls:
            raise CallFailed(f"too many calls wait for {self.session.name}")
        call = next(self._numbers)
        waiter: asyncio.Future[BotAnswer] = self._loop.create_future()
        self._calls[call] = waiter
        timer = self._loop.call_later(limit_seconds, self._settle, call, too_late(limit_seconds))
        self.session.answer(TunnelCall(call, limit_seconds, headers, body.decode(errors="replace")))
        try:
            answer = await waiter
            answer.network = self.session.connection.network_time()
            return answer
        finally:
            timer.cancel()
            self._calls.pop(call, None)

    def _settle(self, call: CallId, outcome: BotAnswer | CallFailed) -> bool:
        """False: there is no such call."""
        waiter = self._calls.pop(call, None)
        if waiter is None or waiter.done():
            return False
        if isinstance(outcome, BotAnswer):
            waiter.set_result(outcome)
        else:
            waiter.set_exception(outcome)
        return True


class TunnelsElsewhere(Protocol):
    """The tunnels of other nodes."""

    def __contains__(self, name: str) -> bool: ...

    def opened(self, name: str, at: Epoch) -> Epoch:
        """Tell them that there is a tunnel here.

        Return the time that they are told: later than that of one elsewhere.
        """

    def closed(self, name: str) -> None: ...

    async def post(
        self, name: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer: ...


class Tunnels:
    """The open tunnels, by the names of their bots."""

    def __init__(self, settings: Settings) -> None:
        self.most_calls = settings.calls.per_port
        self.shared: TunnelsElsewhere | None = None
        """None: this server is alone."""
        self._by_name: dict[str, TunnelHost] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name or (self.shared is not None and name in self.shared)

    @property
    def opened(self) -> dict[str, Epoch]:
        """The tunnels to this node, and when they were opened."""
        return {name: tunnel.opened for name, tunnel in self._by_name.items()}

    def receive(
        self, connection: Connection, desk: Desk, arrived: Callable[[str], None]
    ) -> Session:
        """`arrived` is told the name of a bot that can be called."""
        limits, message, tunnel = (
            desk.settings.limits,
            desk.settings.message,
            TunnelHost(self, arrived),
        )
        now = asyncio.get_running_loop().time()
        conversation = TunnelConversation(
            limits.login, message.rate, message.burst, message.longest, now
        )
        tunnel.session = Session(connection, conversation, tunnel, desk)
        return tunnel.session

    def join(self, name: str, tunnel: TunnelHost) -> None:
        """A new tunnel replaces the one before, which is closed."""
        self.replace(name)
        self._by_name[name] = tunnel
        if self.shared is not None:
            tunnel.opened = self.shared.opened(name, tunnel.opened)

    def replace(self, name: str) -> None:
        """There is a newer tunnel for this name."""
        before = self._by_name.pop(name, None)
        if before is not None:
            before.session.turn_away(
                {"error": "another connection carries the calls now"}, TAKEN_OVER
            )

    def leave(self, name: str, tunnel: TunnelHost) -> None:
        if self._by_name.get(name) is tunnel:
            del self._by_name[name]
            if self.shared is not None:
                self.shared.closed(name)

    async def post(
        self, url: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        name = unquote(url.removeprefix(SCHEME))
        if self.shared is not None and name in self.shared and name not in self._by_name:
            return await self.shared.post(name, body, limit_seconds, headers)
        return await self.post_here(name, body, limit_seconds, headers)

    async def post_here(
        self, name: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        tunnel = self._by_name.get(name)
        if tunnel is None:
            raise CallFailed(f"{name[:100]} is not connected")
        return await tunnel.post(body, limit_seconds, headers)

    def close(self) -> None:
        for tunnel in tuple(self._by_name.values()):
            tunnel.session.turn_away({"error": "the server is stopping"}, GOING)
