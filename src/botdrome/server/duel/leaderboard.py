"""Duel leaderboard: the records of duel arena's players. It shows only what is stored."""

from bisect import bisect_left, insort
from collections.abc import Collection, Coroutine, Hashable, Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.server.duel.player_records import DuelBoard, DuelRecord, PlayedBoard, book_of, reckoned
from botdrome.server.tables.ledger import Change, Ledger
from botdrome.store.store import Note, Store

PLAYERS = "duel"
MOST_NEWCOMERS = 10_000
"""With this many players, a new one is stored with its first board and not at its login, since names are free."""


class Online(Struct):
    """A player's connection, and how many seconds of it are stored or being stored."""

    since: float
    drafted: float = 0.0
    stored: float = 0.0


Visit = tuple[str, Online, float]
"""Seconds of a player's connection that are being stored."""


class DuelLeaderboard:
    def __init__(self, store: Store, lines: Mapping[str, DuelRecord]) -> None:
        self._store = store
        self._online: dict[str, Online] = {}
        self._visits: dict[Hashable, list[Visit]] = {}
        self._begin(lines)

    def _begin(self, lines: Mapping[str, DuelRecord]) -> None:
        self._ledger: Ledger[str, DuelRecord] = Ledger(lines)
        self._ranks = {name: _rank(name, line) for name, line in lines.items()}
        self._order = sorted(self._ranks.values())

    async def load(self) -> None:
        """Read the records from the store, before the first player comes."""
        found = await self._store.notes(PLAYERS)
        self._begin({name: msgspec.convert(value, DuelRecord) for name, value in found.items()})

    # Storing.

    def enter(self, match: str, first_id: int, boards: Sequence[PlayedBoard]) -> tuple[Note, ...]:
        """Return what to store of these boards. They count once `settle` is called."""
        self.drop(match)
        _, played = reckoned(self._ledger.latest, match, first_id, boards)
        names = {name for board in boards for name in board.names}
        lines = self._draft(match, lambda look: reckoned(look, match, first_id, boards)[0], names)
        return (*played, *lines)

    def settle(self, entry: Hashable) -> None:
        """The entry is stored, so it is shown from now on."""
        for _, one, seconds in self._visits.pop(entry):
            one.stored += seconds
        self._show(self._ledger.settle(entry))

    def drop(self, entry: Hashable) -> None:
        """The entry could not be stored. This does nothing after `settle`."""
        for _, one, seconds in self._visits.pop(entry, ()):
            one.drafted -= seconds
        self._show(self._ledger.drop(entry))

    async def correct(self) -> None:
        """Store again the records that were computed with a dropped entry."""
        await self._store.keep(_notes(self._ledger.corrections()), retry=True)

    def _show(self, lines: Mapping[str, DuelRecord]) -> None:
        for name, line in lines.items():
            self._place(name, _rank(name, line))

    def _draft(self, entry: Hashable, change: Change[str, DuelRecord], names: Collection[str] = ()) -> list[Note]:
        """Draft a change, with the online time of these players if they are connected."""
        now, visits = monotonic(), self._visits.setdefault(entry, [])
        for name in names:
            if (one := self._online.get(name)) is not None:
                visits.append((name, one, now - one.since - one.drafted))
                one.drafted = now - one.since
        return _notes(self._ledger.draft(entry, lambda look: _with_time(change(look), visits)))

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
        if (line is None and len(self._ledger.lines) >= MOST_NEWCOMERS) or (line is not None and not seconds):
            return
        entry = object()
        notes = self._draft(entry, lambda look: {name: _longer(look(name) or DuelRecord(), seconds)})
        try:
            await self._store.keep(notes)
        except BaseException:
            self.drop(entry)
            raise
        self.settle(entry)
        await self.correct()

    def online(self, name: str) -> bool:
        return name in self._online

    def line(self, name: str) -> DuelRecord | None:
        """Return the stored record with the time until now; None if no player of that name was ever here."""
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
        return sorted((msgspec.convert(value, DuelBoard) for value in found), key=lambda board: -board.id)


async def open_duel_leaderboard(store: Store) -> DuelLeaderboard:
    table = DuelLeaderboard(store, {})
    await table.load()
    return table


def _rank(name: str, line: DuelRecord) -> tuple[int, str]:
    return -line.wins, name


def _with_time(lines: dict[str, DuelRecord], visits: Sequence[Visit]) -> dict[str, DuelRecord]:
    return lines | {name: _longer(lines[name], seconds) for name, _, seconds in visits}


def _longer(line: DuelRecord, seconds: float) -> DuelRecord:
    return replace(line, total_seconds=line.total_seconds + seconds)


def _notes(lines: Mapping[str, DuelRecord]) -> list[Note]:
    return [Note(PLAYERS, name, msgspec.to_builtins(line)) for name, line in lines.items()]
