"""CurrentPlan: the open fixtures of a running contest, and the next plan while it is made."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from botdrome.contest.formats.format import Entrant
from botdrome.contest.progress import OpenFixtures, PlanSummary
from botdrome.server.contests import no_shows
from botdrome.server.contests.contest_planner import ContestPlanner
from botdrome.server.failures import log_failure
from botdrome.server.workers.jobs import WorkersClosed


class CurrentPlan:
    """No match begins while a plan is made. Results that arrive meanwhile count for both plans."""

    def __init__(
        self,
        planner: ContestPlanner,
        contest: str,
        playing: Collection[str],
        tell: Callable[[OpenFixtures], None],
    ) -> None:
        """`playing` are the fixtures that are played or being stored.

        `tell` is called with the plan before, after a new one.
        """
        self._planner, self._contest, self._playing, self._tell = planner, contest, playing, tell
        self._entrants: Sequence[Entrant] = ()
        self._ordered = self._changed = False
        self.in_work, self.made = False, asyncio.Event()
        """`made` is set when there is a plan, though another one may be in work."""
        self.reset((), 0)

    def reset(self, entrants: Sequence[Entrant], results: int) -> None:
        """Drop the plan. The contest has about that many results."""
        self._entrants, self._changed, self._ordered = entrants, True, self.in_work
        self.made.clear()
        self.fixtures = OpenFixtures(PlanSummary(0, results=results), ())

    def order(self, *, changed: bool) -> bool:
        """Order a plan, and return True if the caller must await `make`.

        `changed`: not only results were added.
        """
        self._ordered, self._changed = True, self._changed or changed
        starts, self.in_work = not self.in_work, True
        return starts

    async def make(self) -> None:
        """Make the plan that is ordered, until no other is ordered meanwhile."""
        while self._ordered:
            changed, self._ordered, self._changed = self._changed, False, False
            try:
                names = [entrant.name for entrant in self._entrants]
                fixtures = await self._planner.plan(
                    self._contest, names, self.fixtures, changed, self._playing
                )
            except WorkersClosed:
                return
            except Exception:
                log_failure("a contest could not be planned")
                self.order(changed=changed)
                await asyncio.sleep(no_shows.RETRY)
                continue
            if self._ordered:
                self._changed = True  # this plan is out of date
        before, self.fixtures, self.in_work = self.fixtures, fixtures, False
        for key, result in before.added.items():
            self.fixtures.add(key, result)
        self.made.set()
        self._tell(before)
