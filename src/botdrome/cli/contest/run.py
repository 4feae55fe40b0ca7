"""`botdrome contest run`, `resume` and `rerun`: play a contest with a progress bar and live
standings.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import partial

import msgspec
from msgspec import Struct

from botdrome.cli.contest.changes import number_of, print_report
from botdrome.cli.contest.places import ContestHere, ContestPlace, attempt, opened, place_of
from botdrome.cli.contest.report import report_of, standings_table
from botdrome.cli.isolation import IsolationFlags
from botdrome.cli.live_standings import MOST_LIVE, LiveStandings
from botdrome.cli.terminal import CommandError, Terminal, complain
from botdrome.contest.progress import ContestProgress
from botdrome.runner.batches import PoolTrouble
from botdrome.runner.contest_opening import open_contest
from botdrome.runner.contest_players import ContestPlayers, contest_plan, players_in_processes
from botdrome.runner.contest_run import ContestRun
from botdrome.runner.tournament import TournamentPlan
from botdrome.store.contest_journal import StoredContest

INTERRUPTED = 130


class RunOptions(Struct, frozen=True):
    """The options of the commands that play."""

    jobs: int
    dask: str
    isolation: IsolationFlags
    as_json: bool

    def checked(self) -> "RunOptions":
        """Raise CommandError if they contradict each other."""
        self.isolation.isolation()
        if self.dask and self.jobs > 1:
            raise CommandError("--dask cannot be combined with -j: the workers play")
        return self


def run_contest(words: str, name: str, db: str, given: RunOptions) -> int:
    return attempt(words, lambda: _run(words, name, db, given.checked()))


async def _run(words: str, name: str, db: str, given: RunOptions) -> int:
    place = place_of(words, name, db)
    async with opened(place, new=place.document is not None) as contest:
        await contest.claim()
        return await _play(contest, given)


def resume_contest(words: str, name: str, db: str, given: RunOptions) -> int:
    return attempt(words, lambda: _resume(words, name, db, given.checked()))


async def _resume(words: str, name: str, db: str, given: RunOptions) -> int:
    async with opened(place_of(words, name, db)) as contest:
        if not await contest.store.claim():
            await contest.change_state("running")
            Terminal().print("The contest goes on in the process that runs it.")
            return 0
        return await _play(contest, given)


def rerun_contest(
    words: str, name: str, db: str, given: RunOptions, bots: Sequence[str], only: str
) -> int:
    return attempt(words, lambda: _rerun(words, name, db, given.checked(), bots, only))


async def _rerun(
    words: str, name: str, db: str, given: RunOptions, bots: Sequence[str], only: str
) -> int:
    if only not in ("", "failed") or not (bots or only):
        raise CommandError("say which matches: --bot BOT, or --only failed")
    async with opened(place_of(words, name, db)) as contest:
        await contest.claim()
        await _annul(contest, await contest.load(), bots, only)
        return await _play(contest, given)


async def _annul(
    contest: ContestHere, stored: StoredContest, bots: Sequence[str], only: str
) -> None:
    """Take back the results of these bots, or those with faults, or both: then the faults of these
    bots.
    """
    names = [entrant.name for entrant in stored.entrants]
    wanted = {number_of(names, bot) for bot in bots}
    progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
    keys = progress.with_results(wanted, bool(only))
    back = [number for number in sorted(wanted) if stored.entrants[number].left is not None]
    if not keys and not back:
        raise CommandError("there are no such matches to play again")
    dropped = progress.forget(keys)
    why = " ".join(filter(None, [f"of {', '.join(bots)}" if bots else "", only]))
    old = {key: stored.results[key] for key in sorted(dropped) if key in stored.results}
    for number in back:
        await contest.journal.reinstate(contest.name, number, contest.author)
    await contest.journal.annul_results(contest.name, old, contest.author, f"played again: {why}")


async def _play(contest: ContestHere, given: RunOptions) -> int:
    """Play a contest whose store this process has claimed, and print the standings."""
    isolation = given.isolation.isolation()
    os.chdir(contest.place.folder)
    document = contest.place.document or (await contest.journal.entry(contest.name)).document
    stored = await open_contest(contest.journal, document, contest.author, isolation)
    status = 0
    try:
        plan = contest_plan(document, stored.entrants, isolation)
        with _players(plan, given, contest.place) as players, LiveStandings() as live:
            why = await ContestRun(
                contest.store, stored, players, contest.author, partial(_drawn, live)
            ).play()
        if why:
            complain(
                f"the contest waits for you: {why}\nThen continue it with: {contest.command('run')}"
            )
            status = 1
    except asyncio.CancelledError:
        await _interrupted(contest)
        status = INTERRUPTED
    except (BrokenProcessPool, PoolTrouble) as trouble:
        told = trouble if isinstance(trouble, PoolTrouble) else "a process that played was killed"
        complain(f"{told}; then continue the contest with: {contest.command('run')}")
        status = 1
    report = report_of(await contest.journal.load_small(contest.name))
    if given.as_json:
        sys.stdout.write(msgspec.json.encode(report.as_data()).decode() + "\n")
    else:
        print_report(report)
    return status


def _players(
    plan: TournamentPlan, given: RunOptions, place: ContestPlace
) -> AbstractContextManager[ContestPlayers]:
    if not given.dask:
        return players_in_processes(plan, given.jobs)
    from botdrome.runner.dask_tournament import players_on_dask

    return players_on_dask(plan, given.dask, place.store_files(), complain)


async def _interrupted(contest: ContestHere) -> None:
    """Pause the contest after Ctrl-C."""
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()
    if (await contest.journal.entry(contest.name)).state == "running":
        await contest.change_state("paused")
    Terminal(stderr=True).print(
        f"Paused. Continue it with: {contest.command('run')}", soft_wrap=True
    )


def _drawn(live: LiveStandings, run: ContestRun) -> None:
    progress = run.progress
    words = (
        f"{run.document.name}: "
        f"{'paused' if run.paused else f'round {progress.rounds_played + bool(progress.open)}'}"
    )
    live.update(
        words,
        lambda: (len(progress.results), progress.expected or None),
        lambda: standings_table(progress, most=MOST_LIVE),
    )
