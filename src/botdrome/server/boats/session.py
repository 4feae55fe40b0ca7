"""BoatSession: the conversation with a client on Xterm Boat Sinker's lines."""

import asyncio
from collections.abc import Callable

from botdrome.match.course import News
from botdrome.match.events import Player
from botdrome.server import metrics
from botdrome.server.boats.company import Company, Sailor, TryAgain, TurnedAway
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.harbour import Harbour
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import ConnectedClient, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.lobby.registry import Banned, Denied
from botdrome.server.network.connection import Connection
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.tcp import StreamSession
from botdrome.server.tables.table import Table
from botdrome.wire.boats.lines import (
    BOOTED,
    COMM_ERROR,
    FULL,
    LONGEST_LINE,
    PROTOCOL_ERROR,
    fields_of,
    name_problem,
    plain,
    retry,
    said,
    text_of,
    value,
)
from botdrome.wire.standing import Standing
from botdrome.wire.writers import MatchWriters

CHAT_RATE, CHAT_BURST = 2.0, 20
"""Messages to others a second in the long run, and at once. Beside these, a player may send one for each turn that it had."""
LONGEST_REASON = 200
"""Bytes of a reason that the others are told."""
TOO_LATE = b"you did not join in time"


class BoatSession(StreamSession):
    """From the connection to the last line. It is the listener at its seat."""

    def __init__(self, connection: Connection, address: str, harbour: Harbour, desk: Desk) -> None:
        self._connection, self.address, self._harbour, self._desk = connection, address, harbour, desk
        self.tell = connection.send
        self._room = harbour.rooms[0]
        self._company: Company | None = None
        self._sailor: Sailor | None = None
        self._held: list[bytes] | None = None
        self._over = self._heard_all = self._registered = False
        self._lost_by, self._log_out = b"", no_login
        settings = desk.settings
        self._bucket = Bucket(settings.message.rate, settings.message.burst)
        self._chat = Bucket(CHAT_RATE, CHAT_BURST)
        self._turns_talked = 0
        limit = settings.limits.waiting
        self._timer = asyncio.get_running_loop().call_later(limit, self.send_off, TOO_LATE) if limit else None
        self._strangers: dict[bytes, Callable[[list[bytes], bytes], None]] = {
            b"G": self._info, b"P": self._ping, b"J": self._join, b"L": self._leave,
        }  # fmt: skip
        self._sailors: dict[bytes, Callable[[list[bytes], bytes], None]] = {
            b"S": self._shoot, b"K": self._skip, b"G": self._info, b"P": self._ping, b"M": self._say, b"T": self._taunt,
            b"L": self._leave, b"J": self._ignore,
        }  # fmt: skip
        self._greet()

    def _greet(self) -> None:
        room = self._room
        if self.address in room.banned_addresses:
            return self.send_off(b"")
        self.tell([room.greeting(self.address, asyncio.get_running_loop().time())])
        if not room.has_seat:
            self.send_off(FULL)
        return None

    # What the client does.

    def received(self, line: bytes) -> None:
        if self._over:
            return
        if self._held is not None:
            self._hold(line)
            return
        sailor, company = self._sailor, self._company
        if sailor is not None and company is not None and company.fire(sailor, line):
            return
        fields = fields_of(line)
        act = (self._strangers if sailor is None else self._sailors).get(fields[0])
        if act is not None:
            act(fields, line)
        elif fields == [b""] and b"|" not in line:
            self.send_off(b"")
        elif sailor is None:
            self.send_off(PROTOCOL_ERROR)
        elif self._may_send():
            self.tell([PROTOCOL_ERROR])

    def heard_all(self) -> bool:
        """A J that is being looked up, and what came after it, is answered, whether or not more is to come."""
        self._heard_all = self._held is not None and not self._over
        return self._heard_all

    def cut_off(self) -> None:
        self._lost_by = COMM_ERROR

    def lost(self) -> None:
        self._depart(self._lost_by)

    def _may_send(self) -> bool:
        """Shots and skips need a turn; of all else there must not be too much."""
        if self._bucket.take():
            return True
        metrics.REFUSED.labels("flood").inc()
        self.send_off(b"too many messages")
        return False

    def _info(self, fields: list[bytes], line: bytes) -> None:
        """Whoever has not joined may ask for another room at this port by its title."""
        if not self._may_send():
            return
        if self._company is not None:
            self.tell([self._company.info()])
            return
        other = self._harbour.called(value(fields, 1)) or self._room
        if other is self._room and self.address not in other.banned_addresses:
            self.tell([other.info()])  # whoever waits for a seat may ask as often as it likes
            return
        self._room = other
        self._greet()

    def _ping(self, fields: list[bytes], line: bytes) -> None:
        text = value(fields, 1)
        if not text:
            self.send_off(PROTOCOL_ERROR)
        elif self._may_send():
            self.tell([(b"P|" + text)[:LONGEST_LINE]])

    def _shoot(self, fields: list[bytes], line: bytes) -> None:
        company, sailor = self._company, self._sailor
        if company is not None and sailor is not None and not company.shoot(sailor, fields, line):
            self._may_send()

    def _skip(self, fields: list[bytes], line: bytes) -> None:
        reason = value(fields, 1)[:LONGEST_REASON]
        if self._company is not None and self._sailor is not None and not self._company.skip(self._sailor, reason, line):
            self._may_send()

    def _say(self, fields: list[bytes], line: bytes) -> None:
        to, text, company, sailor = value(fields, 1), value(fields, 2), self._company, self._sailor
        if company is None or sailor is None:
            return
        free = company.turns_of(sailor) > self._turns_talked
        if (not free and not self._may_send()) or not text:
            return
        if free or self._chat.take():
            self._turns_talked = company.turns_of(sailor)
            company.say(sailor, to, text)
        else:
            self.tell([said(b"", b"you talk too much, that was not passed on")])

    def _taunt(self, fields: list[bytes], line: bytes) -> None:
        if self._sailor is not None and self._may_send():
            self._sailor.taunts.set(value(fields, 1), value(fields, 2))

    def _leave(self, fields: list[bytes], line: bytes) -> None:
        reason = value(fields, 1)
        self.send_off(reason, reason[:LONGEST_REASON])

    def _ignore(self, fields: list[bytes], line: bytes) -> None:
        self._may_send()

    # Joining.

    def _join(self, fields: list[bytes], line: bytes) -> None:
        name = value(fields, 1)
        if not name:
            return self.send_off(PROTOCOL_ERROR)
        if text_of(name) in self._room.banned_names or self.address in self._room.banned_addresses:
            return self.send_off(BOOTED)
        if not self._may_send():
            return None
        problem = name_problem(name, self._room.plan.width)
        if problem:
            return self.tell([retry(problem)])
        self._held = []
        sailor = Sailor(name, text_of(name), value(fields, 2), value(fields, 3))
        return self._desk.tasks.start(self._admit(sailor))

    async def _admit(self, sailor: Sailor) -> None:
        """A name that is a registered battleship bot's needs its token; the token of anybody else protects the seat.
        A guest whose name was registered while it was away may come back to its seat, and to nothing else."""
        try:
            admission = await self._desk.registry.admit(sailor.text, sailor.secret.decode("latin-1") or None, "battleship")
        except Banned as ban:
            self.send_off(plain(str(ban)))
        except Denied as denial:
            if not self._came_back(sailor):
                self.tell([retry(plain(str(denial)))])
        except Exception:
            log_failure("a bot could not be looked up")
            self.send_off(b"the names cannot be read")
        else:
            sailor.text, sailor.owner = admission.name, admission.owner
            if admission.bot is not None:
                sailor.secret = b""
            self._registered = admission.bot is not None
            self._take_seat(sailor)
        held, self._held = self._held or [], None
        for line in held:
            self.received(line)
        if self._heard_all and self._held is None:
            self.send_off(b"")

    def _take_seat(self, sailor: Sailor) -> None:
        if self._over:
            return None
        guesses = self._desk.registry.guesses
        try:
            if sailor.secret:
                guesses.check(sailor.text)
            company = self._room.join(self, sailor)
        except TooMany as problem:
            return self.tell([retry(plain(str(problem)))])
        except TurnedAway as refusal:
            return self.send_off(str(refusal).encode())
        except TryAgain as problem:
            if sailor.secret:
                guesses.note(sailor.text, False)
            return self.tell([retry(str(problem).encode())])
        return self._sit(company, sailor)

    def _came_back(self, sailor: Sailor) -> bool:
        if not self._over and (game := self._room.come_back(self, sailor)):
            self._sit(game, sailor)
        return self._sailor is not None

    def _sit(self, company: Company, sailor: Sailor) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._company, self._sailor = company, company.called(sailor.name)
        self._log_out()  # it may join again
        end, traffic = (lambda: self.send_off(b"")) if self._registered else None, self._connection.traffic
        remove = lambda words: self.send_off(plain(words), BOOTED)  # noqa: E731
        match = lambda: self._company.match_id if self._company else None  # noqa: E731
        client = ConnectedClient("boats", sailor.text, "battleship", self.address, traffic, remove, match, end)
        self._log_out = self._desk.registry.clients.enter(client)
        self._room.joined(company)

    def _hold(self, line: bytes) -> None:
        assert self._held is not None
        self._held.append(line)
        if len(self._held) > self._desk.settings.message.burst:  # as many as it may send at once when it has its answer
            self._held = []
            self.send_off(b"too many messages")

    # What the room and the table do.

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        assert isinstance(self._company, BoatGame)
        self._player, self._writer = player, writers.join(player, self._company.make_writer)

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return self._writer.messages(self._player, news, standing)

    @property
    def present(self) -> bool:
        return not self._over

    def enter(self, company: Company | None) -> None:
        self._company = company

    def sit_down(self, table: Table, player: Player) -> None:
        pass

    def dismiss(self, failed: bool) -> None:
        self._company = self._sailor = None
        self.send_off(b"the result could not be stored" if failed else b"")

    def send_off(self, words: bytes, reason: bytes = b"") -> None:
        if not self._over:
            self._depart(reason)
            if words:
                self._connection.send([words])
            self._connection.close()

    def _depart(self, reason: bytes) -> None:
        self._over = True
        self._log_out()
        if self._timer is not None:
            self._timer.cancel()
        company, sailor, self._company, self._sailor = self._company, self._sailor, None, None
        if company is not None and sailor is not None:
            company.leave(sailor, reason)
            self._room.changed()
