"""Sheet: the rows that many matches add and change together, table by table."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from botdrome.store import queries
from botdrome.store.rows import Row, squeezed
from botdrome.store.steps import Alter, Find, Plan, Put, Run, Step, Take
from botdrome.store.store import AlreadyOver, UnknownMatch
from botdrome.store.tables import matches, notes, records, seats

END_OF_MATCH = ("status", "ended", "result", "view", "reason")
END_OF_SEAT = ("place", "score", "cause")


class Begin(Struct, frozen=True, gc=False):
    """A match that is new. Its rows lack the number of the match."""

    id: str
    match: Row
    seats: tuple[Row, ...]
    papers: "Papers | None" = None
    """None: there are none, or not yet."""


class Papers(Struct, frozen=True, gc=False):
    """The bulk of a match."""

    record: bytes
    flights: bytes
    """Of all players, packed."""


class End(Struct, frozen=True, gc=False):
    """A match that is over, or one of its boards."""

    id: str
    over: bool
    match: Row
    seats: tuple[Row, ...]
    papers: Papers
    notes: tuple[Row, ...] = ()


class Sheet:
    def __init__(self, known: Iterable[Row], numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)
        self._number: dict[str, int] = {}
        self._running: set[str] = set()
        self._filed: set[str] = set()
        """Matches that run and have a record."""
        self._over: dict[str, Row] = {}
        """Status and time of the end of matches that have one."""
        for match_id, number, status, ended, has_result in known:
            self._number[match_id] = number
            if status == "running":
                self._running.add(match_id)
                if has_result:
                    self._filed.add(match_id)
            else:
                self._over[match_id] = status, ended
        self._matches: dict[int, Row] = {}
        self._seats: dict[int, list[Row]] = {}
        self._ended_matches: dict[int, Row] = {}
        self._ended_seats: dict[int, list[Row]] = {}
        self._outdated: list[str] = []
        self._records: dict[int, Row] = {}
        self._notes: list[Row] = []

    def begin(self, match: Begin) -> bool:
        """Whether it is new; else it stays as it is."""
        if match.id in self._number:
            return False
        number = self._number[match.id] = next(self._numbers)
        self._matches[number] = (number, *match.match)
        self._seats[number] = [(number, *seat) for seat in match.seats]
        if match.papers is None:
            self._running.add(match.id)
        else:
            self._over[match.id] = match.match[-len(END_OF_MATCH) :][:2]
            self._file(number, match.papers)
        return True

    def end(self, match: End) -> None:
        """AlreadyOver if the match has another end."""
        number = self._number.get(match.id)
        if number is None:
            raise UnknownMatch(match.id)
        if match.id not in self._running:
            self._check_end(match)
            return
        if match.over:
            self._running.remove(match.id)
            self._over[match.id] = match.match[:2]
        if number in self._matches:
            self._end_new(number, match)
        else:
            self._ended_matches[number] = (*match.match, number)
            self._ended_seats[number] = [(*seat, number) for seat in match.seats]
        if match.id in self._filed:
            self._filed.remove(match.id)
            self._outdated.append(match.id)
        self._file(number, match.papers)
        self._notes.extend(match.notes)

    def _check_end(self, match: End) -> None:
        """The same may come twice, where nobody knows whether it was written; a board is part of the end that came after it."""
        status, _ = stored = self._over[match.id]
        if stored != match.match[:2] if match.over else status != "ended":
            raise AlreadyOver(f"{match.id} is {status} in the store, and cannot become {match.match[0]}")

    def _end_new(self, number: int, match: End) -> None:
        """One that began on this sheet is put down as it ended."""
        self._matches[number] = (*self._matches[number][: -len(END_OF_MATCH)], *match.match)
        seats = self._seats[number]
        for *end, player in match.seats:
            seats[player] = (*seats[player][: -len(END_OF_SEAT)], *end)

    def _file(self, number: int, papers: Papers) -> None:
        self._records[number] = (number, papers.record, squeezed(papers.flights))

    def steps(self) -> Iterator[Step]:
        if self._outdated:
            yield Run(queries.STRIKE_RECORDS, {"ids": self._outdated})
        steps: list[Put | Alter] = [
            Put(matches, [*self._matches.values()]),
            Put(seats, [seat for seats in self._seats.values() for seat in seats]),
            Alter(matches, END_OF_MATCH, ("number",), [*self._ended_matches.values()]),
            Alter(seats, END_OF_SEAT, ("player", "number"), [seat for seats in self._ended_seats.values() for seat in seats]),
            Put(records, [*self._records.values()]),
        ]
        yield from (step for step in steps if step.rows)
        if self._notes:
            yield from noted(self._notes)


def noted(rows: Sequence[Row]) -> Iterator[Step]:
    """Of each name the last."""
    last = {row[:2]: row for row in rows}
    for book in {book for book, _ in last}:
        yield Run(queries.STRIKE_NOTES, {"book": book, "names": [name for this, name in last if this == book]})
    yield Put(notes, [*last.values()])


def sheet_for(begun: set[str], ended: set[str]) -> Plan[Sheet]:
    """A sheet for matches with these ids."""
    known = yield Find(queries.KNOWN, {"ids": [*(begun | ended)]})
    new = len(begun - {row[0] for row in known})
    numbers = (yield Take(new)) if new else ()
    return Sheet(known, numbers)
