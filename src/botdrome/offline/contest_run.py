"""A contest that runs offline: plays the open fixtures and stores each result before the next round
is planned.

The plan depends only on stored results, so a run that was killed continues where the store stands.
If bots may be withdrawn for their faults, results are stored in the order of the plan: then the
store always holds the beginning of the same course, and a continued contest withdraws the same bots
at the same points.
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from itertools import islice

from msgspec.structs import replace

from botdrome.contest.formats.format import FixtureResult
from botdrome.contest.progress import ContestProgress, fixture_result, unplayed
from botdrome.match.record import seed_text
from botdrome.offline.contest_players import ContestPlayers, PlayedFixture
from botdrome.store.contest_journal import ARENA, ContestJournal, StoredContest, result_note
from botdrome.store.entries import Finish, MatchEntry
from botdrome.store.store import Store

PORTION_SECONDS = 0.5
"""About how long a worker plays before it hands in results."""
LARGEST_PORTION = 500
AHEAD = 4
"""Portions per worker that may wait for an earlier result, where results are stored in the order of
the plan.
"""
POLL = 0.5
"""Seconds between two looks at the state of a paused contest."""


class ContestWaits(Exception):
    """The contest cannot continue without its organiser; the text says why."""


class ContestRun:
    def __init__(
        self,
        store: Store,
        contest: StoredContest,
        players: ContestPlayers,
        author: str,
        watch: Callable[["ContestRun"], None] = lambda _: None,
    ) -> None:
        """`watch` is called after each change."""
        self._store, self._journal, self._players = store, ContestJournal(store), players
        self.document, self._author, self._watch = contest.entry.document, author, watch
        self.progress = ContestProgress(self.document, contest.entrants, contest.results)
        self._in_order = self.document.penalties.withdraw_after is not None
        self._open = self.progress.open
        self._free = self._open.fixtures()
        """The open fixtures that nobody was given yet."""
        self._running: set[asyncio.Future[list[PlayedFixture]]] = set()
        self._taken: set[str] = set()
        """The fixtures that are being played, or wait to be stored."""
        self._ready: dict[str, PlayedFixture] = {}
        """Played fixtures that are not stored yet."""
        self._match_seconds = PORTION_SECONDS
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
        await self._keep_forfeits(self.progress.forfeits)
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
                await self._take_in(played for future in done for played in future.result())
            else:
                await asyncio.sleep(POLL)
            self._watch(self)
        return ""

    def _hand_out(self) -> None:
        """Keep all workers busy, each with a portion in reserve."""
        jobs = self._players.jobs
        if self._open is not self.progress.open:  # there is a new plan
            self._open = self.progress.open
            self._free = (
                fixture for fixture in self._open.fixtures() if fixture.key not in self._taken
            )
        left = len(self._open) - len(self._taken)
        size = max(
            1, min(LARGEST_PORTION, int(PORTION_SECONDS / self._match_seconds), left // (8 * jobs))
        )
        while len(self._running) < 2 * jobs and not (
            self._in_order and len(self._ready) >= AHEAD * size * jobs
        ):
            portion = list(islice(self._free, size))
            if not portion:
                return
            self._taken |= {fixture.key for fixture in portion}
            self._running.add(self._players.play(portion))
            if jobs == 1:
                return  # it is played already

    async def _take_in(self, fixtures: Iterable[PlayedFixture]) -> None:
        for played in fixtures:
            self._ready[played.fixture.key] = played
            seconds = max(0.001, (played.ended - played.started) / 1000)
            self._match_seconds += (seconds - self._match_seconds) / 8
        while batch := self._next_batch():
            results = [self._result(played) for played in batch]
            await asyncio.gather(*map(self._store_result, batch, results))
            for played, result in zip(batch, results, strict=True):
                self.progress.add(played.fixture.key, replace(result, match=""))
            await self._withdraw_penalised()

    def _next_batch(self) -> list[PlayedFixture]:
        """Take the played fixtures that can be stored at once.

        Results of fixtures that are no longer open are dropped.
        """
        batch: list[PlayedFixture] = []
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
                played.outcome is None or fixture_result(played.outcome.result, "").crashed
            ):
                break  # its bot may be withdrawn, which decides later fixtures
        return batch

    def _result(self, played: PlayedFixture) -> FixtureResult:
        if played.outcome is not None:
            return fixture_result(
                played.outcome.result, os.urandom(8).hex(), played.outcome.fingerprint
            )
        if self.document.penalties.no_show == "wait":
            raise ContestWaits("; ".join(filter(None, played.absent.values())))
        return unplayed(self.progress.document, played.fixture, played.absent)

    async def _store_result(self, played: PlayedFixture, result: FixtureResult) -> None:
        name, fixture, outcome = self.document.name, played.fixture, played.outcome
        if outcome is None:
            await self._journal.keep_results(
                name, {fixture.key: result}, ARENA, "; ".join(filter(None, played.absent.values()))
            )
            return
        entrants = [self.progress.entrants[number] for number in fixture.entrants]
        players, versions = (
            tuple(entrant.name for entrant in entrants),
            tuple(entrant.version for entrant in entrants),
        )
        seed, options, game = seed_text(fixture.seed), self.document.options, self.document.game
        entry = MatchEntry(
            result.match, game, players, played.started, name, options, seed, versions=versions
        )
        self._store.begin(entry)
        note = result_note(name, fixture.key, result)
        await self._store.finish(
            Finish(
                result.match,
                "ended",
                played.ended,
                outcome.result,
                outcome.view,
                outcome.record,
                notes=(note,),
            )
        )

    async def _withdraw_penalised(self) -> None:
        """Withdraw the bots that have too many faults. They forfeit their open fixtures."""
        for number, entrant in enumerate(self.progress.entrants):
            if entrant.left is None and self.progress.penalised(number):
                forfeits = self.progress.withdraw(number)
                left = self.progress.entrants[number].left
                assert left is not None
                why = f"{self.document.penalties.withdraw_after} no-shows and crashes"
                await self._journal.withdraw(self.document.name, number, left, ARENA, why)
                await self._keep_forfeits(forfeits)

    async def _keep_forfeits(self, forfeits: dict[str, FixtureResult]) -> None:
        if forfeits:
            await self._journal.keep_results(
                self.document.name, forfeits, ARENA, "forfeits after a withdrawal"
            )
