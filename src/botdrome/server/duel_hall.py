"""Duel hall: who is here over duel arena, and who plays whom next."""

import asyncio
from collections.abc import Callable
from itertools import count
from random import Random, randrange
from time import time
from typing import Protocol

from botdrome.contest.lobby import Wish
from botdrome.contest.pairing import paired
from botdrome.formats import FORMATS
from botdrome.match.course import rotated
from botdrome.match.events import Result
from botdrome.server.desk import Desk, Guest
from botdrome.server.duel_table import DuelTable, PlayedBoard
from botdrome.server.failures import log_failure
from botdrome.server.table import Table
from botdrome.store.store import MatchEntry, Note
from botdrome.wire.duel import Duel

GAME = "gomoku"
WISH = Wish(GAME)
REMATCH = 0.5
"""Seconds for which two who have just met wait for somebody else, when there are others."""
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
    def __init__(self, desk: Desk, table: DuelTable) -> None:
        self.desk, self.table = desk, table
        self._present: dict[str, Duellist] = {}
        self._gathered: dict[Duellist, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._dialects: dict[str, Duel] = {}
        self._random = Random()

    # Who is here.

    def enter(self, newcomer: Duellist) -> None:
        """Of two who come under one name the newest stays."""
        before = self._present.get(newcomer.name)
        self._present[newcomer.name] = newcomer
        self.table.arrive(newcomer.name)
        if before is not None:
            before.make_way(newcomer)

    def has(self, duellist: Duellist) -> bool:
        """Whether it is the one that stays."""
        return self._present.get(duellist.name) is duellist

    def leave(self, duellist: Duellist, table: Table | None) -> None:
        """`table`: where it sat, if anywhere."""
        self.stop_gathering(duellist)
        name = duellist.name
        if self.has(duellist):
            del self._present[name]
            self.table.depart(name)
            if table is not None and table.match.result is not None:
                # Its books are on their way to the store, and of two lines the last stands.
                table.on_over.append(lambda _: self.desk.tasks.start(self._keep_time(name)))
            else:
                self.desk.tasks.start(self._keep_time(name))

    async def _keep_time(self, name: str) -> None:
        try:
            await self.table.keep_time(name)
        except Exception:
            log_failure("the time of a player could not be stored", player=name)

    async def close(self) -> None:
        present, self._present = self._present, {}
        for name, duellist in present.items():
            duellist.close()
            self.table.depart(name)
        await asyncio.gather(*[self._keep_time(name) for name in present])

    # Who plays whom.

    def gather(self, duellist: Duellist) -> None:
        """It wants an opponent: at once or, if there is a window, when that has passed."""
        self._gathered[duellist] = None
        window = self.desk.settings.duel_window
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
        for pair in () if self.desk.closing else pairs:
            self._seat([(name, gathered.pop(name) if name in gathered else self.desk.recruit(waiting[name])) for name in pair])
        for duellist in gathered.values():
            self._let_wait(duellist, hold=not again and len(rest) > 1)

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
        """Until it is over; its books are ours."""
        if table.bookkeeper is None:
            table.bookkeeper = self
            table.on_over.append(self._forget)

    def _forget(self, table: Table) -> None:
        self._dialects.pop(table.entry.id, None)

    def dialect(self, entry: MatchEntry) -> Duel:
        """The tongue of all who are here: one for each match."""
        dialect = self._dialects.get(entry.id)
        if dialect is None:
            boards, present = FORMATS[entry.game].terms.boards, self._present
            names = tuple(present[name].called if name in present else name for name in entry.players)
            dialect = self._dialects[entry.id] = Duel(names, self.table.take_ids(boards), _question_ids())
        return dialect

    def notes(self, table: Table) -> tuple[Note, ...]:
        """What a match leaves behind."""
        result = table.match.result
        if result is None or result.aborted:
            return ()
        dialect = self.dialect(table.entry)
        return self.table.enter(table.entry.id, dialect.first_board, _boards(table, result, dialect))

    def stored(self, table: Table) -> None:
        """The table counts a match when its notes are made."""


def _boards(table: Table, result: Result, dialect: Duel) -> list[PlayedBoard]:
    """The dialect has yet to hear the last news."""
    boards, now, names = len(result.boards), table.now(), table.entry.players
    missing = boards - len(dialect.began)
    began = [*dialect.began, *[now] * missing]
    lengths = [*dialect.lengths, *[0] * missing]
    lengths[-1] = len(table.match.view(None)["moves"])
    ended = [*began[1:], now]
    played = []
    for number, board in enumerate(result.boards):
        one, two = rotated(len(names), number)
        winner = None if board.places[one] == board.places[two] else int(board.places[one] > board.places[two])
        causes = board.causes[one], board.causes[two]
        start, end = (table.entry.started + at for at in (began[number], ended[number]))
        played.append(PlayedBoard((names[one], names[two]), causes, winner, start, end, lengths[number]))
    return played


def _question_ids() -> Callable[[], str]:
    """As the original makes them, a time without zeros at its end and a number up to 100,000.

    The time is that of the match, and the number counts on from one drawn at random.
    """
    began, numbers = repr(round(time(), 6)), count(randrange(NUMBERS))
    return lambda: f"{began}-{next(numbers) % NUMBERS}"
