"""Battlebot's conversation, the native one: login, waiting for a table, one match or several, goodbye."""

from typing import Any

import msgspec

from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.wire.battlebot.login import FAILED, BadLogin, Login, Seek, read_login
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.battlebot.player_frames import BadPlayerMessage, PlayerFrames, read_action, reason_of
from botdrome.wire.conversation import (
    AdmitGuest,
    Admitted,
    Authenticate,
    CannotPlay,
    Close,
    ContestComplete,
    Dismissed,
    LoginRefused,
    NoMatchNow,
    Outs,
    RecordMessage,
    Removed,
    Reply,
    Resign,
    Seated,
    Seconds,
    Submit,
    TokenChanged,
    WaitLimit,
)
from botdrome.wire.features import AGAIN, EXTRAS, FRAMES
from botdrome.wire.framing.websocket import INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER
from botdrome.wire.half_pairs import value_of
from botdrome.wire.match_header import MatchHeader
from botdrome.wire.standing import Standing
from botdrome.wire.token_bucket import TokenBucket
from botdrome.wire.writers import MakeWriter, SharedWriter

LAST_MOMENT = 0.01
"""Seconds between the last message of a match and the close, as in the original."""
NOT_STORED = "the result could not be stored"
ONCE_MORE = {"again": True}
"""The message of a client that wants the next match, after a match with the feature `again`."""
NOT_ASKED = "you did not ask for the next match in time"


def battlebot(header: MatchHeader) -> Battlebot:
    return Battlebot(header.game, header.players, header.started, header.match)


def battlebot_with_extras(header: MatchHeader) -> Battlebot:
    return Battlebot(header.game, header.players, header.started, header.match, extras=True)


def player_frames(header: MatchHeader) -> PlayerFrames:
    return PlayerFrames(msgspec.to_builtins(header))


def player_views(header: MatchHeader) -> PlayerFrames:
    return PlayerFrames(msgspec.to_builtins(header), legal=False)


def _admit_guest(login: Login) -> AdmitGuest:
    return AdmitGuest(login.name, login.password, login.format.name, login.match)


def _is_resignation(value: Any) -> bool:
    return (
        isinstance(value, dict) and value.keys() == {"resign"} and (value["resign"] is True or isinstance(value["resign"], str))
    )


class BattlebotConversation:
    def __init__(self, login_limit: Seconds, message_rate: float, message_burst: int, now: Seconds) -> None:
        self.deadline: Seconds | None = now + login_limit
        self._limit = TokenBucket(message_rate, message_burst, now)
        self._login: Login | None = None
        self._login_message = b""
        self._login_limit = login_limit
        self._admitted = self._over = self._between = False
        """`_between`: a match is over, and the client may ask for the next one."""
        self._player: Player | None = None
        self._writer: SharedWriter | None = None
        self._wait_message = ""

    def begin(self, now: Seconds) -> Outs:
        return ()

    def resume(self, login_message: bytes) -> Login:
        """Go on with a client that another node has admitted."""
        login = self._login = read_login(value_of(login_message))
        self._login_message, self._admitted, self.deadline = login_message, True, None
        return login

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        if self._over:
            return ()
        if not self._limit.take(now):
            return self._cut_off("flood", "too many messages")
        try:
            value = value_of(message)
        except UNREADABLE as error:
            self._over = True  # no message goes before this close, as in the original
            return RecordMessage(message, f"unreadable: {error}"), Close(MALFORMED, "ERROR")
        login = self._login
        if login is None:
            self._login_message = message
            return self._read_login(value)
        if AGAIN in login.features and value == ONCE_MORE:
            return self._seek_again(login)
        if login.frames:
            return self._act(value, message)
        if AGAIN in login.features and _is_resignation(value):
            return self._resign(value["resign"], message)
        return () if self._player is None else (Submit(value, message),)

    def _seek_again(self, login: Login) -> Outs:
        """The next match is any match, also after one that the login named. A guest's name may be a bot's by now."""
        if not self._between:
            return self._explain({"error": "ask for the next match when this one is over"})
        self._between, self.deadline = False, None
        login = self._login = msgspec.structs.replace(login, match=None)
        return (_admit_guest(login) if login.guest else Seek(login, self._login_message),)

    def _resign(self, value: Any, message: bytes) -> Outs:
        return () if self._player is None else (Resign(message, reason_of(value)),)

    def _act(self, value: Any, message: bytes) -> Outs:
        """A client with frames names its moves, so that it can send other messages too."""
        try:
            action, raw = read_action(value)
        except BadPlayerMessage as problem:
            return self._explain({"error": str(problem)})
        if action == "ping":
            return self._explain({"pong": raw})
        if action == "resign":
            return self._resign(raw, message)
        return () if self._player is None else (Submit(raw, message),)

    def _read_login(self, value: Any) -> Outs:
        try:
            login = self._login = read_login(value)
        except BadLogin as problem:
            return self._fail(problem.answer())
        if login.guest:
            return (_admit_guest(login),)
        return (Authenticate(login.name, login.password, login.format.name, login.version),)

    # What the server decides.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        if self._over:
            return ()
        match reply:
            case Seated():
                self.deadline, self._player = None, reply.player
                self._writer = reply.writers.join(reply.player, self._make_writer())
                return () if reply.moved else self._name_match(reply.writers.header)
            case Dismissed():
                return self._dismissed(reply, now)
            case WaitLimit() if self._explains:
                self.deadline, self._wait_message = now + reply.seconds, reply.words
            case _:
                return self._decided(reply)
        return ()

    def _decided(self, reply: Reply) -> Outs:
        match reply:
            case Admitted():
                return self._welcome()
            case LoginRefused():
                return self._refused(reply)
            case ContestComplete() if self._explains:
                return self._turn_away({"contest": reply.contest, "complete": True})
            case NoMatchNow() if not self._explains:
                return ()  # it would connect again at once
            case CannotPlay():
                return self._turn_away(reply.message, reply.code)
            case Removed():
                return self._cut_off("removed", reply.words)
            case TokenChanged():
                self._over = True
                return (Close(NORMAL, "the token was changed"),)
        return ()

    def _welcome(self) -> Outs:
        login, again = self._login, self._admitted
        assert login is not None
        self.deadline, self._admitted = None, True
        seek = Seek(login, self._login_message)
        return (seek,) if again else (login.answer(), seek)

    def _refused(self, reply: LoginRefused) -> Outs:
        """A client that takes no notices is told only that its login failed, as on the original."""
        if reply.try_later and self._explains:
            return self._turn_away({"error": reply.words}, TRY_LATER)
        return self._fail(BadLogin(reply.words).answer() if self._explains else FAILED)

    def _name_match(self, header: MatchHeader) -> Outs:
        """A client that plays several matches is told which one begins; frames tell it by themselves."""
        login = self._login
        assert login is not None
        return [msgspec.json.encode(header)] if AGAIN in login.features and not login.frames else ()

    def _make_writer(self) -> MakeWriter:
        login = self._login
        assert login is not None
        if login.frames:
            return player_frames if FRAMES in login.features else player_views
        return battlebot_with_extras if EXTRAS in login.features else battlebot

    def _dismissed(self, reply: Dismissed, now: Seconds) -> Outs:
        assert self._login is not None
        again = AGAIN in self._login.features and not (reply.failed or reply.stopping)
        self._player, self._writer = None, None
        self._over, self._between = not again, again
        if again:
            self.deadline = now + self._login_limit
            return ()
        if reply.failed:
            return *self._explain({"error": NOT_STORED}), Close(INTERNAL, NOT_STORED)
        if reply.stopping:
            return (Close(),)
        self.deadline = now + LAST_MOMENT
        return ()

    # What happens at the table, and what does not happen in time.

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        assert self._writer is not None and self._player is not None
        return self._writer.messages(self._player, news, standing)

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        if self._over:
            return (Close(),)
        if not self._admitted:
            return self._fail(FAILED)
        return self._turn_away({"error": NOT_ASKED if self._between else self._wait_message})

    # How it ends.

    @property
    def _explains(self) -> bool:
        """False: the client gets no message that the original does not send, and is closed without one instead."""
        return self._login is not None and self._login.notices

    def _explain(self, message: dict[str, Any]) -> list[bytes]:
        return [msgspec.json.encode(message)] if self._explains else []

    def _fail(self, answer: bytes) -> Outs:
        self._over = True
        return answer, Close(refused="login")

    def _turn_away(self, message: dict[str, Any], code: int = NORMAL) -> Outs:
        self._over = True
        return *self._explain(message), Close(code)

    def _cut_off(self, refused: str, words: str) -> Outs:
        self._over = True
        return RecordMessage(b"", words), *self._explain({"error": words}), Close(POLICY, words, refused)
