"""BoatRoom: boat games with the same settings; one waits for players, any number run."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import cast

from botdrome.contest.lobby import Seeker
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer
from botdrome.server.rooms.boat_game import (
    BoatGame,
    ContestWait,
    NameInUse,
    PlayerGroup,
    RoomPlayer,
    WaitingGame,
)
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boat_statistics import (
    BoatStatistics,
    CountedGame,
    CountedPlayer,
    plan_lines,
    tally_of,
)
from botdrome.server.rooms.room import Room, TableRules
from botdrome.server.session import Session
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.contest_journal import ContestRefusal
from botdrome.store.entries import Note
from botdrome.wire.boats.lines import (
    BAD_BOARD,
    FULL,
    STARTED,
    display_name,
    is_fleet,
    joined,
    left,
    plain,
)

EXPECTED_BACK = 60.0
"""Seconds in which a player that lost its connection is likely to come back."""


class JoinDenied(Exception):
    """A client cannot join; the text is its last message."""


def table_rules(settings: BoatRoomSettings) -> TableRules:
    return TableRules(
        settings.game, settings.terms, settings.options, range(settings.min, settings.max + 1)
    )


class BoatRoom(Room):
    house = True

    def __init__(self, settings: BoatRoomSettings, desk: Desk, statistics: BoatStatistics) -> None:
        super().__init__(desk, table_rules(settings))
        self.settings, self.offer, self._statistics = settings, settings.offer, statistics
        self.games: list[BoatGame] = []
        self._seats: dict[bytes, list[tuple[BoatGame, RoomPlayer]]] = {}
        """The seats in these games, by the names of their players: a room may have many games."""
        self.banned_names: set[str] = set()
        """Names as text."""
        self.banned_addresses: set[str] = set()
        self._opened = 1
        self.gathering: WaitingGame | None = WaitingGame(self.offer, self._opened)
        """The game that can be joined; None: there is none now."""
        self.on_change: set[Callable[[], None]] = set()
        self._closed = False
        self.chance = Chance(secrets.randbits(SEED_BITS))
        self._house_at_latest = 0.0
        """When house bots take the free seats, even if more players join."""
        self._contest_waits: dict[str, ContestWait] = {}
        """By the names of their players."""
        self.follow()
        desk.fillers.append(self._fill)

    def change(self, settings: BoatRoomSettings) -> bool:
        """Change the settings for the next games.

        Return False if players have joined under the old ones.
        """
        if self.gathering is not None and self.gathering.players:
            return False
        self.settings, self.offer, self.rules = settings, settings.offer, table_rules(settings)
        if self.gathering is not None:
            self.gathering = WaitingGame(self.offer, self.gathering.number)
        self._open_next()
        self.changed()
        return True

    @property
    def groups(self) -> Iterator[PlayerGroup]:
        if self.gathering is not None:
            yield self.gathering
        yield from self.games

    def info(self) -> bytes:
        """Return the line G for clients that have not joined."""
        group = next(self.groups, None)
        return self.offer.info(True, 0) if group is None else group.info()

    def greeting(self, address: str, now: float) -> bytes:
        """Return the line G for a new connection. A client of the original that is shown a started
        game returns to its seat, so an address that lost a player is shown that game once.
        """
        for game in self.games:
            for seat in game.absent:
                lately = seat.lost_at is not None and now - seat.lost_at < EXPECTED_BACK
                if (
                    lately
                    and seat.address == address
                    and seat.is_unprotected()
                    and game.lost_connection(seat)
                ):
                    seat.lost_at = None
                    return game.info()
        return self.info()

    @property
    def is_full(self) -> bool:
        """No client can join or return.

        A game that has started is not full: its players may return.
        """
        gathering = self.gathering
        if gathering is None:
            return self.over
        return len(gathering.players) >= self.settings.max and not any(
            game.absent for game in self.games
        )

    @property
    def over(self) -> bool:
        """No game runs, and none will."""
        return self.gathering is None and not self.games

    # How players join.

    def join(self, session: Session, player: RoomPlayer) -> PlayerGroup:
        """Join the next game, or return to a seat.

        Raises JoinDenied or NameInUse; the checks have the original's order.
        """
        if self.is_full:
            raise JoinDenied(FULL.decode())
        if game := self._rejoined(session, player):
            return game
        gathering = self.gathering
        if gathering is None:
            raise JoinDenied(STARTED.decode())
        if len(gathering.players) >= self.settings.max:
            raise JoinDenied(FULL.decode())
        if not is_fleet(
            player.board, self.settings.boats, self.settings.width, self.settings.height
        ):
            raise JoinDenied(BAD_BOARD.decode())
        if refusal := self.desk.refusal:
            raise JoinDenied(refusal)
        player.session, player.address = session, session.connection.address
        if self._is_expected(player):
            wait = ContestWait(self.offer, 0)
            wait.join(player)
            return wait
        gathering.join(player)
        if self.desk.settings.house.fill and self.settings.auto_start:
            self._wait_for_house(len(gathering.players))
        return gathering

    def _wait_for_house(self, players: int) -> None:
        """The wait restarts with each player that joins, but clients that join and leave cannot
        prolong the wait of the others without end.
        """
        now, wait = self._loop.time(), self.settings.house_wait
        if players == 1:
            self._house_at_latest = now + wait * (self.settings.max - 1)
        self.set_timer(min(now + wait, self._house_at_latest), self.wait_is_over)

    def _rejoined(self, session: Session, player: RoomPlayer) -> BoatGame | None:
        """Return the game to which the player has returned. A client that brings a fleet joins the
        next game, if there is one, unless a free seat is provably its own or its connection was
        lost: clients of the original send their fleet again.
        """
        nobodys = self._unprotected_seats(session, player)
        own = self._return_to_own(session, player) or self._return_to(
            [(game, seat) for game, seat in nobodys if game.lost_connection(seat)], session
        )
        if own is not None:
            return own
        gathering = self.gathering
        if gathering is not None and any(
            player.text == other.text or player.name == other.name for other in gathering.players
        ):
            raise NameInUse("name in use")
        if (gathering is not None and player.board.strip(b".")) or player.name not in self._seats:
            return None
        again = self._return_to(nobodys, session)
        if again is None:
            raise NameInUse("name in use")
        return again

    def come_back(self, session: Session, player: RoomPlayer) -> BoatGame | None:
        """Return to the seat of a guest whose name is now a registered bot's."""
        return self._return_to_own(session, player) or self._return_to(
            self._unprotected_seats(session, player), session
        )

    def _return_to_own(self, session: Session, player: RoomPlayer) -> BoatGame | None:
        seats = self._seats.get(player.name, [])
        return self._return_to(
            [(game, seat) for game, seat in seats if player.proves_to_be(seat)], session
        )

    def _unprotected_seats(
        self, session: Session, player: RoomPlayer
    ) -> list[tuple[BoatGame, RoomPlayer]]:
        """Seats under the player's name without a secret.

        Only clients from the address of the player that left may have them.
        """
        seats = self._seats.get(player.name, []) if player.is_unprotected() else []
        address = session.connection.address
        return [
            (game, seat)
            for game, seat in seats
            if seat.is_unprotected() and seat.address == address
        ]

    def _return_to(
        self, seats: list[tuple[BoatGame, RoomPlayer]], session: Session
    ) -> BoatGame | None:
        """Take the first of these seats that is free, and return its game."""
        for game, seat in seats:
            if seat in game.absent:
                seat.address = session.connection.address
                if game.rejoin(seat, session):
                    return game
        return None

    def joined(self, group: PlayerGroup) -> None:
        """A client has joined and was told so: start the game if it is full."""
        self.changed()
        if isinstance(group, ContestWait):
            self._enter_contests(group)
        elif group is self.gathering:
            self.start_if_full()

    # How a game fills.

    @property
    def names(self) -> set[str]:
        return set() if self.gathering is None else {one.text for one in self.gathering.players}

    @property
    def gathers(self) -> bool:
        gathering = self.gathering
        return self.settings.auto_start and gathering is not None and bool(gathering.players)

    def complete(self, others: Sequence[GatheredPlayer]) -> None:
        game = self.gathering
        assert game is not None
        for other in others:
            player = self._from_elsewhere(other, game.players)
            game.players.append(player)
            game.tell_others(player, [joined(player.name)])
        self.start()

    def _from_elsewhere(self, other: GatheredPlayer, players: Iterable[RoomPlayer]) -> RoomPlayer:
        """Return a player that is not on lines, under a name that differs from those of these
        players. House bots have no numbers, since names are short.
        """
        name = other.name
        if other.house is not None:
            name = name.removeprefix("house:").partition(" ")[0]
        taken = {player.name for player in players}
        player = RoomPlayer(display_name(name, self.settings.width, taken), other.name)
        player.owner, player.native, player.house = other.owner, other.client, other.house
        return player

    def _fill(self, seeker: Seeker, ask_again: Callable[[], None]) -> bool:
        """Seat a native bot that has waited long enough for house bots, if that makes a game; or
        let it wait with the players.
        """
        game = self.gathering
        if not self.gathers or seeker not in self.waiting():
            return False
        if self._timer is not None:
            self._loop.call_at(self._timer.when(), ask_again)
            return True
        self.wait_is_over()
        return game is not self.gathering

    # Contests.

    def _is_expected(self, player: RoomPlayer) -> bool:
        """Return whether a player is expected in a contest, or raise NameInUse."""
        if player.text in self._contest_waits:
            raise NameInUse("name in use")
        try:
            return self.expects(player.text, player.owner, player.version)
        except ContestRefusal as problem:
            raise NameInUse(plain(str(problem)).decode()) from None

    def _enter_contests(self, wait: ContestWait) -> None:
        """The player has joined and was told so: its match may begin now."""
        (player,) = wait.players
        self._contest_waits[player.text] = wait
        leave = self.hold(player.text, player.owner, player.version, wait.abort)
        wait.on_leave = partial(self._leave_contests, player.text, leave)

    def _leave_contests(self, name: str, leave: Callable[[], None]) -> None:
        self._contest_waits.pop(name, None)
        leave()

    def contests_changed(self) -> None:
        """Let the entrants of a contest that has begun wait for it, if they wait for a game
        here.
        """
        gathering = self.gathering
        if gathering is None:
            return
        for player in [one for one in gathering.players if one.on_lines]:
            with suppress(NameInUse):  # it waits already, or the contest does not allow its version
                if self._is_expected(player):
                    gathering.players.remove(player)
                    gathering.tell_others(player, [left(player.name, b"")])
                    wait = player.wait = ContestWait(self.offer, 0, [player])
                    self._enter_contests(wait)

    def open_for_contest(self, wanted: ContestTable, players: Sequence[ContestPlayer]) -> None:
        sitters: list[RoomPlayer] = []
        for player in players:
            if isinstance(player.opener, BoatRoom):
                sitters.append(player.opener.release(player.name))
            else:
                other = player.gathered(wanted.game.name)
                sitters.append(self._from_elsewhere(other, sitters))
        gathered = [sitter.gathered for sitter in sitters]
        table = self.contest_table(wanted, wanted.terms, gathered)
        for sitter in sitters:
            sitter.tell([joined(other.name) for other in sitters if other is not sitter])
        self.begin(sitters, table)

    def release(self, name: str) -> RoomPlayer:
        """Take a player out of its wait for a contest."""
        player = self._contest_waits.pop(name).players.pop()
        player.wait = None
        return player

    # How a game goes.

    def start(self) -> BoatGame | None:
        """Start the waiting game; None: it has too few players."""
        gathering = self.gathering
        if gathering is None or self.desk.refusal:
            return None
        players = gathering.players
        if len(players) not in self.rules.sizes:
            return None
        self.chance.shuffle(players)
        table = self.set_table([player.gathered for player in players])
        self.gathering = None
        return self.begin(players, table, gathering.number)

    def begin(self, players: list[RoomPlayer], table: Table, number: int = 0) -> BoatGame:
        """Begin a game at a table."""
        game = BoatGame(self.offer, number, players, table, Chance(secrets.randbits(SEED_BITS)))
        table.subscribe(
            Subscriber(
                changed=self.changed,
                notes=partial(self._notes, self.settings, game),
                stored=lambda _: self._statistics.look(),
                over=partial(self._over, game),
            )
        )
        self.games.append(game)
        for player in players:
            self._seats.setdefault(player.name, []).append((game, player))
        self._open_next()
        game.begin(self.desk.tables)
        self.changed()
        return game

    def _notes(self, settings: BoatRoomSettings, game: BoatGame, table: Table) -> tuple[Note, ...]:
        """Return the statistics of a game that is over: nothing, if it never started."""
        if not game.roster.started:
            return ()
        result, tally = table.match.result, tally_of(cast(Battleship, table.match.position))
        aborted = result is not None and result.aborted
        players = tuple([CountedPlayer(one.text, one.address, one.player) for one in game.players])
        counted = CountedGame(settings.title, plan_lines(settings), tally, aborted, players)
        return (self._statistics.note(table.entry.id, counted),)

    def _over(self, game: BoatGame, table: Table) -> None:
        self.games.remove(game)
        for player in game.players:
            self._seats[player.name].remove((game, player))
            if not self._seats[player.name]:
                del self._seats[player.name]
        self._open_next()
        self.changed()

    def _open_next(self) -> None:
        """Open the next game for players, if the settings allow it."""
        tables = self.settings.tables
        if (
            self.gathering is None
            and self.settings.repeat
            and not self._closed
            and (not tables or len(self.games) < tables)
        ):
            self._opened += 1
            self.gathering = WaitingGame(self.offer, self._opened)

    def changed(self) -> None:
        for tell in tuple(self.on_change):
            tell()

    def close(self) -> None:
        """Stop taking players, and close the connections of those that wait.

        Running games go on.
        """
        self._closed = True
        super().close()
        if self._fill in self.desk.fillers:
            self.desk.fillers.remove(self._fill)
        gathering, self.gathering = self.gathering, None
        if gathering is not None:
            gathering.abort()
        self.changed()
