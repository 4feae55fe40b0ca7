"""The changes that can be made to a store, and the steps that write many of them at once."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from botdrome.store import queries
from botdrome.store.identity import look_alike
from botdrome.store.match_batch import Begin, End, MatchFiles, batch_for, noted
from botdrome.store.rows import (
    Row,
    bot_entry,
    bot_row,
    end_row,
    end_seat_rows,
    key,
    like,
    match_row,
    note_row,
    packed,
    plain,
    seat_rows,
    whole,
)
from botdrome.store.steps import Alter, Find, Lock, Plan, Put, Run
from botdrome.store.store import (
    AlreadyOver,
    BotEntry,
    Epoch,
    Finish,
    LooksAlike,
    MatchEntry,
    NameTaken,
    Note,
    UnknownBot,
    UnknownMatch,
)
from botdrome.store.tables import bots, heartbeats, matches, notes


class Register(Struct, frozen=True):
    bot: Row
    name: str

    def plan(self) -> Plan[None]:
        if (yield Find(queries.BOT, {"name": self.bot[0]})):
            raise NameTaken(self.name)
        for row in (yield Find(queries.BOTS_LIKE, {"likeness": self.bot[-1]})):
            other = bot_entry(row).name
            if look_alike(self.name, other):
                raise LooksAlike(other)
        yield Put(bots, [self.bot])


class FillLikeness(Struct, frozen=True):
    """Fill in the likeness of names that an older version registered."""

    def plan(self) -> Plan[None]:
        names = yield Find(queries.UNLIKENED, {})
        if names:
            yield Alter(
                bots, ("likeness",), ("name",), [(like(whole(*name)), name[0]) for name in names]
            )


class ChangeBot(Struct, frozen=True):
    name: str
    column: str
    value: str | None

    def plan(self) -> Plan[None]:
        if not (yield Find(queries.BOT, {"name": key(self.name)})):
            raise UnknownBot(self.name)
        yield Alter(bots, (self.column,), ("name",), [(self.value, key(self.name))])


class AddNotes(Struct, frozen=True):
    notes: Sequence[Row]
    instead_of: Row | None = None

    def plan(self) -> Plan[None]:
        if self.notes:
            yield from noted(self.notes)
        if self.instead_of is not None:
            book, name, *_ = self.instead_of
            yield Run(queries.STRIKE_NOTES, {"book": book, "names": [name]})


class RemoveNotes(Struct, frozen=True):
    book: str
    names: Sequence[str]

    def plan(self) -> Plan[None]:
        yield Run(
            queries.STRIKE_NOTES,
            {"book": key(self.book), "names": [key(name) for name in self.names]},
        )


class AbortRunning(Struct, frozen=True):
    reason: str
    now: Epoch

    def plan(self) -> Plan[int]:
        """Lock first: writes of a killed server may still be under way."""
        yield Lock(matches)
        found = yield Find(queries.RUNNING, {})
        yield Run(queries.ABORT, {"ended": self.now, "reason": self.reason})
        return int(found[0][0])


class Adopt(Struct, frozen=True):
    """Give orphans to a node. Of two nodes that do so at the same time, one gets each match."""

    ids: Sequence[str]
    node: str

    def plan(self) -> Plan[list[Row]]:
        found: list[Row] = yield Find(queries.ADOPT, {"ids": list(self.ids), "new_node": self.node})
        return found


class AbortMatches(Struct, frozen=True):
    """Abort running matches of one node."""

    ids: Sequence[str]
    node: str
    reason: str
    now: Epoch

    def plan(self) -> Plan[None]:
        values = {
            "ids": list(self.ids),
            "of_node": self.node,
            "ended": self.now,
            "reason": self.reason,
        }
        yield Run(queries.ABORT_SOME, values)


class AddEntries(Struct, frozen=True):
    """Imported bots, matches and notes. Existing entries stay unchanged."""

    bots: Sequence[Row]
    matches: Sequence[Begin]
    notes: Sequence[Row] = ()

    def plan(self) -> Plan[int]:
        """Return the number of new entries."""
        new_notes = yield from self._new_notes()
        known = {
            row[0]
            for row in (yield Find(queries.NAMES_TAKEN, {"names": [bot[0] for bot in self.bots]}))
        }
        new_bots = {bot[0]: bot for bot in reversed(self.bots) if bot[0] not in known}
        if new_bots:
            yield Put(bots, [*new_bots.values()])
        batch = yield from batch_for({match.id for match in self.matches}, set())
        new_matches = sum(batch.begin(match) for match in self.matches)
        yield from batch.steps()
        return len(new_bots) + new_matches + new_notes

    def _new_notes(self) -> Plan[int]:
        new: dict[Row, Row] = {row[:2]: row for row in reversed(self.notes)}
        for book in {book for book, _ in new}:
            names = [name for this, name in new if this == book]
            for row in (yield Find(queries.NOTES_KEPT, {"book": book, "names": names})):
                del new[book, row[0]]
        if new:
            yield Put(notes, [*new.values()])
        return len(new)


class Probe(Struct, frozen=True):
    """A write that changes no data, to test whether the store can be written."""

    def plan(self) -> Plan[None]:
        yield Run(queries.STRIKE_PROBE, {})
        yield Put(heartbeats, [("probe", "", 0)])


SingleChange = (
    Register
    | ChangeBot
    | AddNotes
    | RemoveNotes
    | AbortRunning
    | Adopt
    | AbortMatches
    | AddEntries
    | Probe
    | FillLikeness
)
Change = Begin | End | SingleChange
Outcome = Any
"""The result of a change, or the exception that it raises."""
REFUSALS = (NameTaken, UnknownBot, UnknownMatch)
"""Raised before anything was written, so the other changes of the batch are still made."""


def registered(bot: BotEntry) -> Register:
    return Register(bot_row(bot), bot.name)


def begun(match: MatchEntry) -> Begin:
    return Begin(match.id, match_row(match), seat_rows(match))


def ended(finish: Finish) -> End:
    files = MatchFiles(finish.record, packed(finish.flights))
    notes = tuple([note_row(note) for note in finish.notes])
    return End(
        finish.id,
        finish.status != "running",
        end_row(finish),
        end_seat_rows(finish.result),
        files,
        notes,
    )


def kept_notes(notes: Sequence[Note], instead_of: Note | None = None) -> AddNotes:
    return AddNotes(
        [note_row(note) for note in notes], None if instead_of is None else note_row(instead_of)
    )


def aborted(reason: str, now: Epoch) -> AbortRunning:
    return AbortRunning(plain(reason), now)


def carried_out(changes: Sequence[Change]) -> Plan[list[Outcome]]:
    """Make the changes in order; write neighbouring begins and ends of matches together."""
    outcomes: list[Outcome] = []
    for of_matches, run in groupby(changes, lambda change: isinstance(change, Begin | End)):
        neighbours: Sequence[Any] = list(run)
        outcomes += yield from (_together(neighbours) if of_matches else _each(neighbours))
    return outcomes


def _together(changes: Sequence[Begin | End]) -> Plan[list[Outcome]]:
    begins = {change.id for change in changes if isinstance(change, Begin)}
    ends = {change.id for change in changes if isinstance(change, End)}
    batch = yield from batch_for(begins, ends)
    outcomes: list[Outcome] = []
    for change in changes:
        try:
            batch.begin(change) if isinstance(change, Begin) else batch.end(change)
            outcomes.append(None)
        except (AlreadyOver, UnknownMatch) as refusal:
            outcomes.append(refusal)
    yield from batch.steps()
    return outcomes


def _each(changes: Sequence[SingleChange]) -> Plan[list[Outcome]]:
    outcomes: list[Outcome] = []
    for change in changes:
        try:
            outcomes.append((yield from change.plan()))
        except REFUSALS as refusal:
            outcomes.append(refusal)
    return outcomes
