"""ContestGames: the matches of contests that have players on lines.

A room sets them, since its players know its settings.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from botdrome.server.boats.players import ContestWait, NameInUse, RoomPlayer
from botdrome.server.contests.contest_player import ContestPlayer, ContestTable
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.gathering import GatheredPlayer, open_table
from botdrome.server.lobby.house import house_bot
from botdrome.store.contest_journal import ContestRefusal
from botdrome.wire.boats.lines import display_name, joined, left, plain

if TYPE_CHECKING:
    from botdrome.server.boats.room import BoatRoom


class ContestGames:
    rank = 1

    def __init__(self, room: "BoatRoom", desk: Desk) -> None:
        self._room, self._desk = room, desk
        self._waits: dict[str, ContestWait] = {}
        """By the names of their players."""
        if desk.contest_queue is not None:
            desk.contest_queue.on_change.append(self._call_in)

    def _call_in(self) -> None:
        """Let the entrants of a contest that has begun wait for it, if they wait for a
        game here.
        """
        gathering = self._room.gathering
        for player in (
            [] if gathering is None else [one for one in gathering.players if one.on_lines]
        ):
            wait = None
            with suppress(NameInUse):  # it waits already, or the contest does not allow its version
                wait = self.wait_of(player)
            if wait is not None and gathering is not None:
                gathering.players.remove(player)
                gathering.tell_others(player, [left(player.name, b"")])
                wait.players.append(player)
                player.wait = wait
                self.arrive(wait)

    def wait_of(self, player: RoomPlayer) -> ContestWait | None:
        """Return the wait of a player that is expected in a contest with the settings of this room,
        or raise NameInUse.
        """
        if player.text in self._waits:
            raise NameInUse("name in use")
        queue, plan = self._desk.contest_queue, self._room.plan
        sizes, who = range(plan.min, plan.max + 1), (player.text, player.owner, player.version)
        try:
            return (
                ContestWait(self._room.offer, 0)
                if queue is not None and queue.expects(plan.game, sizes, *who)
                else None
            )
        except ContestRefusal as problem:
            raise NameInUse(plain(str(problem)).decode()) from None

    def arrive(self, wait: ContestWait) -> None:
        """The player has joined and was told so: its match may begin now."""
        (player,) = wait.players
        queue = self._desk.contest_queue
        assert queue is not None
        self._waits[player.text] = wait
        plan, sizes = self._room.plan, range(self._room.plan.min, self._room.plan.max + 1)
        leave = queue.hold(
            plan.game, sizes, player.text, player.owner, player.version, self, wait.abort
        )
        wait.on_leave = partial(self._leave, player.text, leave)

    def _leave(self, name: str, leave: Callable[[], None]) -> None:
        self._waits.pop(name, None)
        leave()

    def open_for_contest(self, plan: ContestTable, players: Sequence[ContestPlayer]) -> None:
        room = self._room
        sitters: list[RoomPlayer] = []
        for player in players:
            sitters.append(self._sitter(player, {one.name for one in sitters}))
        gathered = [
            GatheredPlayer(player.text, player.owner, house=player.house) for player in sitters
        ]
        table = open_table(
            self._desk, plan.game, plan.terms, plan.options, gathered, plan.contest, plan.seed
        )
        plan.prepare(table)
        for sitter in sitters:
            sitter.tell([joined(other.name) for other in sitters if other is not sitter])
        room.begin(sitters, table)

    def _sitter(self, player: ContestPlayer, taken: set[bytes]) -> RoomPlayer:
        if isinstance(player.opener, ContestGames):
            return player.opener.release(player.name)
        sitter = RoomPlayer(
            display_name(player.name.removeprefix("house:"), self._room.plan.width, taken),
            player.name,
        )
        sitter.owner, sitter.native = player.owner, player.take()
        if (
            player.is_house
            and (bot := house_bot(self._room.plan.game.name, player.name)) is not None
        ):
            sitter.house = bot[1]
        return sitter

    def release(self, name: str) -> RoomPlayer:
        """Take a player out of its wait."""
        player = self._waits.pop(name).players.pop()
        player.wait = None
        return player
