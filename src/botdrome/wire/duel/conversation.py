"""Duel arena's conversation: login, then any number of matches, each after the client asks for an opponent."""

from typing import Any

from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.wire.conversation import (
    Admit,
    Admitted,
    CannotPlay,
    Close,
    Dismissed,
    EndOfInput,
    LoginRefused,
    Outs,
    RecordMessage,
    Removed,
    Reply,
    Seated,
    Seconds,
    Submit,
    TokenChanged,
    Unreadable,
)
from botdrome.wire.duel.answers import Ignored, read_frame
from botdrome.wire.duel.commands import Enter, Entered, FindOpponent, Superseded
from botdrome.wire.duel.login import OK, BadDuelLogin, DuelLogin, error, read_duel_login
from botdrome.wire.duel.messages import FREE, Duel
from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.standing import Standing
from botdrome.wire.token_bucket import TokenBucket
from botdrome.wire.writers import MakeWriter, SharedWriter

GAME = "gomoku"
SURPLUS = 4
"""Answers for each move of a match that may be ignored before they count against the rate limit."""


class DuelConversation:
    def __init__(
        self, make_writer: MakeWriter, login_limit: Seconds, message_rate: float, message_burst: int, now: Seconds
    ) -> None:
        """`make_writer` returns a `Duel`."""
        self.deadline: Seconds | None = now + login_limit
        self._make_writer, self._login_limit = make_writer, login_limit
        self._limit = TokenBucket(message_rate, message_burst, now)
        self._login: DuelLogin | None = None
        self._entered = self._over = self._input_ended = self._superseded = False
        self._wants_opponent = False
        """The client has asked for an opponent before it was free."""
        self._player: Player = 0
        self._duel: Duel | None = None
        self._writer: SharedWriter | None = None
        self._started = False
        self._ignored = 0
        """Answers in this match that did not count."""

    def begin(self, now: Seconds) -> Outs:
        return ()

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        if self._over:
            return ()
        if self._duel is not None and (move := self._duel.plain_move(self._player, message)) is not None:
            return (Submit(move, message),)
        try:
            value = read_frame(message)
        except BadFrame as problem:
            return self._cut_off("frame", str(problem), message)
        event = value.get("event") if isinstance(value, dict) else None
        outs: Outs = ()
        if event == "make_move" and self._duel is not None:
            outs = self._answered(self._duel, value, message)
            if isinstance(outs[0], Submit) or self._ignored <= SURPLUS * sum(self._duel.lengths):
                return outs
        if not self._limit.take(now):
            return *outs, *self._cut_off("flood", "too many messages", message)
        return outs or self._handle(event, value, message)

    def _handle(self, event: Any, value: Any, message: bytes) -> Outs:
        if self._login is None:
            return self._read_login(value)
        if event == "find_opponent":
            return self._find_opponent()
        if event != "make_move":
            return (RecordMessage(message, "ignored: neither make_move nor find_opponent"),)
        return ()

    def _answered(self, duel: Duel, value: Any, message: bytes) -> Outs:
        """Some bots answer each question twice, at any speed, so a number of ignored answers is free."""
        try:
            return (Submit(duel.read_move(self._player, value), message),)
        except Ignored as problem:
            self._ignored += 1
            return (RecordMessage(message, f"ignored: {problem}"),)

    def _find_opponent(self) -> Outs:
        """Asking too early or twice is harmless: until a match begins it is the same wish."""
        if not self._entered or self._started:
            self._wants_opponent = True
            return ()
        return () if self._duel is not None else (FindOpponent(),)

    def _read_login(self, value: Any) -> Outs:
        try:
            login = self._login = read_duel_login(value)
        except BadDuelLogin as problem:
            return self._fail(str(problem))
        return (Admit(login.name, login.token, GAME, version=login.version),)

    # What the server decides.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        if self._over:
            return ()
        match reply:
            case Seated():
                self._take_seat(reply)
            case Dismissed():
                return self._dismissed(reply)
            case Entered():
                return self._welcome(reply)
            case Admitted():
                return self._admitted()
            case EndOfInput():
                self._input_ended = True
            case Superseded():
                self._superseded = True
            case _:
                return self._refused(reply)
        return ()

    def _refused(self, reply: Reply) -> Outs:
        match reply:
            case LoginRefused():
                return self._fail(reply.words)
            case Removed():
                return self._cut_off("removed", reply.words)
            case Unreadable():
                return self._cut_off("frame", reply.why)
            case CannotPlay() | TokenChanged():
                return self._close()  # clients of the original know no message for it
        return ()

    def _admitted(self) -> Outs:
        login = self._login
        assert login is not None
        if self._input_ended:  # it can make no move, so it takes nobody's place and meets nobody
            return OK, FREE, *self._close()
        return (Enter(login.name, login.token if isinstance(login.token, str) else ""),)

    def _welcome(self, reply: Entered) -> Outs:
        self.deadline, self._entered = None, True
        if self._duel is None:
            return OK, FREE, *self._go_on()
        if reply.standing is None:
            return (OK,)
        self._started = True
        return OK, *self._duel.resume(self._player, reply.standing)

    def _take_seat(self, reply: Seated) -> None:
        self._player, self._ignored, self._wants_opponent = reply.player, 0, False
        self._writer = reply.writers.join(reply.player, self._make_writer)
        duel = self._writer.writer
        assert isinstance(duel, Duel)
        self._duel = duel
        if self._login is not None and self._login.draws:
            duel.draws.add(reply.player)
        else:
            duel.draws.discard(reply.player)  # the client that had the seat before may have asked

    def _dismissed(self, reply: Dismissed) -> Outs:
        self._duel, self._started = None, False
        if reply.failed or reply.stopping or self._superseded:
            return self._close()
        return FREE, *self._go_on()

    def _go_on(self) -> Outs:
        """The client is free."""
        wanted, self._wants_opponent = self._wants_opponent, False
        return (FindOpponent(),) if wanted else ()

    # What happens at the table, and what does not happen in time.

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        assert self._writer is not None
        self._started = True
        return self._writer.messages(self._player, news, standing)

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        return self._fail(f"no login within {self._login_limit:g} seconds")

    # How it ends.

    def _fail(self, words: str) -> Outs:
        self._over = True
        return error(words), Close(refused="login")

    def _cut_off(self, refused: str, words: str, message: bytes = b"") -> Outs:
        self._over = True
        return RecordMessage(message, words), error(words), Close(reason=words, refused=refused)

    def _close(self) -> Outs:
        self._over = True
        return (Close(),)
