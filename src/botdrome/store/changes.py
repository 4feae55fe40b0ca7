"""The changes that can be made to a store, and the steps that write many of them at once.

A change becomes a generator of steps, which are plain data. Each database executes them in its own
way.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, TypeVar

from msgspec import Struct

from botdrome.store import queries
from botdrome.store.entries import (
    AlreadyOver,
    ClassRefusal,
    Epoch,
    Finish,
    LooksAlike,
    MatchEntry,
    NameTaken,
    RefusedUpload,
    UnknownBot,
    UnknownClass,
    UnknownMatch,
    look_alike,
)
from botdrome.store.rows import (
    Row,
    TableRow,
    bot_entry,
    compressed,
    end_row,
    end_seat_rows,
    kept_row,
    key,
    match_row,
    packed,
    seat_rows,
)
from botdrome.store.schema import KEYS

T = TypeVar("T")


class Run(Struct, frozen=True):
    """A statement, answered with its rows."""

    statement: str
    values: Mapping[str, Any]


class TakeNumbers(Struct, frozen=True):
    """Reserve numbers for new matches; answered with the numbers, ascending."""

    numbers: int


class LockMatches(Struct, frozen=True):
    """Block other writers of matches until the commit, after waiting for their own commits."""


class LockUploads(Struct, frozen=True):
    """Block other changes of uploads until the commit, after waiting for their own commits."""


class Insert(Struct, frozen=True):
    """Insert rows with a value for every column of `schema.COLUMNS`."""

    table: str
    rows: Sequence[Row]


class Replace(Struct, frozen=True):
    """Insert rows with different keys into a table of `schema.REPLACED`, in place of earlier ones
    with the same keys.
    """

    table: str
    rows: Sequence[Row]


class Columns(Struct, frozen=True):
    """Columns of a table with their types in PostgreSQL: those to change, and those that select."""

    table: str
    changed: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]


class Update(Struct, frozen=True):
    """Update rows. Each has the new values, then those of the keys."""

    columns: Columns
    rows: Sequence[Row]


Step = Run | TakeNumbers | LockMatches | LockUploads | Insert | Replace | Update
Plan = Generator[Step, Any, T]
"""A generator of steps that is sent the answer to each step, and returns the outcome."""


def followed(plan: Plan[T], do: Callable[[Step], Any]) -> T:
    answer = None
    while True:
        try:
            step = plan.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer = do(step)


END_OF_MATCH = Columns(
    "matches",
    (
        ("status", "text"),
        ("ended", "bigint"),
        ("result", "text"),
        ("view", "text"),
        ("reason", "text"),
    ),
    (("number", "bigint"),),
)
END_OF_SEAT = Columns(
    "seats",
    (("place", "integer"), ("score", "float8"), ("cause", "text")),
    (("player", "integer"), ("number", "bigint")),
)
ABORT = f"""UPDATE matches SET status = 'aborted', ended = :ended, reason = :reason
    WHERE {queries.HAS_STATUS["running"]}"""
ABORT_SOME = f"{ABORT} AND id IN :ids AND node = :of_node"
KEEP_EVALUATION = """INSERT INTO evaluations (number, version, data)
    SELECT number, :version, :data FROM matches WHERE id = :id ON CONFLICT (number)
    DO UPDATE SET version = excluded.version, data = excluded.data"""
DELETE_PROBE = "DELETE FROM heartbeats WHERE name = 'probe'"


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
    notes: tuple[TableRow, ...] = ()


class Keep(Struct, frozen=True, gc=False):
    """Notes that belong to no match."""

    notes: tuple[TableRow, ...]


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
        self._records: dict[int, Row] = {}
        self._newer_records: dict[int, Row] = {}
        """Those that replace stored ones."""
        self._notes: list[TableRow] = []

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
            self._over[match.id] = match.match[-len(END_OF_MATCH.changed) :][:2]
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
        if not match.over and self._filed.get(match.id) == match.match[2]:
            return  # a lost commit is repeated: others may have used its notes since
        again = match.id in self._filed
        if again:
            self._filed[match.id] = ""  # equals no result: later boards of this batch are newer
        if match.over:
            self._running.remove(match.id)
            self._over[match.id] = match.match[:2]
        if number in self._matches:
            self._end_new(number, match)
        else:
            self._ended_matches[number] = (*match.match, number)
            if match.seats:
                self._ended_seats[number] = [(*seat, number) for seat in match.seats]
        self._file(number, match.files, again)
        self._notes.extend(match.notes)

    def keep(self, notes: Keep) -> None:
        self._notes.extend(notes.notes)

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
        self._matches[number] = (*self._matches[number][: -len(END_OF_MATCH.changed)], *match.match)
        seats = self._seats[number]
        for *end, player in match.seats:
            seats[player] = (*seats[player][: -len(END_OF_SEAT.changed)], *end)

    def _file(self, number: int, files: MatchFiles, again: bool = False) -> None:
        records = self._newer_records if again else self._records
        records[number] = (number, files.record, compressed(files.flights))

    def steps(self) -> Iterator[Step]:
        if self._matches:
            yield Insert("matches", [*self._matches.values()])
            yield Insert("seats", [seat for seats in self._seats.values() for seat in seats])
        if self._ended_matches:
            yield Update(END_OF_MATCH, [*self._ended_matches.values()])
        if self._ended_seats:
            yield Update(
                END_OF_SEAT, [seat for some in self._ended_seats.values() for seat in some]
            )
        if self._records:
            yield Insert("records", [*self._records.values()])
        if self._newer_records:
            yield Replace("records", [*self._newer_records.values()])
        if self._notes:
            yield from replaced(self._notes)


def replaced(rows: Iterable[TableRow]) -> Iterator[Step]:
    """Write the last row of each key, in place of an earlier one.

    All nodes write in the same order: otherwise two could wait for each other's rows for ever.
    """
    for table, keyed in sorted(_by_key(rows).items()):
        yield Replace(table, [keyed[key] for key in sorted(keyed)])


def _by_key(rows: Iterable[TableRow]) -> dict[str, dict[Row, Row]]:
    """Return the last row of each key, by table."""
    found: dict[str, dict[Row, Row]] = {}
    for table, row in rows:
        found.setdefault(table, {})[row[: len(KEYS[table])]] = row
    return found


def _groups(table: str, keys: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield conditions and values that find the rows with these keys: one for each book or
    contest.
    """
    *group, name = KEYS[table]
    which = " AND ".join([*(f"{column} = :{column}" for column in group), f"{name} IN :names"])
    together: dict[Row, list[Any]] = {}
    for key_ in keys:
        together.setdefault(key_[:-1], []).append(key_[-1])
    for values, names in together.items():
        yield which, dict(zip(group, values, strict=True)) | {"names": names}


def batch_for(begun: set[str], ended: set[str]) -> Plan[MatchBatch]:
    """Return a batch for matches with these ids."""
    if not (begun or ended):
        return MatchBatch((), ())
    known = yield Run(queries.KNOWN, {"ids": [*(begun | ended)]})
    new = len(begun - {row[0] for row in known})
    numbers = (yield TakeNumbers(new)) if new else ()
    return MatchBatch(known, numbers)


def register(bot: Row, name: str) -> Plan[None]:
    if (yield Run(queries.BOT_CALLED, {"name": bot[0]})):
        raise NameTaken(name)
    for row in (yield Run(queries.BOTS_LIKE, {"likeness": bot[-1]})):
        other = bot_entry(row).name
        if look_alike(name, other):
            raise LooksAlike(other)
    yield Insert("bots", [bot])


def change_bot(name: str, column: Literal["token_hash", "url"], value: str | None) -> Plan[None]:
    if not (yield Run(queries.BOT_CALLED, {"name": key(name)})):
        raise UnknownBot(name)
    change = f"UPDATE bots SET {column} = :value WHERE name = :name"
    yield Run(change, {"value": value, "name": key(name)})


def change_rows(rows: Sequence[TableRow], deleted: str, which: Sequence[Row]) -> Plan[None]:
    """Store rows in place of others, and delete those with these keys from a table."""
    yield from replaced(rows)
    for condition, values in _groups(deleted, which):
        yield Run(f"DELETE FROM {deleted} WHERE {condition}", values)


def keep_evaluation(match_id: str, version: int, data: bytes) -> Plan[None]:
    yield Run(KEEP_EVALUATION, {"id": match_id, "version": version, "data": data})


def abort_running(reason: str, now: Epoch) -> Plan[int]:
    """Lock first: writes of a killed server may still be under way."""
    yield LockMatches()
    found = yield Run(queries.RUNNING, {})
    yield Run(ABORT, {"ended": now, "reason": reason})
    return int(found[0][0])


def adopt(ids: Sequence[str], node: str) -> Plan[list[Row]]:
    """Give orphans to a node. Of two nodes that do so at the same time, one gets each match."""
    found: list[Row] = yield Run(queries.ADOPT, {"ids": list(ids), "new_node": node})
    return found


def abort_matches(ids: Sequence[str], node: str, reason: str, now: Epoch) -> Plan[None]:
    """Abort running matches of one node."""
    values = {"ids": list(ids), "of_node": node, "ended": now, "reason": reason}
    yield Run(ABORT_SOME, values)


ClassRows = tuple[Row, Sequence[Row]]
"""A class and its participants."""


def add_entries(
    bots: Sequence[Row],
    matches: Sequence[Begin],
    notes: Sequence[TableRow],
    classes: Sequence[ClassRows],
) -> Plan[int]:
    """Add imported bots, matches, notes and classes, and return the number of new ones. Existing
    entries stay unchanged.
    """
    new_others = yield from _add_notes(notes)
    new_others += yield from _add_classes(classes)
    found = yield Run(queries.NAMES_TAKEN, {"names": [bot[0] for bot in bots]})
    known = {row[0] for row in found}
    new_bots = {bot[0]: bot for bot in reversed(bots) if bot[0] not in known}
    if new_bots:
        yield Insert("bots", [*new_bots.values()])
    batch = yield from batch_for({match.id for match in matches}, set())
    new_matches = sum(batch.begin(match) for match in matches)
    yield from batch.steps()
    return len(new_bots) + new_matches + new_others


def _add_notes(notes: Sequence[TableRow]) -> Plan[int]:
    added = 0
    for table, new in _by_key(reversed(notes)).items():
        columns = ", ".join(KEYS[table])
        for which, values in [*_groups(table, new)]:
            for row in (yield Run(f"SELECT {columns} FROM {table} WHERE {which}", values)):
                del new[tuple(row)]
        if new:
            yield Insert(table, [*new.values()])
        added += len(new)
    return added


def _add_classes(classes: Sequence[ClassRows]) -> Plan[int]:
    new = {row[0]: (row, people) for row, people in reversed(classes)}
    for row in (yield Run(queries.CLASSES_KEPT, {"names": [*new]})) if new else ():
        del new[row[0]]
    if new:
        yield Insert("classes", [row for row, _ in new.values()])
        yield Insert("participants", [one for _, people in new.values() for one in people])
    return len(new)


def probe() -> Plan[None]:
    """Write without changing data, to test whether the store can be written."""
    yield Run(DELETE_PROBE, {})
    yield Insert("heartbeats", [("probe", "", 0)])


Change = Begin | End | Keep | Callable[[], Plan[Any]]
"""A function is called again if the change is repeated."""
JOINED = frozenset({Begin, End, Keep})
"""Changes that are written together."""
Outcome = Any
"""The result of a change, or the exception that it raises."""
REFUSALS = (NameTaken, RefusedUpload, UnknownBot, UnknownMatch, UnknownClass, ClassRefusal)
"""Raised before anything was written, so the other changes of the batch are still made."""


def begun(match: MatchEntry, files: MatchFiles | None = None) -> Begin:
    return Begin(match.id, match_row(match), seat_rows(match), files)


def ended(finish: Finish) -> End:
    files = MatchFiles(finish.record, packed(finish.flights))
    notes = tuple([kept_row(note) for note in finish.notes])
    over, seats = finish.status != "running", end_seat_rows(finish.result)
    return End(finish.id, over, end_row(finish), seats, files, notes)


def carried_out(changes: Sequence[Change]) -> Plan[list[Outcome]]:
    """Make the changes in order; write neighbours together if they are begins and ends of matches,
    or notes.
    """
    outcomes: list[Outcome] = []
    for joined, run in groupby(changes, _is_joined):
        neighbours: Sequence[Any] = list(run)
        outcomes += yield from (_together(neighbours) if joined else _each(neighbours))
    return outcomes


def _is_joined(change: Change) -> bool:
    """Here and below types are compared, which is faster than `isinstance` for such classes."""
    return type(change) in JOINED


def _together(changes: Sequence[Begin | End | Keep]) -> Plan[list[Outcome]]:
    begins = {change.id for change in changes if type(change) is Begin}
    ends = {change.id for change in changes if type(change) is End}
    batch = yield from batch_for(begins, ends)
    outcomes: list[Outcome] = []
    for change in changes:
        try:
            if type(change) is End:
                batch.end(change)
            elif type(change) is Begin:
                batch.begin(change)
            elif type(change) is Keep:
                batch.keep(change)
            outcomes.append(None)
        except (AlreadyOver, UnknownMatch) as refusal:
            outcomes.append(refusal)
    yield from batch.steps()
    return outcomes


def _each(changes: Sequence[Callable[[], Plan[Any]]]) -> Plan[list[Outcome]]:
    outcomes: list[Outcome] = []
    for change in changes:
        try:
            outcomes.append((yield from change()))
        except REFUSALS as refusal:
            outcomes.append(refusal)
    return outcomes
