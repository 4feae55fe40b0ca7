"""Duel arena: the clients on its protocol, their pairing, their boards and the leaderboard."""

import asyncio
from bisect import bisect_left, insort
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import chain, repeat
from random import Random, randrange
from secrets import token_hex
from time import monotonic, time
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Wish, paired
from botdrome.contest.strength import START, updated_elo
from botdrome.match.events import Cause, rotated
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import NOBODY, is_another_bots, is_guests
from botdrome.server.lobby.contest_queue import TableRules
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.lobby.house import GatheredPlayer
from botdrome.server.network.connection import Connection
from botdrome.server.network.tcp import tcp_factory
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.rooms.room import Room
from botdrome.server.session import Session
from botdrome.server.settings import AnyPort, NotNegative, ProtocolSection
from botdrome.server.tables.statistics import Entries, Statistics
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import Epoch, Note
from botdrome.store.store import Store
from botdrome.wire.conversation import Command, LoginRefused
from botdrome.wire.duel import GAME, Duel, DuelConversation, Enter, Entered, Superseded
from botdrome.wire.framing.streams import Frames
from botdrome.wire.writers import MatchHeader, match_status

# Records of duel arena's players: Elo ratings and counts of boards.

KEPT = 100
"""Boards kept for each player."""
BOARDS = "duel boards by id"
"""The book of all boards."""


class DuelRecord(Struct, frozen=True):
    """A player's record as the original keeps it, and draws, which the original does not count."""

    rating: float = START
    wins: int = 0
    losses: int = 0
    """Boards lost while the player was connected."""
    draws: int = 0
    total_games: int = 0
    invalid_moves: int = 0
    """Boards lost by an illegal move, a timeout or a disconnect."""
    total_seconds: float = 0.0
    """Seconds online."""
    boards: int = 0
    """Boards stored so far, which gives the place of the next in the player's book."""


class DuelBoard(Struct, frozen=True):
    """A board that was played to its end."""

    id: int
    match: str
    player1: str
    """The player that began."""
    player2: str
    rating1: float
    """The rating at the beginning of the board."""
    rating2: float
    start_time: Epoch
    end_time: Epoch
    moves: int
    winner: str | None
    """None: a draw."""


class PlayedBoard(Struct, frozen=True):
    """A board as the match reports it."""

    names: tuple[str, str]
    """The player that began, and the other."""
    causes: tuple[Cause, Cause]
    """Why the board ended for each of them."""
    winner: int | None
    """The index of the winner's name; None: a draw."""
    start_time: Epoch
    end_time: Epoch
    moves: int


class Counted(Struct, frozen=True):
    """The part of a match that is stored, and when its current board began."""

    boards: int = 0
    steps: int = 0
    since: Epoch = 0


def board_name(board_id: int) -> str:
    """Ids of one length sort as numbers although they are texts."""
    return f"{board_id:015}"


def book_of(name: str) -> str:
    """The book of a player's last boards."""
    return f"duel boards of {name}"


def count_boards(
    records: MutableMapping[str, DuelRecord],
    match: str,
    first_id: int,
    boards: Sequence[PlayedBoard],
) -> list[Note]:
    """Change the records of the players of these boards, and return the rows of the boards."""
    notes: list[Note] = []
    for board_id, board in enumerate(boards, first_id):
        before = [records.get(name) or DuelRecord() for name in board.names]
        shown = msgspec.to_builtins(_shown(match, board_id, board, before))
        notes.append(Note(BOARDS, board_name(board_id), shown))
        for name, line, new in zip(board.names, before, _after(board, before), strict=True):
            notes.append(Note(book_of(name), str(line.boards % KEPT), shown))
            records[name] = new
    return notes


def _shown(match: str, board_id: int, board: PlayedBoard, lines: Sequence[DuelRecord]) -> DuelBoard:
    winner = None if board.winner is None else board.names[board.winner]
    ratings = lines[0].rating, lines[1].rating
    return DuelBoard(
        board_id,
        match,
        *board.names,
        *ratings,
        board.start_time,
        board.end_time,
        board.moves,
        winner,
    )


def _after(board: PlayedBoard, lines: Sequence[DuelRecord]) -> list[DuelRecord]:
    score = 0.5 if board.winner is None else 1.0 - board.winner
    ratings = updated_elo(lines[0].rating, lines[1].rating, score)
    return [
        _counted(lines[player], ratings[player], board.causes[player], board.winner, player)
        for player in (0, 1)
    ]


def _counted(
    line: DuelRecord, rating: float, cause: Cause, winner: int | None, player: int
) -> DuelRecord:
    lost = winner is not None and winner != player
    return replace(
        line,
        rating=rating,
        wins=line.wins + (winner == player),
        losses=line.losses + (lost and cause != "disconnect"),
        draws=line.draws + (winner is None),
        total_games=line.total_games + 1,
        invalid_moves=line.invalid_moves + (lost and cause != "complete"),
        boards=line.boards + 1,
    )


PLAYERS, ENTRIES = "duel", "duel late"
MOST_NEWCOMERS = 10_000
"""With this many players, a new one is stored with its first board and not at its login, since
names are free.
"""


class DuelEntry(Struct, frozen=True):
    """What changes the records: boards that are over, and the time of players online."""

    match: str = ""
    first_id: int = 0
    boards: tuple[PlayedBoard, ...] = ()
    seconds: dict[str, float] = {}
    """By player. A player without a record gets one."""


class DuelLeaderboard(Statistics):
    def __init__(self, store: Store, lines: Mapping[str, DuelRecord]) -> None:
        super().__init__(store, ENTRIES)
        self._online: dict[str, float] = {}
        """Since when the time of each connected player is in no entry."""
        self._unfolded: dict[str, dict[str, float]] = {}
        """The seconds of players in entries of this node that are not folded yet."""
        self._begin(lines)

    def _begin(self, lines: Mapping[str, DuelRecord]) -> None:
        self._lines = dict(lines)
        self._ranks = {name: _rank(name, line) for name, line in lines.items()}
        self._order = sorted(self._ranks.values())
        self._unfolded.clear()

    async def load(self, watch: bool = False) -> None:
        """Read the records from the store, before the first player comes.

        `watch`: matches may end at other nodes.
        """
        found = await self._store.notes(PLAYERS)
        self._begin({name: msgspec.convert(value, DuelRecord) for name, value in found.items()})
        await self.open(watch)

    # Storing.

    def enter(self, match: str, first_id: int, boards: Sequence[PlayedBoard]) -> tuple[Note, ...]:
        """Return what to store of these boards."""
        self.give_back_time(match, first_id)
        if not boards:
            return ()
        label, now = _label(match, first_id), monotonic()
        seconds: dict[str, float] = {}
        self._unfolded[label] = seconds
        for name in {name for board in boards for name in board.names} & self._online.keys():
            seconds[name], self._online[name] = now - self._online[name], now
        return (self.entry(label, DuelEntry(match, first_id, tuple(boards), seconds)),)

    def give_back_time(self, match: str, first_id: int) -> None:
        """These boards could not be stored. The time of their players counts later."""
        self._give_back(_label(match, first_id))

    def _give_back(self, label: str) -> None:
        for name, seconds in self._unfolded.pop(label, {}).items():
            if name in self._online:
                self._online[name] -= seconds

    def fold(self, entries: Entries) -> tuple[list[Note], Callable[[], None]]:
        records, notes = ChainMap[str, DuelRecord]({}, self._lines), list[Note]()
        for value in entries.values():
            entry = msgspec.convert(value, DuelEntry)
            notes += count_boards(records, entry.match, entry.first_id, entry.boards)
            for name, seconds in entry.seconds.items():
                records[name] = _longer(records.get(name) or DuelRecord(), seconds)
        lines = records.maps[0]
        notes += [Note(PLAYERS, name, msgspec.to_builtins(line)) for name, line in lines.items()]
        return notes, partial(self._show, entries, lines)

    def _show(self, entries: Iterable[str], lines: Mapping[str, DuelRecord]) -> None:
        for label in entries:
            self._unfolded.pop(label, None)
        self._lines |= lines
        for name, line in lines.items():
            self._place(name, _rank(name, line))

    def _place(self, name: str, rank: tuple[int, str]) -> None:
        before = self._ranks.get(name)
        if rank != before:
            if before is not None:
                del self._order[bisect_left(self._order, before)]
            insort(self._order, rank)
            self._ranks[name] = rank

    # Players.

    def arrive(self, name: str) -> Coroutine[Any, Any, None] | None:
        """A player has connected. Its record is stored when this has been awaited; None: it has
        one.
        """
        self._online.setdefault(name, monotonic())
        return None if name in self._lines else self._count(name, 0.0)

    def depart(self, name: str) -> Coroutine[Any, Any, None]:
        """A player has disconnected. Its time is stored when this has been awaited; it is folded
        together with that of others.
        """
        return self._count(name, monotonic() - self._online.pop(name))

    async def _count(self, name: str, seconds: float) -> None:
        known = name in self._lines
        if (not known and len(self._lines) >= MOST_NEWCOMERS) or (known and not seconds):
            return
        label = token_hex(8)
        self._unfolded[label] = {name: seconds}
        try:
            await self._store.keep([self.entry(label, DuelEntry(seconds={name: seconds}))])
        except BaseException:
            self._give_back(label)
            raise
        self.look()
        if not known:
            await self.folded()

    def online(self, name: str) -> bool:
        return name in self._online

    def line(self, name: str) -> DuelRecord | None:
        """Return the stored record with the time until now; None if no player of that name was ever
        here.
        """
        line, since = self._lines.get(name), self._online.get(name)
        if line is None:
            return None
        unfolded = sum(seconds.get(name, 0.0) for seconds in self._unfolded.values())
        return _longer(line, unfolded + (0.0 if since is None else monotonic() - since))

    @property
    def players(self) -> int:
        """The number of players."""
        return len(self._order)

    def lines(self, offset: int, limit: int) -> list[tuple[str, DuelRecord]]:
        """Return records sorted as in the original: by boards won, not by rating."""
        names = [name for _, name in self._order[offset : offset + limit]]
        return [(name, line) for name in names if (line := self.line(name)) is not None]

    async def boards_of(self, name: str) -> list[DuelBoard]:
        """Return the last boards of a player, the latest first."""
        found = (await self._store.notes(book_of(name))).values()
        return sorted(
            (msgspec.convert(value, DuelBoard) for value in found), key=lambda board: -board.id
        )


def _rank(name: str, line: DuelRecord) -> tuple[int, str]:
    return -line.wins, name


def _longer(line: DuelRecord, seconds: float) -> DuelRecord:
    return replace(line, total_seconds=line.total_seconds + seconds)


def _label(match: str, first_id: int) -> str:
    """Entries are folded in the order of their boards."""
    return f"{board_name(first_id)} {match}"


BOOK = "duel boards"
BLOCK = 1000
"""Ids reserved at once. After a crash, unused ones are skipped."""
NUMBERS = 100_001
"""The number in a question's id is below this."""


class NoBoardIds(Exception):
    """All ids that were reserved are used, and the store cannot reserve others at present."""


class BoardIds:
    """Ids rise as long as the store is kept, and none is given twice."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = self._reserved = 0
        self.reserving = False
        self._closed = True

    async def open(self) -> None:
        """Reserve the first ids that nobody has taken."""
        counter: dict[str, Any] = (await self._store.notes(BOOK)).get("", {})
        self._last = self._reserved = counter.get("last", 0)
        self._closed = False
        await self.reserve()

    @property
    def left(self) -> int:
        return self._reserved - self._last

    def take(self, boards: int) -> int:
        """Return the first of this many ids in a row."""
        if boards > self.left:
            raise NoBoardIds(f"{boards} ids are needed and {self.left} are reserved")
        first = self._last + 1
        self._last += boards
        return first

    @property
    def low(self) -> bool:
        """Whether more ids should be reserved now."""
        return self.left < BLOCK // 2 and not self.reserving

    async def reserve(self) -> None:
        if self._closed:
            return
        self.reserving = True
        try:
            await self._note(self._reserved + BLOCK)
        finally:
            self.reserving = False

    def leave(self) -> None:
        """Another node reserves ids from now on. Those that are left can still be taken."""
        self._closed = True

    async def close(self) -> None:
        """Give back unused ids. None can be taken afterwards."""
        if self._closed:
            return
        self._closed = True
        self._reserved = self._last
        await self._note(self._last)

    async def _note(self, last: int) -> None:
        await self._store.keep([Note(BOOK, "", {"last": last})])
        if not self._closed:
            self._reserved = last


def question_ids() -> Callable[[], bytes]:
    """Return ids like the original's: a time without trailing zeros, and a number up to 100,000.

    The time is that of the match. The number counts up from a random one.
    """
    first = range(randrange(NUMBERS), NUMBERS)
    numbers = chain(first, chain.from_iterable(repeat(range(NUMBERS))))
    return map(f"{round(time(), 6)!r}-%d".encode().__mod__, numbers).__next__


def ended_boards(table: Table, counted: Counted) -> list[PlayedBoard]:
    """The boards that have ended and were not counted yet.

    Each move is a step, and all were made on the first of them.
    """
    match, names = table.match, table.entry.players
    boards = match.ended_boards if match.result is None else match.result.boards
    start, end = counted.since, max(counted.since, epoch_now())
    played: list[PlayedBoard] = []
    for number, board in enumerate(boards[counted.boards :], counted.boards):
        if "aborted" in board.causes:
            break
        one, two = rotated(len(names), number)
        winner = (
            None
            if board.places[one] == board.places[two]
            else int(board.places[one] > board.places[two])
        )
        moves = 0 if played else match.steps - counted.steps
        played.append(
            PlayedBoard(
                (names[one], names[two]),
                (board.causes[one], board.causes[two]),
                winner,
                start,
                end,
                moves,
            )
        )
        start = end
    return played


def epoch_now() -> Epoch:
    return int(time() * 1000)


class DuelSection(ProtocolSection, frozen=True):
    """Duel arena"""

    port: AnyPort = 5232
    """duel arena's TCP protocol; 0: off, -1: any free port"""
    window: NotNegative = 0.0
    """seconds in which players gather before they are paired; 0: pair at once"""


WISH = Wish(GAME)
REMATCH = 0.5
"""Seconds for which two players that have just met wait for others, when there are others."""
SPARE_IDS = 100
"""Board ids kept for players that the desk seats.

The room pairs players only while there are more.
"""


class DuelRoom(Room):
    protocol = "duel arena"

    def __init__(self, desk: Desk, leaderboard: DuelLeaderboard, ids: BoardIds) -> None:
        row = CATALOGUE[GAME]
        super().__init__(desk, TableRules(row.game, row.terms, {}, range(2, 3)))
        self.leaderboard, self._ids = leaderboard, ids
        self.connected: set[Session] = set()
        self._present: dict[str, Session] = {}
        """By their names on this server."""
        self._called: dict[str, str] = {}
        """The names that they gave, by which players on this protocol know them."""
        self._last_opponents: dict[Session, str] = {}
        self._gathered: dict[Session, None] = {}
        self._writers: dict[str, Duel] = {}
        self._counted: dict[str, Counted] = {}
        self._random = Random()
        self.follow()
        desk.others.on_change.append(self._leave_drained_node)

    def connect(self, connection: Connection) -> Session:
        settings, now = self.desk.settings, asyncio.get_running_loop().time()
        limits = settings.limits.login, settings.message.rate, settings.message.burst
        session = Session(
            connection, DuelConversation(self.make_writer, *limits, now), self, self.desk
        )
        session.on_seat, session.release = (
            partial(self._seated, session),
            partial(self._leave, session),
        )
        self.connected.add(session)
        return session

    # Requests of clients.

    def act(self, session: Session, command: Command) -> None:
        if isinstance(command, Enter):
            self._enter(session, command)
        elif session.seeker is None and session not in self._gathered:
            self._gather(session)

    def _enter(self, newcomer: Session, command: Enter) -> None:
        """Of two clients under one name the newest stays, unless the earlier one plays and may be
        somebody else.
        """
        before = self._present.get(newcomer.name)
        if refusal := self.desk.refusal or (
            before and self._keeps_seat(before, newcomer, command.secret)
        ):
            return newcomer.answer(LoginRefused(refusal))
        self._present[newcomer.name] = newcomer
        self._called[newcomer.name] = command.called
        if (storing := self.leaderboard.arrive(newcomer.name)) is not None:
            self._store_in_background(storing)
        if before is not None:
            _replace(before, newcomer)
        table = newcomer.table
        running = table is not None and table.open
        return newcomer.answer(
            Entered(
                match_status(table.match, table.now()) if table is not None and running else None
            )
        )

    def _keeps_seat(self, before: Session, newcomer: Session, secret: str) -> str:
        """Return why a guest may not take over the match of an earlier client of its name; empty:
        it may.
        """
        if newcomer.registered or not _plays(before):
            return ""
        if before.owner == NOBODY:
            how = "from another address"
            same = before.connection.address == newcomer.connection.address
        else:
            guesses, how = self.desk.registry.guesses, "under another password"
            same = not guesses.spent(newcomer.name) and guesses.note(
                newcomer.name, is_guests(before.owner, secret)
            )
        return "" if same else f"{newcomer.name} plays a match {how}; choose another name"

    def _seated(self, session: Session) -> None:
        assert session.table is not None
        self._last_opponents[session] = session.table.entry.players[1 - session.player]
        self._look_after(session.table)

    def _leave(self, session: Session) -> None:
        self.connected.discard(session)
        self._gathered.pop(session, None)
        self._last_opponents.pop(session, None)
        if self._present.get(session.name) is session:
            del self._present[session.name], self._called[session.name]
            self._store_in_background(self.leaderboard.depart(session.name))

    def _store_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        self.desk.tasks.start(_logged(work))

    async def open(self) -> None:
        await self.leaderboard.load(watch=not self.desk.others.alone)
        await self._ids.open()

    def leave(self) -> None:
        self.leaderboard.leave()
        self._ids.leave()

    @property
    def settled(self) -> bool:
        return self.leaderboard.settled and not self._ids.reserving

    async def stop(self) -> None:
        self.close()
        present, self._present = self._present, {}
        for session in present.values():
            session.close()
        await asyncio.gather(
            *[_logged(self.leaderboard.depart(name)) for name in present],
            _logged(self._ids.close()),
        )
        await self.leaderboard.folded()
        self.leaderboard.leave()

    # Who plays whom.

    def _leave_drained_node(self) -> None:
        """Have clients that wait connect again, so that they come to the new home of the room.

        Others do so after their match.
        """
        for session in tuple(self._present.values()):
            if self.desk.others.drained and (
                session in self._gathered or session.seeker is not None
            ):
                session.close()

    def _gather(self, session: Session) -> None:
        """Find an opponent at once or, if there is a window, when that has passed."""
        if self.desk.others.drained:
            return session.close()
        contest = self._contest_of(session)
        if contest is not None:
            return self.desk.seek(
                session, session.name, replace(WISH, contest=contest), all_contests=True
            )
        self._gathered[session] = None
        window = self.desk.settings.of(DuelSection).window
        if window:
            self._pair_in(window)
        else:
            self._pair(again=len(self._present) <= 2)

    def _contest_of(self, session: Session) -> str | None:
        """The contest that a registered bot plays in: it meets nobody else until that is over."""
        queue = self.desk.contest_queue
        if queue is None or not session.registered:
            return None
        return queue.expecting(GAME, session.name)

    def contests_changed(self) -> None:
        """Send the bots that wait to a contest that has started, or back from one that is over."""
        for session in tuple(self._present.values()):
            waits = session in self._gathered or session.seeker is not None
            waits_for = session.seeker.wish.contest if session.seeker is not None else None
            if waits and self._contest_of(session) != waits_for:
                self._gathered.pop(session, None)
                self.desk.give_up(session)
                self._gather(session)

    def _pair_in(self, seconds: float) -> None:
        if self._timer is None:
            self.set_timer(self._loop.time() + seconds, partial(self._pair, again=True))

    def _pair(self, again: bool) -> None:
        """Pair players, also with clients that wait on other protocols.

        Unless `again`, two that have just met wait.
        """
        if self.desk.refusal and not self.desk.closing:
            return self._pair_in(REMATCH)
        gathered, self._gathered = {session.name: session for session in self._gathered}, {}
        seekers = [] if self.desk.closing else self.desk.waiting(WISH)
        waiting = {seeker.name: seeker for seeker in seekers}
        names = list(gathered | waiting)
        self._random.shuffle(names)
        pairs, rest = paired(
            names, {name: self._last_opponents.get(session) for name, session in gathered.items()}
        )
        if again:
            pairs += zip(rest[::2], rest[1::2], strict=False)
        seats = max(self._ids.left - SPARE_IDS, 0) // self.rules.terms.boards
        for pair in () if self.desk.closing else pairs[:seats]:
            took = [
                gathered.pop(name) if name in gathered else self.desk.recruit(waiting[name])
                for name in pair
            ]
            self._seat(list(zip(pair, took, strict=True)))
        for session in gathered.values():
            self._let_wait(session, hold=(not again and len(rest) > 1) or len(pairs) > seats)
        if self._ids.low and not self.desk.closing:
            self._store_in_background(self._ids.reserve())

    def _let_wait(self, session: Session, hold: bool) -> None:
        if hold:
            self._gathered[session] = None
            self._pair_in(REMATCH)
        else:
            self.desk.seek(session, session.name, WISH, by_lot=True)

    def _seat(self, pair: list[tuple[str, WaitingClient]]) -> None:
        """The player that begins is drawn at random."""
        self._random.shuffle(pair)
        players = [GatheredPlayer(name, client.owner, client) for name, client in pair]
        self.desk.tables.start_table(self.set_table(players), [client for _, client in pair])

    # Their matches.

    def _look_after(self, table: Table) -> None:
        """Keep statistics of a table until it is over, unless it is played at a pace for people."""
        table.resumes = False
        if table.entry.id not in self._counted:
            usual = table.entry.pace == "usual"
            table.subscribe(
                Subscriber(
                    notes=self.notes if usual else None,
                    stored=self.stored if usual else None,
                    over=self._forget,
                )
            )
            self._counted[table.entry.id] = Counted(since=table.entry.started)

    def _forget(self, table: Table) -> None:
        if not table.stored and table.entry.id in self._writers:
            self.leaderboard.give_back_time(table.entry.id, self._first_id(table))
        self._writers.pop(table.entry.id, None)
        self._counted.pop(table.entry.id, None)

    def _first_id(self, table: Table) -> int:
        """The id of the first board that is not stored."""
        first_board = self.make_writer(table.writers.header).first_board
        return first_board + self._counted[table.entry.id].boards

    def make_writer(self, header: MatchHeader) -> Duel:
        """The writer for a match, which counts its boards even where nobody is on this protocol any
        more.
        """
        writer = self._writers.get(header.match)
        if writer is None:
            boards, called = CATALOGUE[header.game].terms.boards, self._called
            names = tuple(called.get(name, name) for name in header.players)
            writer = self._writers[header.match] = Duel(
                names, self._ids.take(boards), question_ids()
            )
        return writer

    def notes(self, table: Table) -> tuple[Note, ...]:
        """Return the statistics of the boards that have ended since the last call."""
        boards = ended_boards(table, self._counted[table.entry.id])
        return self.leaderboard.enter(table.entry.id, self._first_id(table), boards)

    def stored(self, table: Table) -> None:
        match = table.match
        self._counted[table.entry.id] = Counted(match.board.number, match.steps, epoch_now())
        self.leaderboard.look()


def _replace(before: Session, newcomer: Session) -> None:
    """Hand over the seat, if there is one, and close the earlier session."""
    if _plays(before) and is_another_bots(newcomer.owner, before.owner):
        return before.answer(
            Superseded()
        )  # the name was registered meanwhile: this guest plays its match to the end
    if _plays(before):
        before.hand_over(newcomer)
    return before.close()


def _plays(session: Session) -> bool:
    return session.table is not None and session.table.match.result is None


async def open_duel(server: ServerParts) -> ServedProtocol:
    store = server.desk.store
    ids = BoardIds(store)
    room = DuelRoom(server.desk, DuelLeaderboard(store, {}), ids)
    factory = tcp_factory(Frames, room.connect, server.connection_limits)
    return ServedProtocol(
        room,
        room.stop,
        factory,
        game=GAME,
        targets=("/duel/", "/api/v1/duel/players"),
        open_rooms=room.open,
        leave_rooms=room.leave,
        settled=lambda: room.settled,
        in_use=lambda: bool(room.connected),
    )


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log_failure("the leaderboard of duel arena could not be stored")
