"""Duel hall: who is here over duel arena, and who plays whom next."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from random import Random, randrange
from time import time
from typing import Any, Protocol

from botdrome.contest.lobby import Wish
from botdrome.contest.pairing import paired
from botdrome.formats import FORMATS
from botdrome.match.course import rotated
from botdrome.server.duel.board_ids import BoardIds
from botdrome.server.duel.lines import Counted, PlayedBoard
from botdrome.server.duel.settings import DuelSection
from botdrome.server.duel.table import DuelTable
from botdrome.server.failures import log_failure
from botdrome.server.lobby.desk import Desk, Guest
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.store import Epoch, MatchEntry, Note
from botdrome.wire.duel.messages import Duel

GAME = "gomoku"
WISH = Wish(GAME)
REMATCH = 0.5
"""Seconds for which two who have just met wait for somebody else, when there are others."""
SPARE_IDS = 100
"""Ids of boards for those whom the desk seats; pairs of ours wait until there are more than these."""
NUMBERS = 100_001
"""The number in the id of a question is below this."""


class Duellist(Guest, Protocol):
    """A guest who stays for many matches."""

    name: str
    """In the house."""
    called: str
    """The name that it gave, by which those on this protocol know it."""
    last_opponent: str | None
    heir: "Duellist | None"
    """Who came under the same name and took over its seat."""

    def make_way(self, newcomer: "Duellist") -> None:
        """Somebody else came under the same name: hand over the seat, if there is one, and go."""

    def close(self) -> None: ...


class DuelHall:
    def __init__(self, desk: Desk, table: DuelTable, ids: BoardIds) -> None:
        self.desk, self.table, self._ids = desk, table, ids
        self._present: dict[str, Duellist] = {}
        self._gathered: dict[Duellist, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._dialects: dict[str, Duel] = {}
        self._counted: dict[str, Counted] = {}
        self._random = Random()

    # Who is here.

    def enter(self, newcomer: Duellist) -> None:
        """Of two who come under one name the newest stays."""
        before = self._present.get(newcomer.name)
        self._present[newcomer.name] = newcomer
        self._store_in_background(self.table.arrive(newcomer.name))
        if before is not None:
            before.make_way(newcomer)

    def has(self, duellist: Duellist) -> bool:
        """Whether it is the one that stays."""
        return self._present.get(duellist.name) is duellist

    def leave(self, duellist: Duellist) -> None:
        self.stop_gathering(duellist)
        if self.has(duellist):
            del self._present[duellist.name]
            self._store_in_background(self.table.depart(duellist.name))

    def _store_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        self.desk.tasks.start(_logged(work))

    async def close(self) -> None:
        present, self._present = self._present, {}
        for duellist in present.values():
            duellist.close()
        await asyncio.gather(*[_logged(self.table.depart(name)) for name in present], _logged(self._ids.close()))

    # Who plays whom.

    def gather(self, duellist: Duellist) -> None:
        """It wants an opponent: at once or, if there is a window, when that has passed."""
        self._gathered[duellist] = None
        window = self.desk.settings.of(DuelSection).window
        if window:
            self._pair_in(window)
        else:
            self._pair(again=len(self._present) <= 2)

    def stop_gathering(self, duellist: Duellist) -> None:
        self._gathered.pop(duellist, None)

    def gathering(self, duellist: Duellist) -> bool:
        return duellist in self._gathered

    def _pair_in(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._pair(again=True)

    def _pair(self, again: bool) -> None:
        """With those who wait over other protocols, too. Unless `again`, two who have just met wait for others a while."""
        if self.desk.refusal and not self.desk.closing:
            return self._pair_in(REMATCH)
        gathered, self._gathered = {duellist.name: duellist for duellist in self._gathered}, {}
        waiting = {} if self.desk.closing else {seeker.name: seeker for seeker in self.desk.waiting(WISH)}
        names = list(gathered | waiting)
        self._random.shuffle(names)
        pairs, rest = paired(names, {name: duellist.last_opponent for name, duellist in gathered.items()})
        if again:
            pairs += zip(rest[::2], rest[1::2], strict=False)
        seats = max(self._ids.left - SPARE_IDS, 0) // FORMATS[GAME].terms.boards
        for pair in () if self.desk.closing else pairs[:seats]:
            self._seat([(name, gathered.pop(name) if name in gathered else self.desk.recruit(waiting[name])) for name in pair])
        for duellist in gathered.values():
            self._let_wait(duellist, hold=(not again and len(rest) > 1) or len(pairs) > seats)
        if self._ids.low and not self.desk.closing:
            self._store_in_background(self._ids.reserve())

    def _let_wait(self, duellist: Duellist, hold: bool) -> None:
        if hold:
            self._gathered[duellist] = None
            self._pair_in(REMATCH)
        else:
            self.desk.seek(duellist, duellist.name, WISH, by_lot=True)

    def _seat(self, pair: list[tuple[str, Guest]]) -> None:
        """Chance decides who begins."""
        self._random.shuffle(pair)
        row = FORMATS[GAME]
        names, owners = tuple(name for name, _ in pair), tuple(guest.owner for _, guest in pair)
        table = self.desk.floor.set_table(row.game, row.terms, names, owners)
        self.desk.floor.start_table(table, [guest for _, guest in pair])

    # Their matches.

    def look_after(self, table: Table) -> None:
        """Until it is over; its books are ours, unless it is played at a pace for people."""
        if table.entry.id not in self._counted:
            usual = table.entry.pace == "usual"
            table.subscribe(
                Subscriber(notes=self.notes if usual else None, stored=self.stored if usual else None, over=self._forget)
            )
            self._counted[table.entry.id] = Counted(since=table.entry.started)

    def _forget(self, table: Table) -> None:
        self._dialects.pop(table.entry.id, None)
        self._counted.pop(table.entry.id, None)
        self.table.drop(table.entry.id)
        self._store_in_background(self.table.correct())

    def dialect(self, entry: MatchEntry) -> Duel:
        """The tongue of all who are here: one for each match."""
        dialect = self._dialects.get(entry.id)
        if dialect is None:
            boards, present = FORMATS[entry.game].terms.boards, self._present
            names = tuple(present[name].called if name in present else name for name in entry.players)
            dialect = self._dialects[entry.id] = Duel(names, self._ids.take(boards), _question_ids())
        return dialect

    def notes(self, table: Table) -> tuple[Note, ...]:
        """What the boards that have ended since the last time leave behind."""
        first_board, counted = self.dialect(table.entry).first_board, self._counted[table.entry.id]
        return self.table.enter(table.entry.id, first_board + counted.boards, _boards(table, counted))

    def stored(self, table: Table) -> None:
        match = table.match
        self._counted[table.entry.id] = Counted(match.board, match.steps, _now())
        self.table.settle(table.entry.id)
        self._store_in_background(self.table.correct())


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log_failure("the table of duel arena could not be stored")


def _boards(table: Table, counted: Counted) -> list[PlayedBoard]:
    """Those that have ended and were not counted yet: each move is a step, and all were made on the first of them."""
    match, names = table.match, table.entry.players
    boards = (match.result or match.result_if_ended("aborted")).boards
    start, end = counted.since, max(counted.since, _now())
    played: list[PlayedBoard] = []
    for number, board in enumerate(boards[counted.boards :], counted.boards):
        if "aborted" in board.causes:
            break
        one, two = rotated(len(names), number)
        winner = None if board.places[one] == board.places[two] else int(board.places[one] > board.places[two])
        moves = 0 if played else match.steps - counted.steps
        played.append(PlayedBoard((names[one], names[two]), (board.causes[one], board.causes[two]), winner, start, end, moves))
        start = end
    return played


def _now() -> Epoch:
    return int(time() * 1000)


def _question_ids() -> Callable[[], str]:
    """As the original makes them, a time without zeros at its end and a number up to 100,000.

    The time is that of the match, and the number counts on from one drawn at random.
    """
    began, numbers = repr(round(time(), 6)), count(randrange(NUMBERS))
    return lambda: f"{began}-{next(numbers) % NUMBERS}"
