"""Contest journal: the contests of a store with entrants, results and every change, kept as notes.

The result of a match is stored with its end in one transaction (`result_note` in `Finish.notes`),
so that a fixture counts exactly once. Every other change is stored together with its line of the
log.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from time import time
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.document import ContestDocument, stored_document
from botdrome.contest.formats.format import Entrant, EntrantNumber, FixtureResult
from botdrome.contest.progress import ResultBook
from botdrome.games.reading import plural
from botdrome.store.entries import Epoch, Note
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
CONTESTS = "contests"
ARENA = "arena"
"""The author of changes that an offline run makes by itself."""
ALL_PLAYED = "all matches are played"
"""Why a contest on a server is over, unless it was ended early."""
MOST_LISTED = 10
"""Fixtures that a line of the log names."""


class UnknownContest(LookupError):
    """No contest of the store has that name."""


class ContestRefusal(ValueError):
    """A change that the state or the document of the contest does not allow; the text has the
    reason.
    """


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


def result_note(name: str, key: str, result: FixtureResult) -> Note:
    """Return the note that stores a result; as a part of `Finish.notes` it is stored with the end
    of the match.
    """
    return Note(_results(name), key, msgspec.to_builtins(result))


class ContestReader:
    """Reads the contests of a store."""

    def __init__(self, store: StoreReader) -> None:
        self._reader = store

    async def contests(self) -> dict[str, ContestEntry]:
        """Return all contests by name, oldest first."""
        found = await self._reader.notes(CONTESTS)
        entries = {name: _entry(value) for name, value in found.items()}
        return dict(sorted(entries.items(), key=lambda item: (item[1].created, item[0])))

    async def entry(self, name: str) -> ContestEntry:
        """Raise UnknownContest if there is no such contest."""
        notes = await self._reader.notes(CONTESTS)
        if name not in notes:
            known = ", ".join(sorted(notes)) or "none"
            raise UnknownContest(f"there is no contest {name!r} in this store; there are: {known}")
        return _entry(notes[name])

    async def load(self, name: str) -> StoredContest:
        """Raise UnknownContest if there is no such contest."""
        entered = await self.entered(name)
        results = _converted(await self._reader.notes(_results(name)))
        return StoredContest(entered.entry, entered.entrants, results, await self._log_of(name))

    async def load_small(self, name: str) -> StoredContest:
        """Return the same in little memory, without the ids of the matches.

        Changes that are made meanwhile may be missed.
        """
        entered = await self.entered(name)
        results = ResultBook(entered.entry.document.games_per_meeting, {})
        async for page in self._reader.reports.note_pages(_results(name)):
            results.update(
                {key: replace(result, match="") for key, result in _converted(page).items()}
            )
        return StoredContest(entered.entry, entered.entrants, results, await self._log_of(name))

    async def _log_of(self, name: str) -> list[LogLine]:
        lines = await self._reader.notes(_log(name))
        return [msgspec.convert(lines[key], LogLine) for key in sorted(lines)]

    async def entered(self, name: str) -> EnteredContest:
        """Raise UnknownContest if there is no such contest."""
        return EnteredContest(await self.entry(name), await self.entrants(name))

    async def entrants(self, name: str) -> list[Entrant]:
        """Return the entrants in their order."""
        notes = await self._reader.notes(_entrants(name))
        return msgspec.convert([notes[key] for key in sorted(notes)], list[Entrant])


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
            if name in await self._store.notes(CONTESTS):
                raise ContestRefusal(f"there is a contest {name!r} already")
            entry = _entry_note(
                name, ContestEntry(document, "draft", self._now(), secret=secret, offline=offline)
            )
            detail = plural(len(entrants), "entrant") if entrants else ""
            await self._keep(
                name,
                author,
                "created",
                detail,
                entry,
                *(_entrant_note(name, *one) for one in enumerate(entrants)),
            )

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
            await self._keep(
                name,
                author,
                "changed",
                detail,
                _entry_note(name, replace(entry, document=document, why="")),
            )

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
            told = self.told(entry, after)
            await self._keep(name, author, state, why, _entry_note(name, after), *told)

    async def wait(self, name: str, author: str, action: str, why: str) -> None:
        """Store why a contest waits for its organiser.

        Its next change of state, or of its document, ends that.
        """
        async with self._lock:
            entry = await self.entry(name)
            await self._keep(name, author, action, why, _entry_note(name, replace(entry, why=why)))

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
            await self._keep(
                name, author, "entered", entrant.name, _entrant_note(name, number, entrant)
            )
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
            await self._store.strike(
                _entrants(name), [f"{number:06d}" for number in range(len(entrants), len(old))]
            )
            notes = [
                _entrant_note(name, number, entrant) for number, entrant in enumerate(entrants)
            ]
            await self._keep(name, author, "entrants", plural(len(entrants), "entrant"), *notes)

    async def withdraw(
        self, name: str, number: EntrantNumber, round_: int, author: str, why: str = ""
    ) -> None:
        """The entrant plays no more from this round on."""
        async with self._lock:
            entrant = (await self.entrants(name))[number]
            detail = f"{entrant.name}: {why}" if why else entrant.name
            await self._keep(
                name,
                author,
                "withdrawn",
                detail,
                _entrant_note(name, number, replace(entrant, left=round_)),
            )

    async def reinstate(self, name: str, number: EntrantNumber, author: str) -> None:
        """Let a withdrawn entrant play again."""
        async with self._lock:
            entrant = (await self.entrants(name))[number]
            await self._keep(
                name,
                author,
                "reinstated",
                entrant.name,
                _entrant_note(name, number, replace(entrant, left=None)),
            )

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
            await self._keep(
                name, author, "new version", detail, _entrant_note(name, number, newer)
            )

    async def keep_results(
        self, name: str, results: Mapping[str, FixtureResult], author: str, why: str
    ) -> None:
        """Store results without a match, as after a forfeit."""
        notes = [result_note(name, key, result) for key, result in results.items()]
        await self._keep(name, author, "decided", f"{_listed(results)}: {why}", *notes)

    async def annul_results(
        self, name: str, results: Mapping[str, FixtureResult], author: str, why: str
    ) -> None:
        """Let these fixtures be played again. Their old results stay in the log."""
        notes = [Note(_results(name), key, {}) for key in results]
        await self._keep(
            name, author, "annulled", f"{_listed(results)}: {why}", *notes, old=dict(results)
        )

    async def write_log(self, name: str, author: str, action: str, detail: str = "") -> None:
        await self._keep(name, author, action, detail)

    async def _keep(
        self,
        name: str,
        author: str,
        action: str,
        detail: str,
        *notes: Note,
        old: Mapping[str, FixtureResult] | None = None,
    ) -> None:
        """Store a change together with its line of the log.

        The names of the lines are in the order of time.
        """
        line = LogLine(self._now(), author, action, detail, dict(old or {}))
        label = f"{line.when:015d} {next(self._lines):06d}"
        await self._store.keep(
            [*notes, Note(_log(name), label, msgspec.to_builtins(line))], retry=True
        )


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


def _entry(value: dict[str, Any]) -> ContestEntry:
    return msgspec.convert(value | {"document": stored_document(value["document"])}, ContestEntry)


def _entry_note(name: str, entry: ContestEntry) -> Note:
    return Note(CONTESTS, name, msgspec.to_builtins(entry))


def _entrant_note(name: str, number: EntrantNumber, entrant: Entrant) -> Note:
    return Note(_entrants(name), f"{number:06d}", msgspec.to_builtins(entrant))


def _converted(notes: Mapping[str, dict[str, Any]]) -> dict[str, FixtureResult]:
    """Return the results; those that were annulled are empty notes."""
    return msgspec.convert(
        {key: value for key, value in notes.items() if value}, dict[str, FixtureResult]
    )


_entrants, _results, _log = (
    "contest entrants {}".format,
    "contest results {}".format,
    "contest log {}".format,
)
