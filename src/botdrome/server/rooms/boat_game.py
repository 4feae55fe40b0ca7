"""A boat game and its players, before it starts and while it runs."""

import asyncio
import hmac
from collections.abc import Callable, Iterable, Sequence

from botdrome.bots.house import HouseBot
from botdrome.games.chance import Chance
from botdrome.match.events import Player
from botdrome.server.lobby.house import GatheredPlayer
from botdrome.server.lobby.owners import NOBODY
from botdrome.server.session import Session
from botdrome.server.tables.running_tables import Candidate, RunningTables
from botdrome.server.tables.table import Subscriber, Table
from botdrome.wire.boats.conversation import GameStarts, Kicked
from botdrome.wire.boats.lines import (
    COMM_ERROR,
    DISCONNECTED,
    BoatWriter,
    Offer,
    Roster,
    Taunts,
    joined,
    left,
    results,
    said,
)


class NameInUse(Exception):
    """A client cannot join under this name, but may try another one."""


class RoomPlayer:
    """A player that has joined.

    One on lines has a session while it is connected; native bots and house bots have none.
    """

    def __init__(self, name: bytes, text: str, board: bytes = b"", secret: bytes = b"") -> None:
        self.name, self.board, self.secret = name, board, secret
        self.owner = NOBODY
        """Owner of the seat. A registered bot has no secret: it has shown its token."""
        self.text = text
        """The name outside of this protocol."""
        self.taunts = Taunts()
        self.session: Session | None = None
        self.native: Candidate | None = None
        self.house: HouseBot | None = None
        self.address = ""
        self.lost_at: float | None = None
        """When its connection was lost, on the loop's clock, while it is expected back."""
        self.player: Player = 0
        self.wait: WaitingGame | None = None
        """Where it waits for a contest that began while it waited for a game."""

    @property
    def gathered(self) -> GatheredPlayer:
        return GatheredPlayer(self.text, self.owner, house=self.house)

    @property
    def on_lines(self) -> bool:
        """It plays by this protocol, connected or not."""
        return self.native is None and self.house is None

    @property
    def version(self) -> str:
        return "" if self.session is None else self.session.version

    def proves_to_be(self, other: "RoomPlayer") -> bool:
        """Return whether it has the secret or the token of the other.

        A player without either proves nothing.
        """
        if other.secret:
            return hmac.compare_digest(other.secret, self.secret)
        return other.owner != NOBODY and other.owner == self.owner

    def is_unprotected(self) -> bool:
        """As in the original, a client with the same name may take its seat."""
        return not self.secret and self.owner == NOBODY

    def tell(self, lines: list[bytes]) -> None:
        if self.session is not None:
            self.session.tell(lines)


class PlayerGroup:
    """The players of one game that gathers or runs. `number` is the host's number for the game."""

    started: bool

    def __init__(self, offer: Offer, number: int, players: Iterable[RoomPlayer] = ()) -> None:
        self.offer, self.number, self.players = offer, number, list(players)

    def info(self) -> bytes:
        return self.offer.info(self.started, len(self.players))

    def called(self, name: bytes) -> RoomPlayer | None:
        return next((player for player in self.players if player.name == name), None)

    def from_address(self, address: str) -> list[RoomPlayer]:
        return [
            player
            for player in self.players
            if player.session is not None and player.address == address
        ]

    def tell_others(self, than: RoomPlayer, lines: list[bytes]) -> None:
        for player in self.players:
            if player is not than:
                player.tell(lines)

    def say(self, sender: RoomPlayer, to: bytes, text: bytes) -> None:
        """Pass a message on to all others, or to one. A message to an unknown player is dropped."""
        if not to:
            return self.tell_others(sender, [said(sender.name, text, to_all=True)])
        receiver = self.called(to)
        if receiver is not None and receiver is not sender:
            receiver.tell([said(sender.name, text)])
        return None

    def announce(self, text: bytes, to: RoomPlayer | None = None) -> None:
        """Tell all players, or one, a message of the server or the host."""
        for player in self.players if to is None else [to]:
            player.tell([said(b"", text, to_all=to is None)])

    def depart(self, player: RoomPlayer, reason: bytes) -> None:
        """A player on lines leaves; the other players get the reason."""
        raise NotImplementedError

    def left(self, player: RoomPlayer) -> None:
        """The session of a player has ended."""
        raise NotImplementedError


class WaitingGame(PlayerGroup):
    """Players that wait for a game to start, in the order in which they joined."""

    started = False

    def join(self, player: RoomPlayer) -> None:
        """The new player's own J is the first line that it gets: clients insist on that."""
        others = [joined(other.name) for other in self.players]
        self.players.append(player)
        player.tell([joined(player.name), *others])
        self.tell_others(player, [joined(player.name)])

    def depart(self, player: RoomPlayer, reason: bytes) -> None:
        wait, player.wait = player.wait, None
        if wait is not None and wait is not self:
            return wait.depart(player, reason)
        player.session = None
        if player in self.players:
            self.players.remove(player)
            self.tell_others(player, [left(player.name, reason)])
        return None

    def left(self, player: RoomPlayer) -> None:
        self.depart(player, b"")

    def abort(self) -> None:
        """The game will not start: tell all players, and close their connections."""
        lines = results(b"aborted", 0, [(player.name, 0, 0, 0, b"") for player in self.players])
        players, self.players = self.players, []
        for player in players:
            session, player.session = player.session, None
            if session is not None:
                session.tell(lines)
                session.answer(Kicked(b""))


class ContestWait(WaitingGame):
    """One player that waits for its next match in a contest."""

    on_leave: Callable[[], None] | None = None
    """Leaves the queue of the contest."""

    def depart(self, player: RoomPlayer, reason: bytes) -> None:
        super().depart(player, reason)
        if self.on_leave is not None:
            self.on_leave()


class BoatGame(PlayerGroup):
    """The players are in turn order, which is that of the match's players."""

    started = True

    def __init__(
        self, offer: Offer, number: int, players: Sequence[RoomPlayer], table: Table, chance: Chance
    ) -> None:
        super().__init__(offer, number, players)
        self.table = table
        self.roster = Roster(
            [player.name for player in players], [player.taunts for player in players], chance
        )
        self._writer = BoatWriter(self.roster)
        self._stop_placing: Callable[[], None]
        for number, player in enumerate(self.players):
            player.player = number

    @property
    def absent(self) -> list[RoomPlayer]:
        return [player for player in self.players if player.session is None and player.on_lines]

    def begin(self, tables: RunningTables) -> None:
        """Players on lines have sent their fleets when they joined; these are placed as soon as the
        match starts.
        """
        self._stop_placing = self.table.subscribe(Subscriber(changed=self._place_fleets))
        for player in self.players:
            if player.session is not None:
                player.session.answer(GameStarts(self._writer))
        tables.start_table(
            self.table, [player.session or player.native for player in self.players], 0.0
        )

    def _place_fleets(self) -> None:
        self._stop_placing()
        for player in self.players:
            if player.on_lines:
                line = b"%b|%b" % (joined(player.name), player.board)
                self.table.submit(player.player, {"board": player.board.decode()}, line)

    # Leaving and returning.

    def depart(self, player: RoomPlayer, reason: bytes) -> None:
        self.roster.statuses[player.player] = reason

    def left(self, player: RoomPlayer) -> None:
        player.session, player.lost_at = None, asyncio.get_running_loop().time()
        self.roster.statuses[player.player] = self.roster.statuses[player.player] or DISCONNECTED

    def lost_connection(self, player: RoomPlayer) -> bool:
        """The player left without a reason."""
        return self.roster.statuses[player.player] in (DISCONNECTED, COMM_ERROR)

    def rejoin(self, player: RoomPlayer, session: Session) -> bool:
        """Give a player its seat back, and return whether the match allows that."""
        if not self.table.open:
            return False
        player.session = session
        session.answer(GameStarts(self._writer))
        if not self.table.rejoin(player.player, session):
            player.session = None
            return False
        session.sit_down(self.table, player.player)
        return True

    # Commands of the host.

    def skip_turn(self, reason: bytes) -> bytes:
        """Skip the present turn, and return the player's name; empty: no player has the turn."""
        match = self.table.match
        if not self.roster.started or not match.awaited:
            return b""
        player = match.awaited[0]
        self.roster.skip_reason = reason
        self.table.submit(player, {"skip": True}, b"skipped by the host")
        return self.roster.names[player]

    def abort(self) -> None:
        self.table.abort("the host ended the game")
