"""BoatGame: a boat game that runs, and its players."""

import asyncio
from collections.abc import Callable, Sequence

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.server.boats.players import PlayerGroup, RoomPlayer
from botdrome.server.session import Session
from botdrome.server.tables.running_tables import RunningTables
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.boats.conversation import GameStarts
from botdrome.wire.boats.lines import COMM_ERROR, DISCONNECTED, BoatWriter, Offer, Roster, joined


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
    def position(self) -> Battleship:
        position = self.table.match.position
        assert isinstance(position, Battleship)
        return position

    @property
    def shown(self) -> Battleship:
        """The position that players and spectators were last told of."""
        position = self.table.shown
        assert isinstance(position, Battleship)
        return position

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
