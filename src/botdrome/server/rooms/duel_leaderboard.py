"""Duel leaderboard: the records of duel arena's players. It shows only what is stored."""

from bisect import bisect_left, insort
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.server.rooms.duel_records import (
    DuelBoard,
    DuelRecord,
    PlayedBoard,
    board_name,
    book_of,
    count_boards,
)
from botdrome.server.tables.statistics import Entries, Statistics
from botdrome.store.store import Note, Store

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


async def open_duel_leaderboard(store: Store) -> DuelLeaderboard:
    table = DuelLeaderboard(store, {})
    await table.load()
    return table


def _rank(name: str, line: DuelRecord) -> tuple[int, str]:
    return -line.wins, name


def _longer(line: DuelRecord, seconds: float) -> DuelRecord:
    return replace(line, total_seconds=line.total_seconds + seconds)


def _label(match: str, first_id: int) -> str:
    """Entries are folded in the order of their boards."""
    return f"{board_name(first_id)} {match}"
