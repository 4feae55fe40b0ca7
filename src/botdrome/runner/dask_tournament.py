"""Tournaments and contests on the workers of a Dask cluster."""

import asyncio
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any

from msgspec.structs import replace

from botdrome.contest.formats.format import ContestFixture
from botdrome.runner.batches import BATCH_SECONDS, LARGEST_BATCH, in_batches
from botdrome.runner.bot_parcel import BotParcel, pack
from botdrome.runner.bot_process import close_idle
from botdrome.runner.contest_players import PlayedFixture
from botdrome.runner.dask_pool import DaskExecutor, dask_pool
from botdrome.runner.match_host import PlayedMatch
from botdrome.runner.match_worker import UnplayedMatch, play_batch
from botdrome.runner.seats import is_python, load_fault
from botdrome.runner.tournament import MatchOutcome, TournamentPlan, check_plan

Told = Callable[[str], None]
"""Tells the user something in one line."""


def parcel_of(plan: TournamentPlan, without: Collection[Path] = ()) -> BotParcel:
    """Pack the bots of a plan. Raise CannotStart if that is not possible."""
    sound = [
        bot
        for bot in dict.fromkeys(plan.entrants)
        if is_python(bot) and not load_fault(bot, plan.isolation)
    ]
    close_idle()
    return pack(plan, sound, without)


def play_on_dask(
    plan: TournamentPlan, address: str, unplayed: Callable[[UnplayedMatch], None], notice: Told
) -> Generator[MatchOutcome, None, None]:
    """The outcomes as they come in.

    Raise PoolTrouble if the cluster cannot be used. Closing the generator cancels the rest.
    """
    check_plan(plan)
    return _play(
        plan, address, parcel_of(plan, [Path(plan.save)] if plan.save else ()), unplayed, notice
    )


def _play(
    plan: TournamentPlan,
    address: str,
    parcel: BotParcel,
    unplayed: Callable[[UnplayedMatch], None],
    notice: Told,
) -> Generator[MatchOutcome, None, None]:
    work: Any = play_batch
    with dask_pool(address, parcel, notice) as pool:
        for played in in_batches(
            pool, work, plan.fixtures(), pool.workers, LARGEST_BATCH, BATCH_SECONDS
        ):
            if isinstance(played, UnplayedMatch):
                unplayed(played)
            else:
                yield _saved(plan, played)


def _saved(plan: TournamentPlan, played: PlayedMatch) -> MatchOutcome:
    """Write the files of a match here."""
    if not plan.save:
        return played.outcome
    for name, data in played.files.items():
        (Path(plan.save) / name).write_bytes(data)
    return replace(played.outcome, file=str(Path(plan.save) / played.outcome.file))


class PlayersOnDask:
    """Plays the fixtures of a contest on the workers of a cluster."""

    def __init__(self, pool: DaskExecutor, names: Sequence[str]) -> None:
        self._pool, self._names = pool, names

    @property
    def jobs(self) -> int:
        return self._pool.workers()

    def play(self, fixtures: Sequence[ContestFixture]) -> asyncio.Future[list[PlayedFixture]]:
        return asyncio.ensure_future(self._play(fixtures))

    async def _play(self, fixtures: Sequence[ContestFixture]) -> list[PlayedFixture]:
        results, _ = await asyncio.wrap_future(self._pool.submit(play_batch, fixtures))
        return [self._unplayed(one) if isinstance(one, UnplayedMatch) else one for one in results]

    def _unplayed(self, match: UnplayedMatch) -> PlayedFixture:
        """No bot of such a match has shown up, as far as the contest is concerned."""
        assert isinstance(match.fixture, ContestFixture)
        now, entrants = int(time() * 1000), match.fixture.entrants
        bots = " and ".join(self._names[entrant] for entrant in entrants)
        absent = dict.fromkeys(range(1, len(entrants)), "")
        return PlayedFixture(
            match.fixture, now, now, absent={0: f"{bots} could not play: {match.why}", **absent}
        )


@contextmanager
def players_on_dask(
    plan: TournamentPlan, address: str, without: Collection[Path], notice: Told
) -> Iterator[PlayersOnDask]:
    """Connect to a cluster; an exception cancels the matches that are not played yet."""
    with dask_pool(address, parcel_of(plan, without), notice) as pool:
        yield PlayersOnDask(pool, plan.names)
