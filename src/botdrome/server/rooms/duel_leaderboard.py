"""Duel leaderboard: the records of duel arena's players. It shows only what is stored."""

from bisect import bisect_left, insort
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.strength import START, updated_elo
from botdrome.match.events import Cause
from botdrome.server.tables.statistics import Entries, Statistics
from botdrome.store.entries import Epoch, Note
from botdrome.store.store import Store

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

    def arrive(self, name: str) -> Coroutine[Any, Any, None]:
        """A player has connected. Its record is stored when this has been awaited."""
        self._online.setdefault(name, monotonic())
        return self._count(name, 0.0)

    def depart(self, name: str) -> Coroutine[Any, Any, None]:
        """A player has disconnected. Its time is stored when this has been awaited."""
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
        await self.folded()

    def online(self, name: str) -> bool:
        return name in self._online

    def line(self, name: str) -> DuelRecord | None:
        """Return the stored record with the time until now; None if no player of that name was ever
        here.
        """
        line, since = self._lines.get(name), self._online.get(name)
        if line is None or since is None:
            return line
        unfolded = sum(seconds.get(name, 0.0) for seconds in self._unfolded.values())
        return _longer(line, unfolded + monotonic() - since)

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
