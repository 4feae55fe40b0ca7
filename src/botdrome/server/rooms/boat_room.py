"""BoatRoom: boat games with the same settings; one waits for players, any number run."""

import asyncio
import hmac
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import cast

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.match.events import Player
from botdrome.server.lobby.clients import NOBODY
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable, TableRules
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boat_statistics import (
    BoatStatistics,
    CountedGame,
    CountedPlayer,
    plan_lines,
    tally_of,
)
from botdrome.server.rooms.room import Room
from botdrome.server.session import Session
from botdrome.server.tables.running_tables import Candidate, RunningTables
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.contest_journal import ContestRefusal
from botdrome.store.entries import Note
from botdrome.wire.boats.conversation import GameStarts, Kicked
from botdrome.wire.boats.lines import (
    BAD_BOARD,
    COMM_ERROR,
    DISCONNECTED,
    FULL,
    STARTED,
    BoatWriter,
    Offer,
    Roster,
    Taunts,
    display_name,
    is_fleet,
    joined,
    left,
    plain,
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
        self._stop_watching: Callable[[], None] | None = None
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

    def watch(self, changed: Callable[[], None] | None) -> None:
        """Call a function after each change at the table from now on; None: call none."""
        if self._stop_watching is not None:
            self._stop_watching()
        self._stop_watching = changed and self.table.subscribe(Subscriber(changed=changed))

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
        self._watchers: set[Callable[[], None]] = set()
        """Those of `on_change` that are also called after each move."""
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
                notes=partial(self._notes, self.settings, game),
                stored=lambda _: self._statistics.look(),
                over=partial(self._over, game),
            )
        )
        self.games.append(game)
        for player in players:
            self._seats.setdefault(player.name, []).append((game, player))
        self._open_next()
        if self._watchers:
            game.watch(self.changed)
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

    def watch(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each change in the room and each move, until the returned function
        is called. A move costs nothing for it while nobody watches.
        """
        self.on_change.add(tell)
        self._watchers.add(tell)
        for game in self.games:
            game.watch(self.changed)
        return partial(self._stop_watching, tell)

    def _stop_watching(self, tell: Callable[[], None]) -> None:
        self.on_change.discard(tell)
        self._watchers.discard(tell)
        if not self._watchers:
            for game in self.games:
                game.watch(None)

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
