"""Native: the conversation with a bot over the native protocol, from its login to its last message."""

import asyncio
from typing import Any

import msgspec
import structlog

from botdrome.contest.lobby import Seeker, Wish, in_a_wish
from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Player
from botdrome.server import metrics
from botdrome.server.battlebot.tongues import battlebot, tongue_of
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk, seat_key
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.lobby.logins import TOKEN_CHANGED, End, no_login
from botdrome.server.lobby.owners import NOBODY, bot_owner
from botdrome.server.lobby.registry import Banned, Denied
from botdrome.server.network.connection import INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER, Connection
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.tables.listener import Tongue
from botdrome.server.tables.table import Table
from botdrome.store.store import BotEntry, StoreUnavailable
from botdrome.wire.battlebot.login import FAILED, BadLogin, Login, read_login
from botdrome.wire.battlebot.player_frames import BadAction, read_action
from botdrome.wire.half_pairs import value_of

log = structlog.get_logger()

CLOSING = 0.01
"""Seconds between the last message of a match and the close, as in the original."""


def _wish(login: Login) -> Wish:
    return Wish(login.format.name, login.players, in_a_wish(login.options), login.contest, login.pace, login.invite)


class NativeSession:
    """Login, waiting, play. It is a guest of the desk, and the listener at its seat."""

    def __init__(self, connection: Connection, desk: Desk) -> None:
        self._connection, self._desk = connection, desk
        settings = desk.settings
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = self._loop.call_later(settings.limits.login, self._fail, FAILED)
        self._bucket = Bucket(settings.message.rate, settings.message.burst)
        self._login: Login | None = None
        self._table: Table | None = None
        self._player: Player = 0
        self._over = False
        self.owner = NOBODY
        self._log_out = self._unlist = no_login
        self.seeker: Seeker | None = None

    @property
    def tongue(self) -> Tongue:
        return battlebot if self._login is None else tongue_of(self._login)

    @property
    def _explains(self) -> bool:
        """False: it is sent nothing that the original does not send, and closed without a message instead."""
        return self._login is not None and self._login.notices

    # What the client does.

    def received(self, message: bytes) -> None:
        if self._over:
            return None
        if not self._bucket.take():
            return self._refuse("flood", "too many messages", POLICY)
        try:
            value = value_of(message)
        except UNREADABLE as error:
            return self._malformed(message, str(error))
        table = self._table
        if self._login is not None and self._login.frames:
            self._act(value, message)
        elif table is not None:
            self._desk.floor.metronome.catch_up()
            if table.open:
                table.submit(self._player, value, message)
        elif self._login is None:
            self._read_login(value)
        return None

    def _act(self, value: Any, message: bytes) -> None:
        """What a player with frames sends: a move has a name there, so that there may be other messages."""
        try:
            action, raw = read_action(value)
        except BadAction as problem:
            return self._explain({"error": str(problem)})
        table = self._table
        if action == "ping":
            self._explain({"pong": raw})
        elif table is not None and table.open:
            self._desk.floor.metronome.catch_up()
            if action == "move":
                table.submit(self._player, raw, message)
            else:
                table.note(self._player, message, "resigned")
                table.expel(self._player, "resigned", "")
        return None

    def lost(self) -> None:
        self._leave()
        self._quiet()

    def _malformed(self, message: bytes, why: str) -> None:
        """No message goes before this close, as in the original."""
        if self._table is not None and self._table.open:
            self._table.note(self._player, message, f"unreadable: {why}")
        self._leave()
        self._end(MALFORMED, "ERROR")

    def _refuse(self, why: str, words: str, code: int) -> None:
        if self._over:
            return
        metrics.REFUSED.labels(why).inc()
        if self._table is not None and self._table.open:
            self._table.note(self._player, b"", words)
        self._leave()
        self._explain({"error": words})
        self._end(code, words)

    def _explain(self, words: dict[str, Any]) -> None:
        if self._explains:
            self._connection.send([msgspec.json.encode(words)])

    # Login.

    def _read_login(self, value: Any) -> None:
        try:
            login = self._login = read_login(value)
        except BadLogin as problem:
            return self._fail(problem.answer())
        if login.guest:
            return self._desk.tasks.start(self._admit(login))
        known = self._desk.registry.recognised(login.name, login.password)
        if known is not None:
            return self._authenticated(login, known)
        self._desk.tasks.start(self._authenticate(login))
        return None

    async def _authenticate(self, login: Login) -> None:
        try:
            bot = await self._desk.registry.authenticate(login.name, login.password)
        except StoreUnavailable:  # to others it is a login that failed, as on the original
            return self.turn_away({"error": STORE_AWAY}, TRY_LATER) if login.notices else self._fail(FAILED)
        except (TooMany, Banned) as problem:
            return self._fail(BadLogin(str(problem)).answer() if self._explains else FAILED)
        except Exception:
            log.exception("a bot could not be looked up")
            bot = None
        if self._over:
            return None
        if bot is None:
            return self._fail(FAILED)
        return self._authenticated(login, bot)

    async def _admit(self, login: Login) -> None:
        """A guest."""
        try:
            admission = await self._desk.registry.admit_guest(login.name, login.password)
        except Denied as problem:
            return self._fail(BadLogin(str(problem)).answer())
        except StoreUnavailable:
            return self.turn_away({"error": STORE_AWAY}, TRY_LATER)
        if self._over:
            return None
        self.owner = admission.owner
        self._list(admission.name, None)
        wish = _wish(login)
        self._replace_session(f"{login.password} {wish}")
        return self._welcome(login, wish, login.password)

    def _replace_session(self, key: str) -> None:
        """Of several sessions of a guest that wait for the same, or sit on one seat, the newest stays."""
        self._log_out()
        self._desk.guest_sessions.end(key)
        self._log_out = self._desk.guest_sessions.enter(key, self._give_way)

    def _give_way(self) -> None:
        self.turn_away({"error": "you have logged in again from another window, which goes on in place of this one"})

    def _authenticated(self, login: Login, bot: BotEntry) -> None:
        if bot.game != login.format.name:
            return self._fail(FAILED)
        self.owner = bot_owner(bot)
        self._list(bot.name, self._lose_token)
        return self._welcome(login, _wish(login))

    def _welcome(self, login: Login, wish: Wish, secret: str = "") -> None:
        self._stop_timer()
        self._connection.send([login.answer()])
        if login.match is not None:
            return self._desk.come_back(self, login.match, secret)
        return self._desk.seek(self, login.name, wish, login.opponent)

    def _list(self, name: str, end: End | None) -> None:
        login, connection = self._login, self._connection
        assert login is not None
        remove = lambda words: self._refuse("removed", words, POLICY)  # noqa: E731
        match = lambda: self._table.entry.id if self._table else None  # noqa: E731
        client = ConnectedClient("battlebot", name, login.format.name, connection.address, connection.traffic, remove, match, end)
        self._unlist = self._desk.registry.clients.enter(client)

    def _lose_token(self) -> None:
        """The token was changed: what follows is the same as after a lost connection."""
        if not self._over:
            self._leave()
            self._end(NORMAL, TOKEN_CHANGED)

    def _fail(self, answer: bytes) -> None:
        if not self._over:
            metrics.REFUSED.labels("login").inc()
            self._connection.send([answer])
            self._end()

    # What the desk and the table do.

    def wait_at_most(self, seconds: float, words: str) -> None:
        """A bot that takes no notices waits for ever, as on the original."""
        if self._explains:
            self._stop_timer()
            self._timer = self._loop.call_later(seconds, self.turn_away, {"error": words})

    def contest_complete(self, contest: str) -> None:
        """A bot that takes no notices goes on waiting, as on the original."""
        if self._explains:
            self.turn_away({"contest": contest, "complete": True})

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        if not self._over:
            self._leave()
            self._explain(words)
            self._end(code)

    def sit_down(self, table: Table, player: Player) -> None:
        self._stop_timer()
        self._table, self._player = table, player
        if self._login is not None and self._login.guest:
            self._replace_session(seat_key(table, player))

    @property
    def present(self) -> bool:
        return not self._over

    def tell(self, messages: list[bytes]) -> None:
        self._connection.send(messages)

    def dismiss(self, failed: bool) -> None:
        self._table = None
        if failed:
            self._explain({"error": "the result could not be stored"})
            self._end(INTERNAL, "the result could not be stored")
        elif self._desk.closing:
            self._end()  # a server that stops may be gone before the usual moment is over
        else:
            self._over = True
            self._loop.call_later(CLOSING, self._end)

    # The end.

    def _leave(self) -> None:
        table, self._table = self._table, None
        if table is not None:
            if table.open:
                table.leave(self._player)
        elif self.seeker is not None:
            self._desk.give_up(self)

    def _end(self, code: int = NORMAL, reason: str = "") -> None:
        self._quiet()
        self._connection.close(code, reason)

    def _quiet(self) -> None:
        self._over = True
        self._log_out()
        self._unlist()
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
