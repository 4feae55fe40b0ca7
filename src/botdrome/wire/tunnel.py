"""The conversation of `botdrome connect`: a bot logs in, then the server sends it calls, and it
sends their answers.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE, bounded
from botdrome.wire.conversation import (
    TOKEN_CHANGED,
    Admitted,
    Authenticate,
    CannotPlay,
    Command,
    Conversation,
    LoginRefused,
    Outs,
    Removed,
    Reply,
    Seconds,
    TokenBucket,
    TokenChanged,
    refuse,
)

CallId = int


class OpenTunnel(Struct, Command, frozen=True):
    """The bot can be called from now on."""


class TakeAnswer(Struct, Command, frozen=True):
    """The outcome of a call, as the bot's end sends it.

    Answered by UnknownCall if no call has that number.
    """

    call: CallId
    status: int = 0
    body: str = ""
    failed: str = ""
    """Why there is no answer."""


class TunnelCall(Struct, Reply, frozen=True):
    """Call the bot. These are the fields of the message."""

    call: CallId
    limit: Seconds
    headers: Mapping[str, str]
    body: str


class UnknownCall(Struct, Reply, frozen=True):
    """No call waits for that answer."""


class TunnelLogin(Struct):
    name: str
    password: str


LOGIN = msgspec.json.Decoder(TunnelLogin)
ANSWER = msgspec.json.Decoder(TakeAnswer)


class TunnelConversation(Conversation):
    def __init__(
        self,
        login_limit: Seconds,
        message_rate: float,
        message_burst: int,
        longest: int,
        now: Seconds,
    ) -> None:
        """`longest`: the most bytes of a message, which the bot's end is told."""
        self.deadline: Seconds | None = now + login_limit
        self._strays = TokenBucket(message_rate, message_burst, now)
        """Limits answers to calls that do not exist."""
        self._longest = longest

    def receive(self, message: bytes, now: Seconds) -> Outs:
        try:
            if self.deadline is None:
                return (ANSWER.decode(bounded(message)),)
            login = LOGIN.decode(bounded(message))
        except UNREADABLE as error:
            return refuse(f"unreadable: {error}")
        self.deadline = None
        return (Authenticate(login.name, login.password),)

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        match reply:
            case TunnelCall():
                return (msgspec.json.encode(reply),)
            case UnknownCall():
                return (
                    () if self._strays.take(now) else refuse("too many messages", refused="flood")
                )
            case Admitted(name, game):
                told = {"connected": name, "gameType": game, "longest": self._longest}
                return msgspec.json.encode(told), OpenTunnel()
            case LoginRefused(words, try_later):
                return refuse(
                    "the bot cannot be looked up"
                    if try_later
                    else words or "the name or the password is wrong"
                )
            case Removed(words):
                return refuse(words)
            case TokenChanged():
                return refuse(TOKEN_CHANGED)
            case CannotPlay(message, code):
                return refuse(message["error"], code)
        return ()

    def wake(self, now: Seconds) -> Outs:
        return refuse("no login came")
