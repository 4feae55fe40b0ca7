"""ContestHold: a player that waits in all of its contests at once, since its protocol names none.

The first match takes it.
"""

from collections.abc import Callable, Iterable
from functools import partial

from botdrome.server.contests.contest_player import ContestPlayer
from botdrome.server.contests.running_contest import RunningContest


class ContestHold:
    def __init__(
        self,
        player: ContestPlayer,
        contests: Callable[[], Iterable[RunningContest]],
        join: Callable[[str], None],
    ) -> None:
        """`contests` returns those in which it plays now, and `join` is told the names of those in
        which it begins to wait.

        The player is released when all of them are over.
        """
        self._player, self._contests, self._join = player, contests, join
        self._joined: dict[str, RunningContest] = {}
        self.waits = True

    def join(self) -> None:
        """Wait in the contests in which it does not wait yet."""
        for contest in self._contests():
            if self.waits and contest.name not in self._joined:
                self._joined[contest.name] = contest
                self._join(contest.name)
                release = partial(self._over, contest.name)
                contest.arrive(self._player._replace(release=release, on_seat=self._seated))

    def leave(self) -> None:
        self.waits = False
        while self._joined:
            _, contest = self._joined.popitem()
            contest.depart(self._player.name, self._player.ticket)

    def _seated(self) -> Callable[[], None]:
        """One contest has seated it: for the others it is busy until the returned function is
        called.
        """
        self.waits = False
        name, ticket = self._player.name, self._player.ticket
        lenders = [
            contest for contest in self._joined.values() if contest.players.lend(name, ticket)
        ]
        self._joined.clear()
        self._player.on_seat()

        def back() -> None:
            for contest in lenders:
                contest.take_back(name)

        return back

    def _over(self, name: str) -> None:
        self._joined.pop(name, None)
        if self.waits and not self._joined:
            self.waits = False
            self._player.release()
