"""Duel table: what those who play over duel arena have to show for it, by Elo's rating and in numbers."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.elo import START, updated
from botdrome.match.events import Cause
from botdrome.store.store import Epoch, Note, Store

PLAYERS = "duel"
COUNTER = "duel boards"
KEPT = 100
"""Boards kept for each player."""


class DuelLine(Struct, frozen=True):
    """A player's record, as the original keeps it, and the draws, which it did not count."""

    rating: float = START
    wins: int = 0
    losses: int = 0
    """On boards that it was there to lose."""
    draws: int = 0
    total_games: int = 0
    invalid_moves: int = 0
    """Boards that it lost by an illegal move, out of time or by going away."""
    total_seconds: float = 0.0
    """Online."""
    boards: int = 0
    """Boards noted for it so far: the place of the next in the book of its boards."""


class DuelBoard(Struct, frozen=True):
    """A board that was played to its end."""

    id: int
    match: str
    player1: str
    """Who began."""
    player2: str
    rating1: float
    """At the beginning of the board."""
    rating2: float
    start_time: Epoch
    end_time: Epoch
    moves: int
    winner: str | None
    """None: a draw."""


class PlayedBoard(Struct, frozen=True):
    """A board as the match tells of it."""

    names: tuple[str, str]
    """Who began, and the other."""
    causes: tuple[Cause, Cause]
    """Why it ended for them."""
    winner: int | None
    """The place of its name; None: a draw."""
    start_time: Epoch
    end_time: Epoch
    moves: int


class DuelTable:
    def __init__(self, store: Store, lines: Mapping[str, DuelLine], boards: int) -> None:
        self._store = store
        self._lines = dict(lines)
        self._boards = boards
        self._arrived: dict[str, float] = {}
        self._spent: dict[str, float] = {}
        """Seconds of those who have just gone."""

    # Boards.

    def take_ids(self, boards: int) -> int:
        """The first of so many ids in a row. They rise as long as the store is kept."""
        first = self._boards + 1
        self._boards += boards
        return first

    def enter(self, match: str, first_id: int, boards: Sequence[PlayedBoard]) -> tuple[Note, ...]:
        """Count these boards, and what is to be kept of them."""
        notes = [Note(COUNTER, "", {"last": self._boards})]
        for number, board in enumerate(boards):
            notes += self._count(match, first_id + number, board)
        names = dict.fromkeys(name for board in boards for name in board.names)
        return (*notes, *(self._note_of(name) for name in names))

    def _count(self, match: str, board_id: int, board: PlayedBoard) -> list[Note]:
        one, two = lines = [self._lines.get(name, DuelLine()) for name in board.names]
        winner = board.winner
        after = updated(one.rating, two.rating, 0.5 if winner is None else 1.0 - winner)
        shown = DuelBoard(
            board_id, match, *board.names, one.rating, two.rating, board.start_time, board.end_time, board.moves,
            None if winner is None else board.names[winner],
        )  # fmt: skip
        notes = []
        for player, (name, line) in enumerate(zip(board.names, lines, strict=True)):
            notes.append(Note(_book_of(name), str(line.boards % KEPT), msgspec.to_builtins(shown)))
            self._lines[name] = _counted(line, after[player], board.causes[player], winner, player)
        return notes

    def _note_of(self, name: str) -> Note:
        line = replace(self._lines[name], total_seconds=self._seconds(name))
        return Note(PLAYERS, name, msgspec.to_builtins(line))

    # Players.

    def arrive(self, name: str) -> None:
        self._arrived.setdefault(name, monotonic())

    def depart(self, name: str) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + monotonic() - self._arrived.pop(name)

    async def keep_time(self, name: str) -> None:
        """Of one who has gone: kept if it has finished a board, be it by going. To be called when that has been counted."""
        spent = self._spent.pop(name, 0.0)
        if name in self._lines:
            self._lines[name] = replace(self._lines[name], total_seconds=self._lines[name].total_seconds + spent)
            await self._store.keep([self._note_of(name)])

    def online(self, name: str) -> bool:
        return name in self._arrived

    def line(self, name: str) -> DuelLine | None:
        """Up to this moment; None: nobody of that name has finished a board or is here."""
        if name not in self._lines and name not in self._arrived:
            return None
        return replace(self._lines.get(name, DuelLine()), total_seconds=self._seconds(name))

    def lines(self) -> list[tuple[str, DuelLine]]:
        """All of them, as the original sorts them: by boards won, not by rating."""
        names = self._lines | dict.fromkeys(self._arrived, DuelLine())
        found = [(name, line) for name in names if (line := self.line(name)) is not None]
        return sorted(found, key=lambda entry: (-entry[1].wins, entry[0]))

    async def boards_of(self, name: str) -> list[DuelBoard]:
        """The last ones, the latest first."""
        found = (await self._store.notes(_book_of(name))).values()
        return sorted((msgspec.convert(value, DuelBoard) for value in found), key=lambda board: -board.id)

    def _seconds(self, name: str) -> float:
        before = self._lines[name].total_seconds if name in self._lines else 0.0
        now = monotonic() - self._arrived[name] if name in self._arrived else 0.0
        return before + self._spent.get(name, 0.0) + now


async def open_duel_table(store: Store) -> DuelTable:
    lines = {name: msgspec.convert(value, DuelLine) for name, value in (await store.notes(PLAYERS)).items()}
    counter: dict[str, Any] = (await store.notes(COUNTER)).get("", {})
    return DuelTable(store, lines, counter.get("last", 0))


def _book_of(name: str) -> str:
    return f"duel boards of {name}"


def _counted(line: DuelLine, rating: float, cause: Cause, winner: int | None, player: int) -> DuelLine:
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
