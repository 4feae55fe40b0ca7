"""Connect: the server's end of `botdrome connect`, over which calls are carried to a bot that cannot be reached from outside."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE
from botdrome.server.calling.answer import Answer, CallFailed
from botdrome.server.calling.carriers import Call, Carriers
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.lobby.logins import TOKEN_CHANGED, no_login
from botdrome.server.lobby.registry import Banned
from botdrome.server.network.connection import POLICY, Connection
from botdrome.server.network.rate_limit import Bucket


class Login(Struct):
    name: str
    password: str


class Carried(Struct):
    """What came of a call."""

    call: Call
    status: int = 0
    body: str = ""
    failed: str = ""
    """Why there is no answer."""


LOGIN = msgspec.json.Decoder(Login)
CARRIED = msgspec.json.Decoder(Carried)


class ConnectSession:
    """A login, then calls out and answers in."""

    def __init__(self, connection: Connection, desk: Desk, carriers: Carriers, arrived: Callable[[str], None]) -> None:
        self._connection, self._desk, self._carriers, self._arrived = connection, desk, carriers, arrived
        settings = desk.settings
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(settings.login_limit, self._refuse, "no login came")
        self._strays = Bucket(settings.message_rate, settings.message_burst)
        """For answers that nobody waits for."""
        self._name: str | None = None
        self._over = False
        self._log_out = no_login

    # What the other end does.

    def received(self, message: bytes) -> None:
        if self._over:
            return
        try:
            if self._name is None:
                self._log_in(LOGIN.decode(message))
            else:
                self._take(CARRIED.decode(message))
        except UNREADABLE as error:
            self._refuse(f"unreadable: {error}")

    def lost(self) -> None:
        self._end()

    def _log_in(self, login: Login) -> None:
        self._name = ""
        self._timer.cancel()
        self._desk.tasks.start(self._authenticate(login))

    async def _authenticate(self, login: Login) -> None:
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
        told = {"connected": bot.name, "gameType": bot.game, "longest": self._desk.settings.longest_message}
        self._connection.send([msgspec.json.encode(told)])
        address, traffic = self._connection.address, self._connection.traffic
        end = partial(self._refuse, TOKEN_CHANGED)
        client = ConnectedClient("botdrome connect", bot.name, bot.game, address, traffic, self._refuse, end=end)
        self._log_out = self._desk.registry.clients.enter(client)
        self._carriers.join(bot.name, self)
        return self._arrived(bot.name)

    def _take(self, came: Carried) -> None:
        failed = came.failed[:200]
        outcome = CallFailed(failed) if failed else Answer(came.status, came.body.encode(errors="replace"))
        if not self._carriers.answered(self, came.call, outcome) and not self._strays.take():
            self._refuse("too many messages")

    # As a carrier.

    def carry(self, call: Call, body: bytes, limit_seconds: float, headers: Mapping[str, str]) -> None:
        message: dict[str, Any] = {"call": call, "limit": limit_seconds, "headers": headers}
        message["body"] = body.decode(errors="replace")
        self._connection.send([msgspec.json.encode(message)])

    def part(self, words: str, code: int) -> None:
        self._say_goodbye(words, code)

    # The end.

    def _refuse(self, words: str) -> None:
        self._say_goodbye(words, POLICY)

    def _say_goodbye(self, words: str, code: int) -> None:
        if not self._over:
            self._connection.send([msgspec.json.encode({"error": words})])
            self._end()
            self._connection.close(code, words)

    def _end(self) -> None:
        self._over = True
        self._log_out()
        self._timer.cancel()
        if self._name:
            self._carriers.leave(self._name, self)
