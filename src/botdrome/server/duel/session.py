"""Duel: the conversation with a bot over duel arena's protocol, from its login through any number of matches."""

import asyncio
from typing import Any

import structlog

from botdrome.contest.lobby import Seeker
from botdrome.match.events import Player
from botdrome.server import metrics
from botdrome.server.duel.hall import GAME, DuelHall, Duellist
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.logins import no_login
from botdrome.server.lobby.owners import NOBODY, is_another_bots
from botdrome.server.lobby.registry import Denied
from botdrome.server.network.connection import NORMAL, Connection
from botdrome.server.network.door import Crowd
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.tcp import StreamSession, tcp_door
from botdrome.server.tables.listener import Tongue
from botdrome.server.tables.table import Table
from botdrome.wire.duel.answers import Ignored, read_frame
from botdrome.wire.duel.login import OK, BadDuelLogin, DuelLogin, error, read_duel_login
from botdrome.wire.duel.messages import FREE, Duel
from botdrome.wire.framing.streams import BadFrame, Frames
from botdrome.wire.vocabulary import standing

log = structlog.get_logger()

SURPLUS = 4
"""Answers that do not count, for each move of a match: so many are no flood."""


class DuelSession(StreamSession):
    """Login, then waiting and play in turns. It is a guest of the desk, and the listener at its seat."""

    def __init__(self, connection: Connection, hall: DuelHall) -> None:
        self._connection, self._hall, self._desk = connection, hall, hall.desk
        settings = hall.desk.settings
        late = f"no login within {settings.limits.login:g} seconds"
        self._timer = asyncio.get_running_loop().call_later(settings.limits.login, self._fail, late)
        self._bucket = Bucket(settings.message.rate, settings.message.burst)
        self._login: DuelLogin | None = None
        self.name = self.called = ""
        self.owner = NOBODY
        self._log_out = no_login
        self._admitted = self._heard_all = False
        self._wants = False
        """It has asked for an opponent before it was free."""
        self._table: Table | None = None
        self._player: Player = 0
        self._duel: Duel | None = None
        self.heir: Duellist | None = None
        self._over = False
        self._surplus = 0
        """Answers in this match that did not count."""
        self.tongue: Tongue = hall.dialect
        self.tell = connection.send
        self.seeker: Seeker | None = None
        self.last_opponent: str | None = None

    # What the client does.

    def received(self, message: bytes) -> None:
        if self._over:
            return None
        table, duel = self._table, self._duel
        if table is not None and duel is not None and (move := duel.plain_move(self._player, message)) is not None:
            table.submit(self._player, move, message)
            return None
        try:
            value = read_frame(message)
        except BadFrame as problem:
            return self._refuse("frame", str(problem), message)
        if self._answered(value, message):
            return None
        if not self._bucket.take():
            return self._refuse("flood", "too many messages", message)
        if self._login is None:
            return self._read_login(value)
        if _event(value) == "find_opponent":
            self._find_opponent()
        elif _event(value) != "make_move":
            self._note(message, "ignored: neither make_move nor find_opponent")
        return None

    def unreadable(self, why: str) -> None:
        self._refuse("frame", why, b"")

    def heard_all(self) -> bool:
        """A login that is being looked up is answered, whether or not more is to come."""
        self._heard_all = self._login is not None and not self._admitted and not self._over
        return self._heard_all

    def lost(self) -> None:
        self._leave()
        self._quiet()

    def _answered(self, value: Any, message: bytes) -> bool:
        """Whether it was an answer that no limit need be set to: it counts, for it was asked for, or there are few such."""
        table, duel = self._table, self._duel
        if duel is None or table is None or _event(value) != "make_move":
            return False
        try:
            move = duel.read_move(self._player, value)
        except Ignored as problem:
            self._note(message, f"ignored: {problem}")
            return self._excused(duel)
        table.submit(self._player, move, message)
        return True

    def _excused(self, duel: Duel) -> bool:
        """The longer the match, the more answers may be too many: some bots answer everything twice, and do so at any speed."""
        self._surplus += 1
        return self._surplus <= SURPLUS * sum(duel.lengths)

    def _find_opponent(self) -> None:
        """To ask too early does no harm, and to ask twice neither: as long as no match has begun it is the same wish."""
        table = self._table
        if not self._admitted or (table is not None and table.open):
            self._wants = True
        elif table is None and self.seeker is None and not self._hall.gathering(self):
            self._hall.gather(self)

    def _note(self, message: bytes, verdict: str) -> None:
        if self._table is not None and self._table.open:
            self._table.note(self._player, message, verdict)

    def _refuse(self, why: str, words: str, message: bytes) -> None:
        if not self._over:
            log.info("a duel player is cut off", player=self._login and self._login.name, why=words)
            metrics.REFUSED.labels(why).inc()
            self._note(message, words)
            self._say_and_go(words)

    # Login.

    def _read_login(self, value: Any) -> None:
        try:
            login = self._login = read_duel_login(value)
        except BadDuelLogin as problem:
            return self._fail(str(problem))
        return self._desk.tasks.start(self._admit(login))

    async def _admit(self, login: DuelLogin) -> None:
        words = ""
        try:
            admission = await self._desk.registry.admit(login.name, login.token, GAME)
            self.name, self.called, self.owner = admission.name, login.name, admission.owner
        except Denied as problem:
            words = str(problem)
        except Exception:
            log_failure("a bot could not be looked up")
            words = "the name cannot be looked up"
        if self._over:
            return None
        words = self._desk.refusal or words
        if words:
            return self._fail(words)
        end = None if admission.bot is None else self.close
        connection = self._connection
        client = ConnectedClient(
            "duel arena", self.name, GAME, connection.address, connection.traffic, self._remove, self._match_id, end
        )
        self._log_out = self._desk.registry.clients.enter(client)
        return self._enter()

    def _match_id(self) -> str | None:
        return None if self._table is None else self._table.entry.id

    def _remove(self, words: str) -> None:
        self._refuse("removed", words, b"")

    def _fail(self, words: str) -> None:
        if not self._over:
            metrics.REFUSED.labels("login").inc()
            self._say_and_go(words)

    def _enter(self) -> None:
        if self._heard_all:  # it can make no move: nobody makes way for it, and nobody meets it
            self._connection.send([OK, FREE])
            return self.close()
        self._timer.cancel()
        self._admitted = True
        self._hall.enter(self)
        if self._table is None:
            self._connection.send([OK, FREE])
            self._go_on()
        elif self._duel is not None and self._table.open:
            stands = standing(self._table.match, self._table.now())
            self._connection.send([OK, *self._duel.resume(self._player, stands)])
        else:
            self._connection.send([OK])
        return None

    def _go_on(self) -> None:
        """It is free."""
        if self._wants:
            self._wants = False
            self._hall.gather(self)

    # What the desk, the hall and the table do.

    @property
    def present(self) -> bool:
        """At its seat is the last of those who came under its name: there may be thousands, and none is asked through another."""
        heir = self.heir
        while heir is not None and heir.heir is not None:
            heir = heir.heir
        return not self._over if heir is None else heir.present

    def wait_at_most(self, seconds: float, words: str) -> None:
        """It stays for as long as it likes, as in the original."""

    def contest_complete(self, contest: str) -> None:
        """Duels are in no contest."""

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        """No word is said: the clients of the original know none for it."""
        self.close()

    def sit_down(self, table: Table, player: Player) -> None:
        self._table, self._player, self._surplus, self._wants = table, player, 0, False
        self._duel = self._hall.dialect(table.entry)
        if self._login is not None and self._login.draws:
            self._duel.draws.add(player)
        else:
            self._duel.draws.discard(player)  # whoever had the seat before may have asked
        self.last_opponent = table.entry.players[1 - player]
        self._hall.look_after(table)

    def dismiss(self, failed: bool) -> None:
        self._table = self._duel = None
        if failed or self._desk.closing or not self._hall.has(self):
            return self.close()
        self._connection.send([FREE])
        return self._go_on()

    def make_way(self, newcomer: Duellist) -> None:
        table = self._table
        playing = table is not None and table.match.result is None
        if playing and is_another_bots(newcomer.owner, self.owner):
            return  # the name was registered meanwhile: this guest plays its match to the end
        if table is not None and playing:
            self.heir, self._table = newcomer, None
            newcomer.sit_down(table, self._player)
            table.seat(self._player, newcomer, newcomer.tongue)
        self.close()

    # The end.

    def close(self) -> None:
        """Without a word."""
        if not self._over:
            self._leave()
            self._quiet()
            self._connection.close()

    def _say_and_go(self, words: str) -> None:
        self._leave()
        self._quiet()
        self._connection.send([error(words)])
        self._connection.close()

    def _leave(self) -> None:
        if self._over:
            return
        table, self._table = self._table, None
        if table is not None and table.open:
            table.leave(self._player)
        if self.seeker is not None:
            self._desk.give_up(self)
        if self._admitted:
            self._hall.leave(self)

    def _quiet(self) -> None:
        self._over = True
        self._log_out()
        self._timer.cancel()


def _event(value: Any) -> Any:
    return value.get("event") if isinstance(value, dict) else None


def duel_door(hall: DuelHall, crowd: Crowd) -> MakeProtocol:
    return tcp_door(Frames, lambda connection: DuelSession(connection, hall), crowd)
