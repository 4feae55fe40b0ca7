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
from botdrome.server.network.connection import GOING
from botdrome.server.settings import Settings
from botdrome.store.entries import Epoch
from botdrome.wire.tunnel import CallId, TunnelCall

SCHEME = "connect:"
TAKEN_OVER = 4001


def tunnel_url(name: str) -> str:
    """The URL of a bot that has a tunnel."""
    return SCHEME + quote(name, safe="")


class BotTunnel:
    """The calls to one bot."""

    def __init__(
        self,
        name: str,
        most_calls: int,
        tell: Callable[[TunnelCall], None],
        network_time: Callable[[], float],
        close: Callable[[str, int], None],
    ) -> None:
        """`tell` sends a call to the bot. `close` gets the reason, and the code."""
        self.name, self._most_calls = name, most_calls
        self._tell, self._network_time, self.close = tell, network_time, close
        self.opened: Epoch = int(time() * 1000)
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._calls: dict[CallId, asyncio.Future[BotAnswer]] = {}

    async def post(
        self, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        if len(self._calls) >= self._most_calls:
            raise CallFailed(f"too many calls wait for {self.name}")
        call = next(self._numbers)
        waiter: asyncio.Future[BotAnswer] = self._loop.create_future()
        self._calls[call] = waiter
        timer = self._loop.call_later(limit_seconds, self.settle, call, too_late(limit_seconds))
        self._tell(TunnelCall(call, limit_seconds, headers, body.decode(errors="replace")))
        try:
            answer = await waiter
            answer.network = self._network_time()
            return answer
        finally:
            timer.cancel()
            self._calls.pop(call, None)

    def settle(self, call: CallId, outcome: BotAnswer | CallFailed) -> bool:
        """False: there is no such call."""
        waiter = self._calls.pop(call, None)
        if waiter is None or waiter.done():
            return False
        if isinstance(outcome, BotAnswer):
            waiter.set_result(outcome)
        else:
            waiter.set_exception(outcome)
        return True

    def lose(self) -> None:
        """The connection is lost."""
        for call in tuple(self._calls):
            self.settle(call, CallFailed(f"the connection of {self.name} broke off"))


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
        self._by_name: dict[str, BotTunnel] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name or (self.shared is not None and name in self.shared)

    @property
    def opened(self) -> dict[str, Epoch]:
        """The tunnels to this node, and when they were opened."""
        return {name: tunnel.opened for name, tunnel in self._by_name.items()}

    def join(self, tunnel: BotTunnel) -> None:
        """A new tunnel replaces the one before, which is closed."""
        self.replace(tunnel.name)
        self._by_name[tunnel.name] = tunnel
        if self.shared is not None:
            tunnel.opened = self.shared.opened(tunnel.name, tunnel.opened)

    def replace(self, name: str) -> None:
        """There is a newer tunnel for this name."""
        before = self._by_name.pop(name, None)
        if before is not None:
            before.close("another connection carries the calls now", TAKEN_OVER)

    def leave(self, tunnel: BotTunnel) -> None:
        if self._by_name.get(tunnel.name) is tunnel:
            del self._by_name[tunnel.name]
            if self.shared is not None:
                self.shared.closed(tunnel.name)

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
            tunnel.close("the server is stopping", GOING)
