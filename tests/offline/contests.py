"""Contests of the runner's tests: a document, its run in this process, and what the store holds
afterwards.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any

from botdrome.contest.document import ContestDocument, OfflineEntrant, Penalties
from botdrome.contest.formats.format import StandingsLine
from botdrome.contest.progress import ContestProgress
from botdrome.offline.batches import Batches, timed
from botdrome.offline.contest_run import ContestRun, contest_plan, open_contest
from botdrome.offline.isolation import Isolation
from botdrome.offline.tournament import play_portion
from botdrome.store.contest_journal import ContestJournal, StoredContest
from botdrome.store.store import Store, open_store

HERE = Isolation(in_process=True)
FAILING = "def bot(view):\n    raise ValueError('no idea')\n"
FIRST = (
    "def bot(view):\n    return {'space': next([x, y] for x in range(3) for y in range(3) if "
    "not view['board'][x][y])}\n"
)


def a_document(*bots: str, **other: Any) -> ContestDocument:
    entrants = tuple(
        OfflineEntrant(bot=bot, name=f"bot {number}") for number, bot in enumerate(bots, 1)
    )
    return ContestDocument(name="cup", game="noughts-and-crosses", entrants=entrants, **other)


def withdrawing(after: int) -> Penalties:
    return Penalties(withdraw_after=after)


async def in_store(folder: Path, work: Callable[[Store], Any]) -> Any:
    store = await open_store(f"sqlite:///{folder}/cup.db")
    try:
        return await work(store)
    finally:
        await store.close()


class PlayHere(Executor):
    """Plays in this process, and blocks it meanwhile."""

    workers = 1

    def submit(self, work: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*args))
        return future


async def run_in(
    store: Store, document: ContestDocument, pool: PlayHere | None = None, **other: Any
) -> str:
    contest = await open_contest(ContestJournal(store), document, "olga", HERE)
    work = partial(timed, partial(play_portion, contest_plan(document, contest.entrants, HERE)))
    here = pool or PlayHere()
    matches = Batches(here, work, lambda: here.workers, most=1)
    return await ContestRun(store, contest, matches, "olga", **other).play()


async def run(folder: Path, document: ContestDocument, **other: Any) -> str:
    return str(await in_store(folder, lambda store: run_in(store, document, **other)))


async def stored(folder: Path) -> StoredContest:
    found: StoredContest = await in_store(folder, lambda store: ContestJournal(store).load("cup"))
    return found


def standings_of(contest: StoredContest) -> list[StandingsLine]:
    return ContestProgress(contest.entry.document, contest.entrants, contest.results).standings()
