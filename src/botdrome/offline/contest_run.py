"""A contest that runs offline: it is opened in the store, and the open fixtures are played; each
result is stored before the next round is planned.

The plan depends only on stored results, so a run that was killed continues where the store stands.
If bots may be withdrawn for their faults, results are stored in the order of the plan: then the
store always holds the beginning of the same course, and a continued contest withdraws the same bots
at the same points.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from botdrome.client.program import CannotStart
from botdrome.contest.document import BadDocument, ContestDocument
from botdrome.contest.formats.format import Entrant, EntrantNumber, Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress, LateEntry, fixture_result, unplayed
from botdrome.match.record import seed_text
from botdrome.offline.batches import Batches
from botdrome.offline.entrants import bot_version, distinct_names
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot
from botdrome.offline.tournament import MatchOutcome, PlayedMatch, TournamentPlan, UnplayedMatch
from botdrome.store.contest_journal import (
    ARENA,
    BEFORE,
    ContestJournal,
    ContestRefusal,
    EnteredContest,
    StoredContest,
)
from botdrome.store.entries import ContestResult, Finish, MatchEntry
from botdrome.store.store import Store

AHEAD = 4
"""Batches per worker that may wait for an earlier result, where results are stored in the order of
the plan.
"""
POLL = 0.5
"""Seconds between two looks at the state of a paused contest."""

# Create a contest in the store, or check that the stored one may go on with this document and its
# bots.


def offline_entrants(document: ContestDocument) -> list[Entrant]:
    """Return the entrants of a document with the versions of their files.

    An entrant without a name is called like its file. Raise BadDocument if it cannot run offline.
    """
    if not document.entrants:
        raise BadDocument(
            "entrants: a contest that runs offline names its bots, as in [[entrants]] and bot = "
            '"my_bot.py"'
        )
    derived = distinct_names([given.bot for given in document.entrants])
    names = [given.name or name for given, name in zip(document.entrants, derived, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise BadDocument(f"entrants: two are called {name!r}; give each a `name` of its own")
    pairs = zip(names, document.entrants, strict=True)
    return [Entrant(name, given.owner, bot_version(given.bot)) for name, given in pairs]


async def open_contest(
    journal: ContestJournal, document: ContestDocument, author: str, isolation: Isolation
) -> StoredContest:
    """Create the contest, or continue it.

    Raise ContestRefusal if its document or its bots do not allow that.
    """
    document = replace(document, webhook="")  # a server tells it, and keeps it to itself
    name, entrants = document.name, offline_entrants(document)
    if refusal := ContestProgress(document, entrants, {}).refusal:
        raise ContestRefusal(refusal)
    if await journal.find(name) is None:
        _check_bots(document, entrants, isolation)
        await journal.create(document, author, entrants, offline=True)
        return await journal.load_small(name)
    stored = await journal.entered(name)
    if stored.entry.state not in BEFORE:
        document = replace(document, pairing=stored.entry.document.pairing)
    try:
        if stored.entry.document != document:
            await _change(journal, document, entrants, author)
            stored = await journal.entered(name)
        _check_bots(document, stored.entrants, isolation)
        await _renew(journal, stored, entrants, author)
    except ContestRefusal as refused:
        if stored.entry.state == "running":
            await journal.change_state(name, "paused", author, str(refused))
        raise
    return await journal.load_small(name)


def _check_bots(
    document: ContestDocument, entrants: Sequence[Entrant], isolation: Isolation
) -> None:
    """Raise ContestRefusal that names all bots that cannot start. Withdrawn bots need not."""
    problems = []
    for given, entrant in zip(document.entrants, entrants, strict=True):
        try:
            if entrant.left is None:
                check_bot(given.bot, document.game, isolation)
        except CannotStart as problem:
            problems.append(f"{entrant.name} cannot start: {problem}")
    if problems:
        raise ContestRefusal("; ".join(problems))


async def _change(
    journal: ContestJournal, document: ContestDocument, entrants: Sequence[Entrant], author: str
) -> None:
    """Take a changed document before the start; after it, only new bots that the
    document allows.
    """
    stored = await journal.load_small(document.name)
    await journal.change_document(document.name, document, author)
    if stored.entry.state in BEFORE:
        await journal.replace_entrants(document.name, entrants, author)
        return
    progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
    for entrant in entrants[len(stored.entrants) :]:
        try:
            number = progress.enter(entrant)
        except LateEntry as late:
            raise ContestRefusal(str(late)) from None
        await journal.enter(document.name, progress.entrants[number], author)


async def _renew(
    journal: ContestJournal, stored: EnteredContest, entrants: Sequence[Entrant], author: str
) -> None:
    """Replace the versions of changed bots.

    Raise ContestRefusal if the document does not allow that.
    """
    for number, (old, new) in enumerate(zip(stored.entrants, entrants, strict=True)):
        if old.version != new.version and old.left is None:
            if not new.version:
                raise ContestRefusal(
                    f"{old.name} cannot start: there is no file "
                    f"{stored.entry.document.entrants[number].bot!r}"
                )
            await journal.replace_version(stored.entry.document.name, number, new.version, author)


def contest_plan(
    document: ContestDocument, entrants: Sequence[Entrant], isolation: Isolation
) -> TournamentPlan:
    """Return the settings of the contest's matches.

    The entrants are those of the document, in its order.
    """
    return TournamentPlan(
        document.game,
        tuple(entrant.bot for entrant in document.entrants),
        tuple(entrant.name for entrant in entrants),
        document.seats,
        matches=1,
        seed=document.seed,
        options=document.options,
        isolation=isolation,
        records=True,
        pace=document.terms.pace,
    )


# Changes of a contest, by its organiser or by the run itself.


async def withdraw(
    journal: ContestJournal, progress: ContestProgress, number: EntrantNumber, author: str, why: str
) -> int:
    """Take a bot out of a contest, and return how many matches it forfeits."""
    name, forfeits = progress.document.name, progress.withdraw(number)
    await journal.withdraw(name, number, progress.entrants[number].left or 0, author, why)
    await _keep_forfeits(journal, name, forfeits, author)
    return len(forfeits)


async def _keep_forfeits(
    journal: ContestJournal, name: str, forfeits: Mapping[str, FixtureResult], author: str
) -> None:
    if forfeits:
        await journal.keep_results(name, forfeits, author, "forfeits after a withdrawal")


async def annul(
    journal: ContestJournal,
    progress: ContestProgress,
    numbers: Sequence[EntrantNumber],
    failed: bool,
    author: str,
) -> bool:
    """Let matches of these entrants, or those that failed, be played again, and let withdrawn ones
    of these entrants come back.

    Return False if there is nothing to play again.
    """
    name, entrants = progress.document.name, progress.entrants
    back = [number for number in numbers if entrants[number].left is not None]
    old = progress.annul(numbers, failed)
    for number in back:
        await journal.reinstate(name, number, author)
    if old or back:
        bots = ", ".join(entrants[number].name for number in numbers)
        why = " ".join(filter(None, [f"of {bots}" if bots else "", "failed" if failed else ""]))
        await journal.annul_results(name, old, author, f"played again: {why}")
    return bool(old or back)


class ContestWaits(Exception):
    """The contest cannot continue without its organiser; the text says why."""


class ContestRun:
    def __init__(
        self,
        store: Store,
        contest: StoredContest,
        matches: Batches[Fixture, PlayedMatch],
        author: str,
        watch: Callable[["ContestRun"], None] = lambda _: None,
    ) -> None:
        """`watch` is called after each change."""
        self._store, self._journal, self._matches = store, ContestJournal(store), matches
        self.document, self._author, self._watch = contest.entry.document, author, watch
        self.progress = ContestProgress(self.document, contest.entrants, contest.results)
        self._in_order = self.document.penalties.withdraw_after is not None
        self._open = self.progress.open
        self._free = self._open.fixtures()
        """The open fixtures that nobody was given yet."""
        self._running: set[asyncio.Future[tuple[list[PlayedMatch], float]]] = set()
        self._taken: set[str] = set()
        """The fixtures that are being played, or wait to be stored."""
        self._ready: dict[str, PlayedMatch] = {}
        """Played matches that are not stored yet."""
        self.paused = False

    async def play(self) -> str:
        """Play until the contest is over, and return an empty text; or return why it waits for its
        organiser.
        """
        name = self.document.name
        if self.progress.over and (await self._journal.entry(name)).state == "over":
            return ""
        await self._begin()
        try:
            why = await self._play() or self.progress.refusal
        except ContestWaits as waits:
            why = str(waits)
        finally:
            for future in self._running:
                future.cancel()
        state = (await self._journal.entry(name)).state
        if why and state == "running":
            await self._journal.change_state(name, "paused", ARENA, why)
        elif not why and state != "over":
            await self._journal.change_state(name, "over", ARENA)
        return why

    async def _begin(self) -> None:
        name = self.document.name
        if (await self._journal.entry(name)).state != "running":
            await self._journal.change_state(name, "running", self._author)
        await _keep_forfeits(self._journal, name, self.progress.forfeits, ARENA)
        await self._withdraw_penalised()
        self._watch(self)

    async def _play(self) -> str:
        while self.progress.open:
            state = (await self._journal.entry(self.document.name)).state
            if state == "over":
                return f"{self._author} ended it"
            self.paused = state == "paused"
            if not self.paused:
                self._hand_out()
            if self._running:
                done, self._running = await asyncio.wait(
                    self._running, return_when=asyncio.FIRST_COMPLETED
                )
                for future in done:
                    await self._take_in(self._matches.results(future.result()))
            else:
                await asyncio.sleep(POLL)
            self._watch(self)
        return ""

    def _hand_out(self) -> None:
        if self._open is not self.progress.open:  # there is a new plan
            self._open = self.progress.open
            for key in [key for key in self._ready if key not in self._open]:
                del self._ready[key]
                self._taken.discard(key)
            self._free = (
                fixture for fixture in self._open.fixtures() if fixture.key not in self._taken
            )
        matches, left = self._matches, len(self._open) - len(self._taken)
        most_ready = AHEAD * matches.size(left) * matches.workers()
        if self._in_order and len(self._ready) >= most_ready:
            return
        for batch, future in matches.send(self._free, left, len(self._running)):
            self._taken.update(fixture.key for fixture in batch)
            self._running.add(asyncio.wrap_future(future))

    async def _take_in(self, matches: Iterable[PlayedMatch]) -> None:
        for played in matches:
            key = played.fixture.key
            if key in self.progress.open:
                self._ready[key] = played
            else:  # decided by a withdrawal meanwhile
                self._taken.discard(key)
        while batch := self._next_batch():
            results = [self._result(played) for played in batch]
            await asyncio.gather(*map(self._store_result, batch, results))
            for played, result in zip(batch, results, strict=True):
                self.progress.add(played.fixture.key, replace(result, match=""))
            await self._withdraw_penalised()

    def _next_batch(self) -> list[PlayedMatch]:
        """Take the played matches that can be stored at once.

        Results of fixtures that are no longer open are dropped.
        """
        batch: list[PlayedMatch] = []
        open_ = self.progress.open
        for key in open_ if self._in_order else [*self._ready]:
            played = self._ready.get(key)
            if played is None:
                break
            if key in open_:
                batch.append(played)
            del self._ready[key]
            self._taken.discard(key)
            if self._in_order and (
                isinstance(played, UnplayedMatch) or fixture_result(played.result, "").crashed
            ):
                break  # its bot may be withdrawn, which decides later fixtures
        return batch

    def _result(self, played: PlayedMatch) -> FixtureResult:
        if isinstance(played, MatchOutcome):
            return fixture_result(played.result, os.urandom(8).hex(), played.fingerprint)
        if self.document.penalties.no_show == "wait":
            raise ContestWaits(self._why(played))
        seats = range(len(played.fixture.entrants))
        return unplayed(self.document, played.fixture, played.absent or seats)

    def _why(self, match: UnplayedMatch) -> str:
        names = (self.progress.entrants[number].name for number in match.fixture.entrants)
        return match.why if match.absent else f"{' and '.join(names)} could not play: {match.why}"

    async def _store_result(self, played: PlayedMatch, result: FixtureResult) -> None:
        name, fixture = self.document.name, played.fixture
        if isinstance(played, UnplayedMatch):
            why = self._why(played)
            await self._journal.keep_results(name, {fixture.key: result}, ARENA, why)
            return
        entrants = [self.progress.entrants[number] for number in fixture.entrants]
        players = tuple(entrant.name for entrant in entrants)
        versions = tuple(entrant.version for entrant in entrants)
        seed, options, game = seed_text(fixture.seed), self.document.options, self.document.game
        self._store.begin(
            MatchEntry(
                result.match, game, players, played.started, name, options, seed, versions=versions
            )
        )
        end = Finish(
            result.match,
            "ended",
            played.ended,
            played.result,
            played.view,
            played.record,
            notes=(ContestResult(name, fixture.key, result),),
        )
        await self._store.finish(end)

    async def _withdraw_penalised(self) -> None:
        """Withdraw the bots that have too many faults. They forfeit their open fixtures."""
        penalties, progress = self.document.penalties, self.progress
        for number, entrant in enumerate(progress.entrants):
            if entrant.left is None and penalties.withdraw(progress.faults[number]):
                why = f"{penalties.withdraw_after} no-shows and crashes"
                await withdraw(self._journal, progress, number, ARENA, why)
