"""Voyage: one player's way through a game of Xterm Boat Sinker: the connection, the game and, if there is one, the bot."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec import Struct

from botdrome.client.boats import Boats, Phase, Said
from botdrome.client.boats_fleet import Draft, given_fleet
from botdrome.client.boats_lines import PORT, Splitter, Unsuited, line_of
from botdrome.client.boats_orders import join, leave
from botdrome.client.boats_pilot import Pilot
from botdrome.games.chance import Chance

ABOARD = (Phase.WAITING, Phase.PLAYING)
PATIENCE = 10.0
"""Seconds for a connection to come about."""

log = logging.getLogger(__name__)


class Charter(Struct, frozen=True):
    """What the player asked for before the voyage."""

    host: str = "127.0.0.1"
    port: int = PORT
    user: str = ""
    token: str = ""
    room: str = ""
    """The title of the game to join, at a server that has several; empty: the one that it shows."""
    fleet: str = ""
    """A board that was given; empty: none was."""
    border: int | None = None
    """How many percent of their border the boats of a random board have free; None: whatever comes."""
    taunts: Sequence[bytes] = ()
    rejoin: bool = False
    """The player has a seat in a game that has started."""


class Link(asyncio.Protocol):
    """A connection: lines come, lines go, and once it ends."""

    def __init__(self, on_line: Callable[[bytes], None], on_batch: Callable[[], None], on_end: Callable[[], None]) -> None:
        self._on_line, self._on_batch, self._on_end = on_line, on_batch, on_end
        self._splitter = Splitter()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self._on_line(line)
        self._on_batch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_end()

    @property
    def open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, line: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Voyage:
    """Tells its audience what was said with every batch of lines, and when the connection has ended."""

    def __init__(self, charter: Charter, pilot: Pilot | None, chance: Chance) -> None:
        self.charter, self.pilot, self.chance = charter, pilot, chance
        self.boats = Boats()
        self.boats.returning = charter.rejoin
        self.name = charter.user
        """The name to join with."""
        self.tell: Callable[[list[Said]], None] | None = None
        self.lost: Callable[[], None] | None = None
        self.problem = ""
        """Why the player cannot go on, as far as that lies with the player."""
        self._at_once = pilot is not None
        """Join as soon as the server shows its game."""
        self._asked_for_room = False
        self._link: Link | None = None
        self._said: list[Said] = []
        self.has_joined = False

    @property
    def connected(self) -> bool:
        return self._link is not None and self._link.open

    async def connect(self) -> None:
        """Or OSError."""
        if self.pilot:
            self.pilot.begin_again()
        self.boats.begin_again()
        self._asked_for_room = False
        loop = asyncio.get_running_loop()
        link = Link(self._hear, self._batch, self._end)
        async with asyncio.timeout(PATIENCE):
            await loop.create_connection(lambda: link, self.charter.host, self.charter.port)
        self._link = link
        log.info("connected to %s, port %d", self.charter.host, self.charter.port)

    async def rejoin(self) -> None:
        """Come back to the game on a new connection; or OSError."""
        self._at_once = True
        await self.connect()

    def forget_seat(self) -> None:
        """The game that there was a seat in is over: the next one is joined like the first."""
        self.boats.returning = self.has_joined = False
        self.boats.fleet, self._at_once = "", self.pilot is not None

    async def join(self, name: str) -> None:
        """With the fleet that is laid out. A server that grew tired of waiting is called again. OSError, Unsuited."""
        self.name = name
        if self.connected and self.boats.phase is Phase.INVITED:
            self.send(join(self.boats, name, self.charter.token))
        elif not self.connected:
            await self.rejoin()

    def send(self, line: bytes) -> None:
        if self._link is not None:
            log.debug("sent %r", line)
            self._link.send(line)

    def leave(self) -> None:
        if self.connected and self.boats.phase in ABOARD:
            self.send(leave())
        self.close()

    def close(self) -> None:
        if self._link is not None:
            self._link.close()

    def fleet(self) -> str:
        """The board for a player who does not choose one; or Unsuited."""
        summary, charter = self.boats.game, self.charter
        if charter.fleet:
            return given_fleet(charter.fleet, summary)
        if self.pilot is None or charter.border is not None:
            return Draft(summary, charter.border or 0).draw(self.chance)
        return self.pilot.place(summary)

    def _hear(self, line: bytes) -> None:
        log.debug("received %r", line)
        before = self.boats.phase
        self._said += self.boats.hear(line)
        kind = line.partition(b"|")[0].strip()
        if kind == b"G" and self.boats.phase is Phase.INVITED and not self._in_room():
            return
        if self.boats.phase is Phase.INVITED and self._at_once:
            self._join_at_once()
        elif before is Phase.JOINING and self.boats.phase in ABOARD:
            self._joined()
        if self.pilot and (answer := self.pilot.on_line(self.boats, kind)):
            self.send(answer)

    def _in_room(self) -> bool:
        """Ask for the room that is wanted, once."""
        room, title = self.charter.room, self.boats.game.title
        if not room or title == room:
            return True
        if self._asked_for_room:
            self.problem = f"the server has no game {room!r}, only {title!r}"
        else:
            self._asked_for_room = True
            self.send(line_of("G", room))
        self.boats.phase = Phase.KNOCKING
        return False

    def _join_at_once(self) -> None:
        """A bot that was given no name tries others when its own is taken; else one refusal is enough."""
        boats = self.boats
        may_change = self.pilot and not self.charter.user and not boats.returning
        if boats.refusal and not (may_change and self._other_name()):
            self._at_once = False
            return
        try:
            if not boats.returning:
                boats.fleet = boats.fleet or self.fleet()
            self.send(join(boats, self.name, self.charter.token))
        except Unsuited as problem:
            self._at_once, self.problem = False, str(problem)

    def _other_name(self) -> bool:
        """The same name with the next number, and as short as the board is wide."""
        word = self.name.rstrip("0123456789")
        number = str(int(self.name[len(word) :] or "1") + 1)
        self.name = word[: self.boats.game.width - len(number)] + number
        return int(number) < 100

    def _joined(self) -> None:
        self._at_once = False
        self.name = self.boats.me
        if not self.has_joined:
            self.has_joined = True
            for line in self.charter.taunts:
                self.send(line)

    def _batch(self) -> None:
        said, self._said = self._said, []
        if self.tell:
            self.tell(said)

    def _end(self) -> None:
        log.info("the connection has ended; the game: %s", self.boats.phase.value)
        self._batch()
        if self.lost:
            self.lost()


DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0)


class WayBack:
    """Attempts to come back into a game whose connection broke: at once, then ever later, then no more."""

    def __init__(self, voyage: Voyage, delays: Sequence[float] = DELAYS) -> None:
        self._voyage, self._delays = voyage, delays
        self._left = list(delays)

    async def take(self) -> bool:
        """Until a connection stands; False: there was none."""
        while self._left:
            await asyncio.sleep(self._left.pop(0))
            try:
                await self._voyage.rejoin()
            except OSError:
                continue
            return True
        return False

    def renew(self) -> None:
        """The player is aboard again."""
        self._left = list(self._delays)
