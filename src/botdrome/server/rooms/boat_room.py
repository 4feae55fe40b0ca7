"""BoatRoom: boat games with the same settings; one waits for players, any number run."""

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from botdrome.contest.lobby import Seeker
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable
from botdrome.server.lobby.desk import RETRY, Desk
from botdrome.server.lobby.house import house_bot
from botdrome.server.rooms.boat_game import (
    BoatGame,
    ContestWait,
    NameInUse,
    PlayerGroup,
    RoomPlayer,
    WaitingGame,
)
from botdrome.server.rooms.boat_settings import RoomPlan
from botdrome.server.rooms.boat_statistics import BoatStatistics
from botdrome.server.rooms.room import GatheredPlayer, Gathering, open_table
from botdrome.server.session import Session
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.contest_journal import ContestRefusal
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


class HouseWait:
    """The wait restarts with each player that joins."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call, self._at_latest = call, 0.0
        self._timer: asyncio.TimerHandle | None = None

    def restart(self, seconds: float, joined: int, most: int) -> None:
        """A player has joined.

        Clients that join and leave cannot prolong the wait of the others without end.
        """
        now = asyncio.get_running_loop().time()
        if joined == 1:
            self._at_latest = now + seconds * (most - 1)
        self._call_at(min(now + seconds, self._at_latest))

    def retry(self) -> None:
        """No game can start at present."""
        self._call_at(asyncio.get_running_loop().time() + RETRY)

    def _call_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._over)

    def _over(self) -> None:
        self._timer = None
        self._call()

    def share(self, call: Callable[[], None]) -> bool:
        """Call this at the end of the wait, too. Return False if nothing waits."""
        if self._timer is None:
            return False
        asyncio.get_running_loop().call_at(self._timer.when(), call)
        return True


EXPECTED_BACK = 60.0
"""Seconds in which a player that lost its connection is likely to come back."""


class CannotJoin(Exception):
    """A client cannot join; the text is its last message."""


class BoatRoom:
    def __init__(self, plan: RoomPlan, desk: Desk, statistics: BoatStatistics) -> None:
        self.plan, self.offer, self._desk, self._statistics = plan, plan.offer, desk, statistics
        self.games: list[BoatGame] = []
        self._seats: dict[bytes, list[tuple[BoatGame, RoomPlayer]]] = {}
        """The seats in these games, by the names of their players."""
        self.banned_names: set[str] = set()
        """Names as text."""
        self.banned_addresses: set[str] = set()
        self._opened = 1
        self.gathering: WaitingGame | None = WaitingGame(self.offer, self._opened)
        """The game that can be joined; None: there is none now."""
        self.on_change: set[Callable[[], None]] = set()
        self._closed = False
        self.chance = Chance(secrets.randbits(SEED_BITS))
        self.contest_games = ContestGames(self, desk)
        self._gathering, self._filler = (
            Gathering(desk, lambda: self.plan.wish, self._recruit),
            self._fill,
        )
        desk.fillers.append(self._filler)
        self._house_wait = HouseWait(self._call_the_house)

    def change(self, plan: RoomPlan) -> bool:
        """Change the settings for the next games.

        Return False if players have joined under the old ones.
        """
        if self.gathering is not None and self.gathering.players:
            return False
        self.plan, self.offer = plan, plan.offer
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
        return len(gathering.players) >= self.plan.max and not any(
            game.absent for game in self.games
        )

    @property
    def refusal(self) -> str:
        """Why no game can start at present; empty: it can."""
        return self._desk.refusal

    @property
    def over(self) -> bool:
        """No game runs, and none will."""
        return self.gathering is None and not self.games

    # How players join.

    def join(self, session: Session, player: RoomPlayer) -> PlayerGroup:
        """Join the next game, or return to a seat.

        Raises CannotJoin or NameInUse; the checks have the original's order.
        """
        if self.is_full:
            raise CannotJoin(FULL.decode())
        if game := self._rejoined(session, player):
            return game
        gathering = self.gathering
        if gathering is None:
            raise CannotJoin(STARTED.decode())
        if len(gathering.players) >= self.plan.max:
            raise CannotJoin(FULL.decode())
        if not is_fleet(player.board, self.plan.boats, self.plan.width, self.plan.height):
            raise CannotJoin(BAD_BOARD.decode())
        if refusal := self._desk.refusal:
            raise CannotJoin(refusal)
        player.session, player.address = session, session.connection.address
        if (wait := self.contest_games.wait_of(player)) is not None:
            wait.join(player)
            return wait
        gathering.join(player)
        if self._desk.settings.house.fill and self.plan.auto_start:
            self._house_wait.restart(self.plan.house_wait, len(gathering.players), self.plan.max)
        return gathering

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
            return self.contest_games.arrive(group)
        gathering = self.gathering
        if group is gathering and gathering is not None and self.plan.auto_start:
            if len(gathering.players) == self.plan.max:
                self.start()
            else:
                self._recruit()
        return None

    def _recruit(self) -> None:
        """Fill a game that has players with native bots that wait for a game like this."""
        game = self.gathering
        if not self.plan.auto_start or game is None or not game.players or self._desk.refusal:
            return
        if len(self._gathering.waiting(game.texts)) >= self.plan.max - len(game.players):
            self._seat_native(game)
            self.start()

    def _seat_native(self, game: WaitingGame) -> None:
        for name, client in self._gathering.recruit(game.texts, self.plan.max - len(game.players)):
            player = self._add(game, name, name)
            player.native, player.owner = client, client.owner

    def _fill(self, seeker: Seeker, ask_again: Callable[[], None]) -> bool:
        """Seat a native bot that has waited long enough for house bots, if that makes a game; or
        let it wait with the players.
        """
        game = self.gathering
        if (
            not self.plan.auto_start
            or game is None
            or seeker not in self._gathering.waiting(game.texts)
        ):
            return False
        if game.players and self._house_wait.share(ask_again):
            return True
        self._call_the_house()
        return game is not self.gathering

    def _call_the_house(self) -> None:
        """Give the free seats to native bots that wait, and the rest to house bots."""
        game = self.gathering
        if game is None or not game.players:
            return
        if self._desk.refusal:
            self._house_wait.retry()
            return
        self._seat_native(game)
        house_bots = self._gathering.house_bots(self.plan.max - len(game.players))
        for bot in house_bots:
            self._add(game, bot.name, house_bots[0].name.removeprefix("house:")).house = bot.house
        self.start()

    def _add(self, game: WaitingGame, text: str, name: str) -> RoomPlayer:
        """Add a player that is not on lines."""
        taken = {player.name for player in game.players}
        player = RoomPlayer(display_name(name, self.plan.width, taken), text)
        game.players.append(player)
        game.tell_others(player, [joined(player.name)])
        return player

    # How a game goes.

    def start(self) -> BoatGame | None:
        """Start the waiting game; None: it has too few players."""
        gathering, plan = self.gathering, self.plan
        if (
            gathering is None
            or not plan.min <= len(gathering.players) <= plan.max
            or self._desk.refusal
        ):
            return None
        players = gathering.players
        self.chance.shuffle(players)
        gathered = [
            GatheredPlayer(player.text, player.owner, house=player.house) for player in players
        ]
        table = open_table(self._desk, plan.game, plan.terms, plan.options, gathered)
        self.gathering = None
        return self.begin(players, table, gathering.number)

    def begin(self, players: list[RoomPlayer], table: Table, number: int = 0) -> BoatGame:
        """Begin a game at a table."""
        game = BoatGame(self.offer, number, players, table, Chance(secrets.randbits(SEED_BITS)))
        table.subscribe(
            Subscriber(
                changed=self.changed,
                notes=partial(self._statistics.notes, self.plan, game),
                stored=lambda _: self._statistics.look(),
                over=partial(self._over, game),
            )
        )
        self.games.append(game)
        for player in players:
            self._seats.setdefault(player.name, []).append((game, player))
        self._open_next()
        game.begin(self._desk.tables)
        self.changed()
        return game

    def _over(self, game: BoatGame, table: Table) -> None:
        self.games.remove(game)
        for player in game.players:
            self._vacate(player.name, game)
        self._open_next()
        self.changed()

    def _vacate(self, name: bytes, game: BoatGame) -> None:
        left = [(other, seat) for other, seat in self._seats[name] if other is not game]
        if left:
            self._seats[name] = left
        else:
            del self._seats[name]

    def _open_next(self) -> None:
        """Open the next game for players, if the settings allow it."""
        tables = self.plan.tables
        if (
            self.gathering is None
            and self.plan.repeat
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
        self._gathering.close()
        if self._filler in self._desk.fillers:
            self._desk.fillers.remove(self._filler)
        gathering, self.gathering = self.gathering, None
        if gathering is not None:
            gathering.abort()
        self.changed()
