"""Contest journal: the contests of a store with entrants, results and every change.

The result of a match is stored with its end in one transaction (`ContestResult` in
`Finish.notes`), so that a fixture counts exactly once. Every other change is stored together with
its line of the log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from time import time
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.document import ContestDocument, stored_document
from botdrome.contest.formats.format import Entrant, EntrantNumber, FixtureResult, Results
from botdrome.contest.progress import ResultBook
from botdrome.games.reading import plural
from botdrome.store.changes import change_rows
from botdrome.store.entries import ContestResult, Epoch, Note
from botdrome.store.queries import FARTHEST, where
from botdrome.store.rows import TableRow, as_json, kept_row, key
from botdrome.store.store import Store, StoreReader


def only_bots(old: ContestDocument, new: ContestDocument) -> bool:
    """Return True if the documents differ only in bots that may be exchanged or added during the
    contest.
    """
    if replace(old, entrants=new.entrants) != new or len(new.entrants) < len(old.entrants):
        return False
    kept = zip(old.entrants, new.entrants, strict=False)
    same = all(
        before == after or (old.entry.versions and replace(before, bot=after.bot) == after)
        for before, after in kept
    )
    return same and (old.entry.late or len(new.entrants) == len(old.entrants))


def changed_keys(old: ContestDocument, new: ContestDocument) -> list[str]:
    """Name the keys of a document that differ, with both values."""
    before, after = msgspec.to_builtins(old), msgspec.to_builtins(new)
    return [
        f"{key} was {_shown(before[key])}, is {_shown(after[key])}"
        for key in before
        if before[key] != after[key]
    ]


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."


ContestState = Literal["draft", "open", "running", "paused", "over"]
TRANSITIONS: Mapping[ContestState, tuple[ContestState, ...]] = {
    "draft": ("open", "running"),
    "open": ("draft", "running", "over"),
    "running": ("paused", "over"),
    "paused": ("running", "over"),
    "over": ("running", "paused"),
}
"""The states that may follow each state.

A contest that is over goes on if matches of it are played again.
"""
BEFORE: tuple[ContestState, ...] = ("draft", "open")
"""The states in which the document may be changed."""
ARENA = "arena"
"""The author of changes that an offline run makes by itself."""
ALL_PLAYED = "all matches are played"
"""Why a contest on a server is over, unless it was ended early."""
MOST_LISTED = 10
"""Fixtures that a line of the log names."""
AT_ONCE = 5_000
"""Results that are read at once."""
CALLED = "SELECT entry FROM contests WHERE name = :name"
ENTRANTS = "SELECT entrant FROM contest_entrants WHERE contest = :name ORDER BY number"
ENTERED = "SELECT count(*) FROM contest_entrants WHERE contest = :name"
DECIDED = "SELECT count(*) FROM contest_results WHERE contest = :name AND result <> '{}'"
RESULTS = """SELECT fixture, result FROM contest_results
    WHERE contest = :name AND fixture > :after AND result <> '{}' ORDER BY fixture LIMIT :limit"""
LOG = "SELECT change FROM contest_log WHERE contest = :name ORDER BY line"


class UnknownContest(LookupError):
    """No contest of the store has that name."""


class ContestRefusal(ValueError):
    """A change that the state or the document of the contest does not allow; the text has the
    reason.
    """


class StillChecked(ContestRefusal):
    """Uploads of a class must be checked before their contest starts."""


class ContestEntry(Struct, frozen=True):
    """A contest without its entrants, results and log."""

    document: ContestDocument
    state: ContestState
    created: Epoch
    why: str = ""
    """Why it waits for the organiser; empty: it does not."""
    secret: str = ""
    """What the seeds of its matches depend on (see `contest/progress.py`); empty: on nothing
    but the document.
    """
    offline: bool = False
    """Whether `botdrome contest run` plays it; a server only shows it."""


class LogLine(Struct, frozen=True, omit_defaults=True):
    """A change of a contest."""

    when: Epoch
    author: str
    action: str
    """Such as `created`, `running`, `paused`, `entered`, `withdrawn`."""
    detail: str = ""
    old: dict[str, FixtureResult] = {}
    """The results that no longer count, by fixture."""


class EnteredContest(Struct, frozen=True):
    """A contest with its entrants."""

    entry: ContestEntry
    entrants: list[Entrant]

    def number_of(self, bot: str) -> EntrantNumber | None:
        """Return the number of the entrant with this name; None: there is none."""
        return next((at for at, one in enumerate(self.entrants) if one.name == bot), None)


class StoredContest(EnteredContest, frozen=True):
    """All that the store has about a contest."""

    results: Mapping[str, FixtureResult]
    """By the key of the fixture."""
    log: list[LogLine]
    """Oldest first."""


class ContestReader:
    """Reads the contests of a store."""

    def __init__(self, store: StoreReader) -> None:
        self._fetch = store.fetch

    async def contests(
        self, game: str | None = None, states: Collection[ContestState] = ()
    ) -> dict[str, ContestEntry]:
        """Return contests by name, oldest first: those of a game, or of all; in these states, or in
        any.
        """
        asked = {"game = :game": game is not None, "state IN :states": bool(states)}
        query = f"SELECT entry FROM contests {where(asked)} ORDER BY created, name"
        rows = await self._fetch(query, {"game": key(game or ""), "states": list(states)})
        entries = [_entry(row[0]) for row in rows]
        return {entry.document.name: entry for entry in entries}

    async def find(self, name: str) -> ContestEntry | None:
        rows = await self._fetch(CALLED, {"name": key(name)})
        return _entry(rows[0][0]) if rows else None

    async def entry(self, name: str) -> ContestEntry:
        """Raise UnknownContest if there is no such contest."""
        found = await self.find(name)
        if found is None:
            known = ", ".join(sorted(await self.contests())) or "none"
            raise UnknownContest(f"there is no contest {name!r} in this store; there are: {known}")
        return found

    async def load(self, name: str) -> StoredContest:
        """Raise UnknownContest if there is no such contest."""
        entered = await self.entered(name)
        results = {fixture: one async for fixture, one in self._results(name, FARTHEST)}
        return StoredContest(entered.entry, entered.entrants, results, await self._log_of(name))

    async def load_small(self, name: str) -> StoredContest:
        """Return the same in little memory, without the ids of the matches.

        Changes that are made meanwhile may be missed.
        """
        entered = await self.entered(name)
        results = ResultBook(entered.entry.document.games_per_meeting, {})
        async for fixture, result in self._results(name, AT_ONCE):
            results[fixture] = replace(result, match="")
        return StoredContest(entered.entry, entered.entrants, results, await self._log_of(name))

    async def _results(self, name: str, at_once: int) -> AsyncIterator[tuple[str, FixtureResult]]:
        values: dict[str, Any] = {"name": key(name), "limit": at_once, "after": ""}
        more = True
        while more:
            rows = await self._fetch(RESULTS, values)
            for values["after"], result in rows:
                yield values["after"], _result(result)
            more = len(rows) == at_once

    async def _log_of(self, name: str) -> list[LogLine]:
        rows = await self._fetch(LOG, {"name": key(name)})
        return [_log_line(row[0]) for row in rows]

    async def entered(self, name: str) -> EnteredContest:
        """Raise UnknownContest if there is no such contest."""
        return EnteredContest(await self.entry(name), await self.entrants(name))

    async def entrants(self, name: str) -> list[Entrant]:
        """Return the entrants in their order."""
        rows = await self._fetch(ENTRANTS, {"name": key(name)})
        return [_entrant(row[0]) for row in rows]

    async def count_entrants(self, name: str) -> int:
        return int((await self._fetch(ENTERED, {"name": key(name)}))[0][0])

    async def count_results(self, name: str) -> int:
        return int((await self._fetch(DECIDED, {"name": key(name)}))[0][0])


class ContestJournal(ContestReader):
    """Reads and changes contests. Changes of one contest are made one after the other."""

    def __init__(self, store: Store, now: Callable[[], Epoch] = lambda: int(time() * 1000)) -> None:
        super().__init__(store)
        self._store, self._now = store, now
        self._lock = asyncio.Lock()
        self._lines = count()
        self.told: Callable[[ContestEntry, ContestEntry], Iterable[Note]] = lambda _, __: ()
        """Returns what is stored with a change from a state to another."""

    async def create(
        self,
        document: ContestDocument,
        author: str,
        entrants: Sequence[Entrant] = (),
        secret: str = "",
        offline: bool = False,
    ) -> None:
        """Store a new contest as a draft. Raise ContestRefusal if the name is taken."""
        name = document.name
        async with self._lock:
            if await self.find(name) is not None:
                raise ContestRefusal(f"there is a contest {name!r} already")
            entry = ContestEntry(document, "draft", self._now(), secret=secret, offline=offline)
            detail = plural(len(entrants), "entrant") if entrants else ""
            rows = [_entrant_row(name, *one) for one in enumerate(entrants)]
            await self._keep(name, author, "created", detail, _entry_row(entry), *rows)

    async def change_document(self, name: str, document: ContestDocument, author: str) -> None:
        """Replace the document of a contest that has not started. Its name stays.

        After the start, only bots may be exchanged or added, and only if `[entry]` allows new
        versions or late entrants.
        """
        async with self._lock:
            entry = await self.entry(name)
            if document.name != name:
                raise ContestRefusal(
                    f"the name of a contest stays {name!r}; it cannot become {document.name!r}"
                )
            document = (
                document
                if entry.state in BEFORE
                else replace(document, pairing=entry.document.pairing)
            )
            if entry.state not in BEFORE and not only_bots(entry.document, document):
                changes = "; ".join(changed_keys(entry.document, document))
                raise ContestRefusal(
                    f"the contest is {entry.state}; its document can be changed only before the "
                    f"start: {changes}; "
                    f"undo the change, or begin another contest under another name"
                )
            detail = ", ".join(changed_keys(entry.document, document))
            changed = replace(entry, document=document, why="")
            await self._keep(name, author, "changed", detail, _entry_row(changed))

    async def change_state(
        self, name: str, state: ContestState, author: str, why: str = ""
    ) -> None:
        """Raise ContestRefusal if that state cannot follow the present one.

        `why` it waits for the organiser, if it does.
        """
        async with self._lock:
            entry = await self.entry(name)
            if state not in TRANSITIONS[entry.state]:
                allowed = ", ".join(TRANSITIONS[entry.state])
                raise ContestRefusal(
                    f"the contest is {entry.state} and cannot become {state}; it can become "
                    f"{allowed}"
                )
            after = replace(entry, state=state, why=why)
            told = map(kept_row, self.told(entry, after))
            await self._keep(name, author, state, why, _entry_row(after), *told)

    async def wait(self, name: str, author: str, action: str, why: str) -> None:
        """Store why a contest waits for its organiser.

        Its next change of state, or of its document, ends that.
        """
        async with self._lock:
            entry = await self.entry(name)
            await self._keep(name, author, action, why, _entry_row(replace(entry, why=why)))

    async def enter(self, name: str, entrant: Entrant, author: str) -> EntrantNumber:
        """Add an entrant, and return its number.

        Raise ContestRefusal if its name has entered already.
        """
        async with self._lock:
            await self.entry(name)
            entrants = await self.entrants(name)
            if any(entrant.name == other.name for other in entrants):
                raise ContestRefusal(f"{entrant.name} has entered already")
            number = len(entrants)
            row = _entrant_row(name, number, entrant)
            await self._keep(name, author, "entered", entrant.name, row)
            return number

    async def replace_entrants(self, name: str, entrants: Sequence[Entrant], author: str) -> None:
        """Replace all entrants before the start."""
        async with self._lock:
            entry, old = await self.entry(name), await self.entrants(name)
            if entry.state not in BEFORE:
                raise ContestRefusal(
                    f"the contest is {entry.state}; its entrants can be replaced only before the "
                    "start"
                )
            rows = [_entrant_row(name, *one) for one in enumerate(entrants)]
            fewer = [(key(name), number) for number in range(len(entrants), len(old))]
            detail = plural(len(entrants), "entrant")
            await self._keep(name, author, "entrants", detail, *rows, without=fewer)

    async def withdraw(
        self, name: str, number: EntrantNumber, round_: int, author: str, why: str = ""
    ) -> None:
        """The entrant plays no more from this round on."""
        async with self._lock:
            entrant = (await self.entrants(name))[number]
            detail = f"{entrant.name}: {why}" if why else entrant.name
            row = _entrant_row(name, number, replace(entrant, left=round_))
            await self._keep(name, author, "withdrawn", detail, row)

    async def reinstate(self, name: str, number: EntrantNumber, author: str) -> None:
        """Let a withdrawn entrant play again."""
        async with self._lock:
            entrant = (await self.entrants(name))[number]
            row = _entrant_row(name, number, replace(entrant, left=None))
            await self._keep(name, author, "reinstated", entrant.name, row)

    async def replace_version(
        self, name: str, number: EntrantNumber, version: str, author: str
    ) -> None:
        """Raise ContestRefusal if the contest has started and its document does not allow new
        versions.
        """
        async with self._lock:
            entry, entrant = await self.entry(name), (await self.entrants(name))[number]
            if refusal := version_refusal(entry, entrant, version):
                raise ContestRefusal(refusal)
            detail = (
                f"{entrant.name}: version {entrant.version or 'unknown'} became "
                f"{version or 'unknown'}"
            )
            replaced = (
                tuple(dict.fromkeys((*entrant.replaced, entrant.version)))
                if entrant.version
                else entrant.replaced
            )
            newer = replace(entrant, version=version, replaced=replaced)
            await self._keep(name, author, "new version", detail, _entrant_row(name, number, newer))

    async def keep_results(
        self, name: str, results: Mapping[str, FixtureResult], author: str, why: str
    ) -> None:
        """Store results without a match, as after a forfeit."""
        rows = [kept_row(ContestResult(name, *one)) for one in results.items()]
        await self._keep(name, author, "decided", f"{_listed(results)}: {why}", *rows)

    async def annul_results(
        self, name: str, results: Mapping[str, FixtureResult], author: str, why: str
    ) -> None:
        """Let these fixtures be played again. Their old results stay in the log."""
        rows = [kept_row(ContestResult(name, fixture, {})) for fixture in results]
        detail = f"{_listed(results)}: {why}"
        await self._keep(name, author, "annulled", detail, *rows, old=results)

    async def write_log(self, name: str, author: str, action: str, detail: str = "") -> None:
        await self._keep(name, author, action, detail)

    async def _keep(
        self,
        name: str,
        author: str,
        action: str,
        detail: str,
        *rows: TableRow,
        old: Results | None = None,
        without: Sequence[tuple[str, EntrantNumber]] = (),
    ) -> None:
        """Store a change together with its line of the log, and delete the entrants `without`.

        The names of the lines are in the order of time.
        """
        line = LogLine(self._now(), author, action, detail, dict(old or {}))
        label = f"{line.when:015d} {next(self._lines):06d}"
        logged = "contest_log", (key(name), label, as_json(line))
        change = partial(change_rows, [*rows, logged], "contest_entrants", without)
        await self._store.journal.enter(change, lasting=True)


def version_refusal(entry: ContestEntry, entrant: Entrant, version: str) -> str:
    """Return why a bot cannot play on in this version; empty: it can.

    A bot without a version may name its first one.
    """
    if entrant.version in ("", version) or entry.state in BEFORE or entry.document.entry.versions:
        return ""
    return (
        f"{entrant.name} has changed since the contest started: version {entrant.version}, now "
        f"{version or 'unknown'}; "
        f"only `versions = true` in [entry] of the document would allow that"
    )


def _listed(keys: Collection[str]) -> str:
    """Name the first fixtures of many."""
    first = ", ".join(list(keys)[:MOST_LISTED])
    return first if len(keys) <= MOST_LISTED else f"{first} and {len(keys) - MOST_LISTED} more"


def _entry(text: str) -> ContestEntry:
    value = msgspec.json.decode(text)
    return msgspec.convert(value | {"document": stored_document(value["document"])}, ContestEntry)


def _entry_row(entry: ContestEntry) -> TableRow:
    document = entry.document
    about = document.game, entry.state, entry.created
    return "contests", (key(document.name), *about, as_json(entry))


def _entrant_row(name: str, number: EntrantNumber, entrant: Entrant) -> TableRow:
    return "contest_entrants", (key(name), number, as_json(entrant))


_entrant = msgspec.json.Decoder(Entrant).decode
_log_line = msgspec.json.Decoder(LogLine).decode
_result = msgspec.json.Decoder(FixtureResult).decode
