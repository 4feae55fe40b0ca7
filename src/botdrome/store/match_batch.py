"""The rows that a batch of matches adds and changes, table by table."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from botdrome.store import queries
from botdrome.store.rows import Row, compressed
from botdrome.store.steps import Alter, Find, Plan, Put, Run, Step, TakeNumbers
from botdrome.store.store import AlreadyOver, UnknownMatch
from botdrome.store.tables import matches, notes, records, seats

END_OF_MATCH = ("status", "ended", "result", "view", "reason")
RESULT = END_OF_MATCH.index("result")
END_OF_SEAT = ("place", "score", "cause")


class Begin(Struct, frozen=True, gc=False):
    """A new match. Its rows lack the number of the match."""

    id: str
    match: Row
    seats: tuple[Row, ...]
    files: "MatchFiles | None" = None
    """None while the match runs, or if there are none."""


class MatchFiles(Struct, frozen=True, gc=False):
    """The match file and the flight records of a match."""

    record: bytes
    flights: bytes
    """Of all players, packed."""


class End(Struct, frozen=True, gc=False):
    """The end of a match or of one of its boards."""

    id: str
    over: bool
    match: Row
    seats: tuple[Row, ...]
    files: MatchFiles
    notes: tuple[Row, ...] = ()


class MatchBatch:
    def __init__(self, known: Iterable[Row], numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)
        self._number: dict[str, int] = {}
        self._running: set[str] = set()
        self._filed: dict[str, str] = {}
        """The results of running matches that have a record, as they were after their last boards.
        """
        self._over: dict[str, Row] = {}
        """Status and time of the end, for matches that have ended."""
        for match_id, number, status, ended, result in known:
            self._number[match_id] = number
            if status == "running":
                self._running.add(match_id)
                if result is not None:
                    self._filed[match_id] = result
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
        """Return whether the match is new; a known one stays unchanged."""
        if match.id in self._number:
            return False
        number = self._number[match.id] = next(self._numbers)
        self._matches[number] = (number, *match.match)
        self._seats[number] = [(number, *seat) for seat in match.seats]
        if match.files is None:
            self._running.add(match.id)
        else:
            self._over[match.id] = match.match[-len(END_OF_MATCH) :][:2]
            self._file(number, match.files)
        return True

    def end(self, match: End) -> None:
        """Raise AlreadyOver if the match has a different end, UnknownMatch if it never began."""
        number = self._number.get(match.id)
        if number is None:
            raise UnknownMatch(match.id)
        if match.id not in self._running:
            self._check_end(match)
            return
        if not match.over and self._filed.get(match.id) == match.match[RESULT]:
            return  # a lost commit is repeated: others may have used its notes since
        if match.over:
            self._running.remove(match.id)
            self._over[match.id] = match.match[:2]
        if number in self._matches:
            self._end_new(number, match)
        else:
            self._ended_matches[number] = (*match.match, number)
            self._ended_seats[number] = [(*seat, number) for seat in match.seats]
        if match.id in self._filed:
            del self._filed[match.id]
            self._outdated.append(match.id)
        self._file(number, match.files)
        self._notes.extend(match.notes)

    def _check_end(self, match: End) -> None:
        """Accept the same end twice, since a lost commit is repeated, and a board that ended before
        its match did.
        """
        status, _ = stored = self._over[match.id]
        if stored != match.match[:2] if match.over else status != "ended":
            raise AlreadyOver(
                f"{match.id} is {status} in the store, and cannot become {match.match[0]}"
            )

    def _end_new(self, number: int, match: End) -> None:
        """Store a match that began in this batch in its final form."""
        self._matches[number] = (*self._matches[number][: -len(END_OF_MATCH)], *match.match)
        seats = self._seats[number]
        for *end, player in match.seats:
            seats[player] = (*seats[player][: -len(END_OF_SEAT)], *end)

    def _file(self, number: int, files: MatchFiles) -> None:
        self._records[number] = (number, files.record, compressed(files.flights))

    def steps(self) -> Iterator[Step]:
        if self._outdated:
            yield Run(queries.STRIKE_RECORDS, {"ids": self._outdated})
        steps: list[Put | Alter] = [
            Put(matches, [*self._matches.values()]),
            Put(seats, [seat for seats in self._seats.values() for seat in seats]),
            Alter(matches, END_OF_MATCH, ("number",), [*self._ended_matches.values()]),
            Alter(
                seats,
                END_OF_SEAT,
                ("player", "number"),
                [seat for seats in self._ended_seats.values() for seat in seats],
            ),
            Put(records, [*self._records.values()]),
        ]
        yield from (step for step in steps if step.rows)
        if self._notes:
            yield from noted(self._notes)


def noted(rows: Sequence[Row]) -> Iterator[Step]:
    """Write the last note of each name."""
    last = {row[:2]: row for row in rows}
    for book in {book for book, _ in last}:
        yield Run(
            queries.STRIKE_NOTES,
            {"book": book, "names": [name for this, name in last if this == book]},
        )
    yield Put(notes, [*last.values()])


def batch_for(begun: set[str], ended: set[str]) -> Plan[MatchBatch]:
    """Return a batch for matches with these ids."""
    known = yield Find(queries.KNOWN, {"ids": [*(begun | ended)]})
    new = len(begun - {row[0] for row in known})
    numbers = (yield TakeNumbers(new)) if new else ()
    return MatchBatch(known, numbers)
