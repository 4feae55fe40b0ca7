"""Tunnels: connections that bots behind a firewall keep open with `botdrome connect`, and that carry calls to them."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE
from botdrome.server.calling.answer import BotAnswer, CallFailed, too_late
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import TOKEN_CHANGED, ConnectedClient, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.lobby.registry import Banned
from botdrome.server.network.connection import GOING, POLICY, Connection
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.settings import Settings

SCHEME = "connect:"
TAKEN_OVER = 4001
CallId = int


def tunnel_url(name: str) -> str:
    """The URL of a bot that has a tunnel."""
    return SCHEME + quote(name, safe="")


class TunnelLogin(Struct):
    name: str
    password: str


class TunnelAnswer(Struct):
    """The outcome of a call."""

    call: CallId
    status: int = 0
    body: str = ""
    failed: str = ""
    """Why there is no answer."""


LOGIN = msgspec.json.Decoder(TunnelLogin)
ANSWER = msgspec.json.Decoder(TunnelAnswer)


class TunnelSession:
    """The server's end of one tunnel: a login, then calls out and answers in."""

    def __init__(self, connection: Connection, desk: Desk, tunnels: "Tunnels", arrived: Callable[[str], None]) -> None:
        self._connection, self._desk, self._tunnels, self._arrived = connection, desk, tunnels, arrived
        settings = desk.settings
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(settings.limits.login, self._refuse, "no login came")
        self._strays = Bucket(settings.message.rate, settings.message.burst)
        """Limits answers to calls that do not exist."""
        self._name: str | None = None
        self._over = False
        self._log_out = no_login
        self._numbers = count(1)
        self._calls: dict[CallId, asyncio.Future[BotAnswer]] = {}

    # From the other end.

    def received(self, message: bytes) -> None:
        if self._over:
            return
        try:
            if self._name is None:
                self._log_in(LOGIN.decode(message))
            else:
                self._take(ANSWER.decode(message))
        except UNREADABLE as error:
            self._refuse(f"unreadable: {error}")

    def lost(self) -> None:
        self._end()

    def _log_in(self, login: TunnelLogin) -> None:
        self._name = ""
        self._timer.cancel()
        self._desk.tasks.start(self._authenticate(login))

    async def _authenticate(self, login: TunnelLogin) -> None:
        try:
            bot = await self._desk.registry.authenticate(login.name, login.password)
        except (TooMany, Banned) as problem:
            return self._refuse(str(problem))
        except Exception:
            log_failure("a bot could not be looked up")
            return self._refuse("the bot cannot be looked up")
        if self._over:
            return None
        if bot is None:
            return self._refuse("the name or the password is wrong")
        self._name = bot.name
        told = {"connected": bot.name, "gameType": bot.game, "longest": self._desk.settings.message.longest}
        self._connection.send([msgspec.json.encode(told)])
        address, traffic = self._connection.address, self._connection.traffic
        end = partial(self._refuse, TOKEN_CHANGED)
        client = ConnectedClient("botdrome connect", bot.name, bot.game, address, traffic, self._refuse, end=end)
        self._log_out = self._desk.registry.clients.enter(client)
        self._tunnels.join(bot.name, self)
        return self._arrived(bot.name)

    def _take(self, came: TunnelAnswer) -> None:
        failed = came.failed[:200]
        outcome = CallFailed(failed) if failed else BotAnswer(came.status, came.body.encode(errors="replace"))
        if not self._settle(came.call, outcome) and not self._strays.take():
            self._refuse("too many messages")

    # To the other end.

    async def post(self, body: bytes, limit_seconds: float, headers: Mapping[str, str]) -> BotAnswer:
        if len(self._calls) >= self._tunnels.most_calls:
            raise CallFailed(f"too many calls wait for {self._name}")
        call = next(self._numbers)
        waiter: asyncio.Future[BotAnswer] = self._loop.create_future()
        self._calls[call] = waiter
        timer = self._loop.call_later(limit_seconds, self._settle, call, too_late(limit_seconds))
        message: dict[str, Any] = {"call": call, "limit": limit_seconds, "headers": headers}
        message["body"] = body.decode(errors="replace")
        self._connection.send([msgspec.json.encode(message)])
        try:
            return await waiter
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

    def close(self, words: str, code: int) -> None:
        if not self._over:
            self._connection.send([msgspec.json.encode({"error": words})])
            self._end()
            self._connection.close(code, words)

    def _refuse(self, words: str) -> None:
        self.close(words, POLICY)

    def _end(self) -> None:
        self._over = True
        self._log_out()
        self._timer.cancel()
        if self._name:
            self._tunnels.leave(self._name, self)
            for call in tuple(self._calls):
                self._settle(call, CallFailed(f"the connection of {self._name} broke off"))


class Tunnels:
    """The open tunnels, by the names of their bots."""

    def __init__(self, settings: Settings) -> None:
        self.most_calls = settings.calls.per_port
        self._by_name: dict[str, TunnelSession] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def join(self, name: str, tunnel: TunnelSession) -> None:
        """A new tunnel replaces the one before, which is closed."""
        before = self._by_name.get(name)
        self._by_name[name] = tunnel
        if before is not None:
            before.close("another connection carries the calls now", TAKEN_OVER)

    def leave(self, name: str, tunnel: TunnelSession) -> None:
        if self._by_name.get(name) is tunnel:
            del self._by_name[name]

    async def post(self, url: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]) -> BotAnswer:
        name = unquote(url.removeprefix(SCHEME))
        tunnel = self._by_name.get(name)
        if tunnel is None:
            raise CallFailed(f"{name[:100]} is not connected")
        return await tunnel.post(body, limit_seconds, headers)

    def close(self) -> None:
        for tunnel in tuple(self._by_name.values()):
            tunnel.close("the server is stopping", GOING)
