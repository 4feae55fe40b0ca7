"""Duel leaderboard: the records of duel arena's players. It shows only what is stored."""

from bisect import bisect_left, insort
from collections.abc import Coroutine, Hashable, Iterable, Mapping, Sequence
from secrets import token_hex
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.server.rooms.duel_records import (
    DuelBoard,
    DuelRecord,
    Look,
    PlayedBoard,
    book_of,
    reckoned,
)
from botdrome.server.tables.late_entries import LateEntries
from botdrome.server.tables.ledger import Ledger
from botdrome.store.store import Note, Store

PLAYERS, LATE = "duel", "duel late"
MOST_NEWCOMERS = 10_000
"""With this many players, a new one is stored with its first board and not at its login, since
names are free.
"""


class Online(Struct):
    """A player's connection, and how many seconds of it are stored or being stored."""

    since: float
    drafted: float = 0.0
    stored: float = 0.0


class DuelEntry(Struct, frozen=True):
    """What changes the records: boards that are over, and the time of players online."""

    match: str = ""
    first_id: int = 0
    boards: tuple[PlayedBoard, ...] = ()
    seconds: dict[str, float] = {}
    """By player. A player without a record gets one."""

    def lines(self, look: Look) -> dict[str, DuelRecord]:
        lines, _ = reckoned(look, self.match, self.first_id, self.boards)
        return lines | {
            name: _longer(lines.get(name) or look(name) or DuelRecord(), more)
            for name, more in self.seconds.items()
        }


Visit = tuple[Online, float]
"""Seconds of a player's connection that are being stored."""


class DuelLeaderboard:
    def __init__(self, store: Store, lines: Mapping[str, DuelRecord]) -> None:
        self._store, self.late = store, LateEntries(LATE, self)
        self._online: dict[str, Online] = {}
        self._visits: dict[Hashable, list[Visit]] = {}
        self._begin(lines)

    def _begin(self, lines: Mapping[str, DuelRecord]) -> None:
        self._ledger: Ledger[str, DuelRecord] = Ledger(lines)
        self._ranks = {name: _rank(name, line) for name, line in lines.items()}
        self._order = sorted(self._ranks.values())

    async def load(self, watch: bool = False) -> None:
        """Read the records from the store, before the first player comes.

        `watch`: matches may end at other nodes.
        """
        found = await self._store.notes(PLAYERS)
        self._begin({name: msgspec.convert(value, DuelRecord) for name, value in found.items()})
        await self.late.open(self._store, watch)

    @property
    def settled(self) -> bool:
        """Whether the stored records are those in memory."""
        return self._ledger.settled

    # Storing.

    def enter(self, match: str, first_id: int, boards: Sequence[PlayedBoard]) -> tuple[Note, ...]:
        """Return what to store of these boards. They count once `settle` is called."""
        self.drop(match)
        seconds = self._visit(match, {name for board in boards for name in board.names})
        return (
            self._notes(
                match, f"{match} {first_id}", DuelEntry(match, first_id, tuple(boards), seconds)
            )
            if boards
            else ()
        )

    def draft_late(self, name: str, value: Mapping[str, Any]) -> tuple[Note, ...]:
        """Return what to store of an entry that another node has made."""
        return self._draft(name, msgspec.convert(value, DuelEntry))

    def settle(self, entry: Hashable) -> None:
        """The entry is stored, so it is shown from now on."""
        for one, seconds in self._visits.pop(entry, ()):
            one.stored += seconds
        self._show(self._ledger.settle(entry))

    def drop(self, entry: Hashable) -> None:
        """The entry could not be stored. This does nothing after `settle`."""
        for one, seconds in self._visits.pop(entry, ()):
            one.drafted -= seconds
        self._show(self._ledger.drop(entry))

    async def correct(self, store: Store) -> None:
        """Store again the records that were computed with a dropped entry."""
        await self._ledger.correct(lambda lines: store.keep(_notes(lines), retry=True))

    def _show(self, lines: Mapping[str, DuelRecord]) -> None:
        for name, line in lines.items():
            self._place(name, _rank(name, line))

    def _notes(self, entry: Hashable, name: str, change: DuelEntry) -> tuple[Note, ...]:
        return (self.late.note(name, change),) if self.late.away else self._draft(entry, change)

    def _draft(self, entry: Hashable, change: DuelEntry) -> tuple[Note, ...]:
        _, boards = reckoned(self._ledger.latest, change.match, change.first_id, change.boards)
        return (*boards, *_notes(self._ledger.draft(entry, change.lines)))

    def _visit(self, entry: Hashable, names: Iterable[str]) -> dict[str, float]:
        """Return the online time of those of the players that are connected, which is stored with
        the entry.
        """
        now, visits, seconds = monotonic(), self._visits.setdefault(entry, []), dict[str, float]()
        for name in names:
            if (one := self._online.get(name)) is not None:
                seconds[name] = now - one.since - one.drafted
                visits.append((one, seconds[name]))
                one.drafted = now - one.since
        return seconds

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
        self._online.setdefault(name, Online(monotonic()))
        return self._keep(name, 0.0)

    def depart(self, name: str) -> Coroutine[Any, Any, None]:
        """A player has disconnected. Its time is stored when this has been awaited."""
        one = self._online.pop(name)
        return self._keep(name, monotonic() - one.since - one.drafted)

    async def _keep(self, name: str, seconds: float) -> None:
        line = self._ledger.latest(name)
        if (line is None and len(self._ledger.lines) >= MOST_NEWCOMERS) or (
            line is not None and not seconds
        ):
            return
        entry = token_hex(8)
        notes = self._notes(entry, entry, DuelEntry(seconds={name: seconds}))
        try:
            await self._store.keep(notes)
        except BaseException:
            self.drop(entry)
            raise
        self.settle(entry)
        await self.correct(self._store)

    def online(self, name: str) -> bool:
        return name in self._online

    def line(self, name: str) -> DuelRecord | None:
        """Return the stored record with the time until now; None if no player of that name was ever
        here.
        """
        line, one = self._ledger.lines.get(name), self._online.get(name)
        if line is None or one is None:
            return line
        return _longer(line, monotonic() - one.since - one.stored)

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


def _notes(lines: Mapping[str, DuelRecord]) -> list[Note]:
    return [Note(PLAYERS, name, msgspec.to_builtins(line)) for name, line in lines.items()]
