"""BoatGame: a boat game that runs, and those at its table who are on lines."""

import asyncio
from collections.abc import Sequence

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.server.boats.company import Client, Company, Sailor
from botdrome.server.lobby.house import HouseSeat
from botdrome.server.tables.floor import Floor
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.boats.crew import Crew
from botdrome.wire.boats.lines import (
    COMM_ERROR,
    DISCONNECTED,
    FINISHED,
    NOT_STARTED,
    NOT_YOUR_TURN,
    Aim,
    Refusal,
    aimed,
    joined,
    said,
)
from botdrome.wire.boats.offer import Offer
from botdrome.wire.boats.talk import BoatTalk
from botdrome.wire.match_header import MatchHeader


class BoatGame(Company):
    """The sailors are in the order of their turns, which is that of the match's players."""

    started = True

    def __init__(self, offer: Offer, number: int, sailors: Sequence[Sailor], table: Table, chance: Chance) -> None:
        super().__init__(offer, number, sailors)
        self.table = table
        self.crew = Crew([sailor.name for sailor in sailors], [sailor.taunts for sailor in sailors], chance)
        self._aim = Aim(self.crew.names, offer.width, offer.height)
        self._placed = False
        for player, sailor in enumerate(self.sailors):
            sailor.player = player

    def make_writer(self, _: MatchHeader) -> BoatTalk:
        return BoatTalk(self.crew)

    @property
    def match_id(self) -> str | None:
        return self.table.entry.id

    @property
    def position(self) -> Battleship:
        position = self.table.match.position
        assert isinstance(position, Battleship)
        return position

    def turns_of(self, sailor: Sailor) -> int:
        return self.position.turns[sailor.player]

    @property
    def shown(self) -> Battleship:
        """The position that everybody was last told of."""
        position = self.table.shown
        assert isinstance(position, Battleship)
        return position

    @property
    def absent(self) -> list[Sailor]:
        return [sailor for sailor in self.sailors if sailor.client is None and sailor.on_lines]

    def begin(self, floor: Floor) -> None:
        """Whoever came by lines brought its fleet along: it is placed as soon as the match asks for it."""
        self.table.subscribe(Subscriber(changed=self._place_fleets))
        for sailor in self.sailors:
            if sailor.house is not None:
                HouseSeat(floor.workers, self.table, sailor.player, sailor.house).sit_down()
        floor.start_table(self.table, [sailor.client or sailor.guest for sailor in self.sailors], 0.0)

    def _place_fleets(self) -> None:
        if self._placed:
            return
        self._placed = True
        for sailor in self.sailors:
            if sailor.on_lines:
                line = b"%b|%b" % (joined(sailor.name), sailor.board)
                self.table.submit(sailor.player, {"board": sailor.board.decode()}, line)

    # What players do.

    def fire(self, sailor: Sailor, line: bytes) -> bool:
        table, player = self.table, sailor.player
        match = table.match
        if match.awaited != [player] or not self.crew.started:
            return False
        position = match.position
        assert isinstance(position, Battleship)
        raw = self._aim.plain(line, player, position)
        if raw is None:
            return False
        table.submit(player, raw, line)
        return True

    def shoot(self, sailor: Sailor, fields: list[bytes], line: bytes) -> bool:
        crew, table, player = self.crew, self.table, sailor.player
        try:
            if not crew.started or player not in table.match.awaited:
                self._check_turn(sailor)
            move = aimed(fields, crew.names, player, self.position)
        except Refusal as refusal:
            return self._refuse(sailor, refusal, line)
        table.submit(player, move, line)
        return True

    def skip(self, sailor: Sailor, reason: bytes, line: bytes) -> bool:
        try:
            self._check_turn(sailor)
        except Refusal as refusal:
            return self._refuse(sailor, refusal, line)
        self.crew.skip_reason = reason
        self.table.submit(sailor.player, {"skip": True}, line)
        return True

    def _check_turn(self, sailor: Sailor) -> None:
        match = self.table.match
        if match.result is not None:
            raise Refusal(FINISHED)
        if not self.crew.started:
            raise Refusal(NOT_STARTED)
        if sailor.player not in match.awaited:
            raise Refusal(NOT_YOUR_TURN)

    def _refuse(self, sailor: Sailor, refusal: Refusal, line: bytes) -> bool:
        """Whoever is still to move is told so again: some would wait for it for ever."""
        lines = [said(b"", refusal.words)]
        if self.crew.started and sailor.player in self.table.match.awaited:
            lines.append(b"N|" + sailor.name)
        self.table.note(sailor.player, line, f"refused: {refusal}")
        sailor.tell(lines)
        return False

    def leave(self, sailor: Sailor, reason: bytes) -> None:
        sailor.client, sailor.lost_at = None, asyncio.get_running_loop().time()
        self.crew.statuses[sailor.player] = reason or DISCONNECTED
        if self.table.open:
            self.table.leave(sailor.player)

    def lost_connection(self, sailor: Sailor) -> bool:
        """It left without saying why."""
        return self.crew.statuses[sailor.player] in (DISCONNECTED, COMM_ERROR)

    def rejoin(self, sailor: Sailor, client: Client) -> bool:
        """Whether the seat could be taken again."""
        sailor.client = client
        client.enter(self)
        if self.table.open and self.table.rejoin(sailor.player, client):
            client.sit_down(self.table, sailor.player)
            return True
        sailor.client = None
        client.enter(None)
        return False

    # What the host does.

    def skip_turn(self, reason: bytes) -> bytes:
        """The turn of whoever has it is over; its name, or nothing if it is nobody's turn."""
        match = self.table.match
        if not self.crew.started or not match.awaited:
            return b""
        player = match.awaited[0]
        self.crew.skip_reason = reason
        self.table.submit(player, {"skip": True}, b"skipped by the host")
        return self.crew.names[player]

    def abort(self) -> None:
        self.table.abort("the host ended the game")
