"""BoatsClient: a player's connection to a game of Xterm Boat Sinker, for a person or a bot."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec import Struct

from botdrome.bots.house import HouseBot
from botdrome.client.boats_game import (
    LogMessage,
    NotPossible,
    Phase,
    RandomFleets,
    TrackedGame,
    given_fleet,
    join,
    leave,
    shoot,
    skip,
)
from botdrome.games.battleship import HIT, MISS, WATER, rows_of, squares_from
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.wire.boats.lines import LONGEST_HEARD, PORT, OfferedGame, line_of
from botdrome.wire.framing.streams import Lines

# BotPlayer: lets a house bot play Xterm Boat Sinker: native views in, lines out.

ATTEMPTS = 3
"""Shots that are refused before the bot skips."""


class BotPlayer:
    def __init__(self, bot: HouseBot, seed: int) -> None:
        self._bot = bot
        self._chance = Chance(seed)
        self._refused = 0
        """Refusals that the bot has answered."""
        self._repeats = 0
        """Turns that a server may announce again although the bot has already retried."""
        self._attempts = 0

    def begin_again(self) -> None:
        """Prepare for a new connection."""
        self._repeats = self._attempts = 0

    def place(self, offer: OfferedGame) -> str:
        """Ask the bot for its fleet."""
        return squares_from(
            self._bot(placement_view(offer), self._chance)["board"], offer.width, offer.height
        )

    def on_line(self, boats: TrackedGame, kind: bytes) -> bytes | None:
        """Return the bot's answer to a line of this kind that the game has just heard, if it has
        one.

        The original servers refuse a shot and wait; others also announce the turn again. A bot that
        has retried after the refusal ignores that announcement.
        """
        if kind == b"M" and boats.refused > self._refused:
            self._refused = boats.refused
            self._repeats += 1
            return self._move(boats) if boats.my_turn and not boats.spent else None
        if kind != b"N":
            return None
        if not boats.my_turn:
            self._repeats = self._attempts = 0
            return None
        if self._repeats:
            self._repeats -= 1
            boats.spent = True
            return None
        return self._move(boats)

    def _move(self, boats: TrackedGame) -> bytes:
        self._attempts += 1
        if self._attempts > ATTEMPTS:
            return skip(boats)
        return line_for(boats, self._bot(view_of(boats), self._chance))


def line_for(boats: TrackedGame, move: Raw) -> bytes:
    """Write a native move as a line; an impossible shot becomes a skip."""
    if move.get("skip"):
        return skip(boats)
    names = list(boats.players)
    target = move.get("target", 1 - names.index(boats.me))
    try:
        return shoot(boats, boats.players[names[target]], move["x"], move["y"])
    except NotPossible:
        return skip(boats)


def placement_view(offer: OfferedGame) -> View:
    """Return the native view before the fleets are placed, for the player that joined last."""
    players = max(offer.joined + 1, offer.least, 2)
    blank = (WATER * offer.width,) * offer.height
    nothing = (0,) * players
    return _size(offer) | {
        "you": offer.joined, "toMove": tuple(range(players)), "phase": "placement", "round": 0,
        "boards": (blank,) * players, "own": None, "fleets": None, "placed": (False,) * players,
        "scores": nothing, "skips": nothing, "turns": nothing, "last": None,
    }  # fmt: skip


def view_of(boats: TrackedGame) -> View:
    """Return the native view of this player."""
    players, names = list(boats.players.values()), list(boats.players)
    you = names.index(boats.me) if boats.me in names else None
    ahead = names.index(boats.to_move) if boats.to_move in names else 0
    rounds = _rounds(boats, ahead)
    return _size(boats.game) | {
        "you": you,
        "toMove": (ahead,) if boats.to_move in names else (),
        "phase": "shooting",
        "round": rounds,
        "boards": tuple(rows_of(_masked(player.board), boats.game.width) for player in players),
        "own": None if you is None else own_rows(boats),
        "fleets": None,
        "placed": (True,) * len(names),
        "scores": tuple(player.score for player in players),
        "skips": tuple(player.skips for player in players),
        "turns": (rounds + 1,) * ahead + (rounds,) * (len(names) - ahead),
        "last": _last(boats, names),
    }


def _size(offer: OfferedGame) -> View:
    """Lines do not name a limit of rounds: 0."""
    width, height, boats = offer.width, offer.height, offer.boats.names
    return {"width": width, "height": height, "boats": boats, "goal": offer.goal, "rounds": 0}


def _masked(board: str) -> str:
    """Replace marks that servers let through but that cannot be shot at: letters by hits, others by
    misses.
    """
    if board.strip(WATER + HIT + MISS) == "":
        return board
    return "".join(
        mark if mark in WATER + HIT + MISS else HIT if mark.isalpha() else MISS for mark in board
    )


def _rounds(boats: TrackedGame, ahead: int) -> int:
    """Count the rounds from marks and skips.

    Some skips are told late, so a round counts once one of its turns is known.
    """
    marks = sum(
        len(player.board) - player.board.count(WATER) + player.skips
        for player in boats.players.values()
    )
    return max(0, -(-(marks - ahead) // len(boats.players)))


def own_rows(boats: TrackedGame) -> tuple[str, ...]:
    """Return the player's board with its boats, lower case where hit."""
    fleet = boats.fleet or WATER * boats.game.squares
    marks = (
        boats.players[boats.me].board if boats.me in boats.players else WATER * boats.game.squares
    )
    squares = (
        boat.lower()
        if mark == HIT and boat != WATER
        else mark
        if mark == HIT or boat == WATER
        else boat
        for boat, mark in zip(fleet, marks, strict=True)
    )
    return rows_of("".join(squares), boats.game.width)


def _last(boats: TrackedGame, names: list[str]) -> View | None:
    last = boats.last
    if last is None or last.shooter not in names:
        return None
    shooter = names.index(last.shooter)
    if last.target not in names:
        return {"shooter": shooter, "skip": True}
    y, x = divmod(last.square, boats.game.width)
    return {"shooter": shooter, "target": names.index(last.target), "x": x, "y": y, "hit": last.hit}


JOINED = (Phase.WAITING, Phase.PLAYING)
CONNECT_TIMEOUT = 10.0
"""Seconds."""

log = logging.getLogger(__name__)


class ClientOptions(Struct, frozen=True):
    """The options of the player, from the command line."""

    host: str = "127.0.0.1"
    port: int = PORT
    user: str = ""
    token: str = ""
    room: str = ""
    """Title of the game to join; empty: the first that the server offers."""
    fleet: str = ""
    """The player's board, row by row; empty: random, or the bot's own."""
    border: int | None = None
    """Percent of their border that the boats of a random board have free; None: any."""
    taunts: Sequence[bytes] = ()
    rejoin: bool = False
    """The player has a seat in a game that has started."""


class LineConnection(asyncio.Protocol):
    def __init__(
        self,
        on_line: Callable[[bytes], None],
        on_batch: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        self._on_line, self._on_batch, self._on_end = on_line, on_batch, on_end
        self._lines = Lines(LONGEST_HEARD)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
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


class BoatsClient:
    """Calls `tell` with the new messages after each batch of lines, and `lost` when the connection
    has ended.
    """

    def __init__(
        self, options: ClientOptions, bot_player: BotPlayer | None, chance: Chance
    ) -> None:
        self.options, self.bot_player, self.chance = options, bot_player, chance
        self.boats = TrackedGame()
        self.boats.returning = options.rejoin
        self.name = options.user
        """Name to join with."""
        self.tell: Callable[[list[LogMessage]], None] | None = None
        self.lost: Callable[[], None] | None = None
        self.problem = ""
        """Why the player's own options do not fit the game."""
        self._at_once = bot_player is not None
        """Join as soon as the server offers its game."""
        self._asked_for_room = False
        self._connection: LineConnection | None = None
        self._said: list[LogMessage] = []
        self.has_joined = False

    @property
    def connected(self) -> bool:
        return self._connection is not None and self._connection.open

    async def connect(self) -> None:
        """Connect, or raise OSError."""
        if self.bot_player:
            self.bot_player.begin_again()
        self.boats.begin_again()
        self._asked_for_room = False
        loop = asyncio.get_running_loop()
        connection = LineConnection(self._hear, self._batch, self._end)
        async with asyncio.timeout(CONNECT_TIMEOUT):
            await loop.create_connection(lambda: connection, self.options.host, self.options.port)
        self._connection = connection
        log.info("connected to %s, port %d", self.options.host, self.options.port)

    async def rejoin(self) -> None:
        """Return to the game over a new connection, or raise OSError."""
        self._at_once = True
        await self.connect()

    def forget_seat(self) -> None:
        """Give up the seat in the last game: the next game is joined like the first."""
        self.boats.returning = self.has_joined = False
        self.boats.fleet, self._at_once = "", self.bot_player is not None

    async def join(self, name: str) -> None:
        """Join with the chosen fleet, over a new connection if the server has closed.

        Raises OSError or NotPossible.
        """
        self.name = name
        if self.connected and self.boats.phase is Phase.OFFERED:
            self.send(join(self.boats, name, self.options.token))
        elif not self.connected:
            await self.rejoin()

    def send(self, line: bytes) -> None:
        if self._connection is not None:
            log.debug("sent %r", line)
            self._connection.send(line)

    def leave(self) -> None:
        if self.connected and self.boats.phase in JOINED:
            self.send(leave())
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def fleet(self) -> str:
        """Return the board of a player that does not choose one, or raise NotPossible."""
        summary, options = self.boats.game, self.options
        if options.fleet:
            return given_fleet(options.fleet, summary)
        if self.bot_player is None or options.border is not None:
            return RandomFleets(summary, options.border or 0).draw(self.chance)
        return self.bot_player.place(summary)

    def _hear(self, line: bytes) -> None:
        log.debug("received %r", line)
        before = self.boats.phase
        self._said += self.boats.hear(line)
        kind = line.partition(b"|")[0].strip()
        if kind == b"G" and self.boats.phase is Phase.OFFERED and not self._in_room():
            return
        if self.boats.phase is Phase.OFFERED and self._at_once:
            self._join_at_once()
        elif before is Phase.JOINING and self.boats.phase in JOINED:
            self._joined()
        if self.bot_player and (answer := self.bot_player.on_line(self.boats, kind)):
            self.send(answer)

    def _in_room(self) -> bool:
        """Return whether the offered game is the wanted one; ask the server for that one once."""
        room, title = self.options.room, self.boats.game.title
        if not room or title == room:
            return True
        if self._asked_for_room:
            self.problem = f"the server has no game {room!r}, only {title!r}"
        else:
            self._asked_for_room = True
            self.send(line_of("G", room))
        self.boats.phase = Phase.CONNECTING
        return False

    def _join_at_once(self) -> None:
        """Join without asking.

        A bot without a given name tries other names when its own is taken.
        """
        boats = self.boats
        may_change = self.bot_player and not self.options.user and not boats.returning
        if boats.refusal and not (may_change and self._other_name()):
            self._at_once = False
            return
        try:
            if not boats.returning:
                boats.fleet = boats.fleet or self.fleet()
            self.send(join(boats, self.name, self.options.token))
        except NotPossible as problem:
            self._at_once, self.problem = False, str(problem)

    def _other_name(self) -> bool:
        """Use the same name with the next number, no longer than the board is wide."""
        word = self.name.rstrip("0123456789")
        number = str(int(self.name[len(word) :] or "1") + 1)
        self.name = word[: self.boats.game.width - len(number)] + number
        return int(number) < 100

    def _joined(self) -> None:
        self._at_once = False
        self.name = self.boats.me
        if not self.has_joined:
            self.has_joined = True
            for line in self.options.taunts:
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


class Reconnection:
    """Retries after a lost connection: at once, then after growing delays, nine times in all."""

    def __init__(self, client: BoatsClient, delays: Sequence[float] = DELAYS) -> None:
        self._client, self._delays = client, delays
        self._left = list(delays)

    async def retry(self) -> bool:
        """Try until a connection is made; return False when all attempts have failed."""
        while self._left:
            await asyncio.sleep(self._left.pop(0))
            try:
                await self._client.rejoin()
            except OSError:
                continue
            return True
        return False

    def reset(self) -> None:
        """Start over with all attempts: the player is in the game again."""
        self._left = list(self._delays)
