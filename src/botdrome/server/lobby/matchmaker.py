"""Matchmaker: gathers bots for open play for a bounded time, and pairs those whose games say most
about their strengths.
"""

import asyncio
from collections.abc import Callable

from botdrome.contest.lobby import Lobby, Seeker, Ticket, Wish
from botdrome.contest.matchmaking import Knowledge, WaitingPlayer, pairs_now
from botdrome.server import metrics
from botdrome.server.tables.table import Table

MOST_GAMES = 100
"""The number of wishes for which strengths are followed; clients choose options, so wishes add up.
"""


class Matchmaker:
    def __init__(
        self, lobby: Lobby, wait: float, open_table: Callable[[tuple[Seeker, ...]], None]
    ) -> None:
        self._lobby, self._wait, self._open = lobby, wait, open_table
        self._arrived: dict[Ticket, float] = {}
        self._known: dict[Wish, Knowledge] = {}
        self._loop = asyncio.get_running_loop()

    # The wait of all players.

    def arrive(self, seeker: Seeker) -> None:
        self._arrived[seeker.ticket] = self._loop.time()

    def leave(self, seeker: Seeker) -> None:
        self._arrived.pop(seeker.ticket, None)

    def seated(self, seeker: Seeker) -> None:
        """Measure how long a player has waited for its table."""
        arrived = self._arrived.pop(seeker.ticket, None)
        if arrived is not None:
            metrics.WAIT.observe(self._loop.time() - arrived)

    # Gathering.

    def gathers(self, seeker: Seeker) -> bool:
        """Return whether a player is gathered: for a table of two, outside contests, against any
        opponent.
        """
        wish = seeker.wish
        return (
            self._wait > 0
            and wish.open_to_house
            and wish.players == 2
            and wish.pace == "usual"
            and seeker.opponent is None
        )

    def gather(self, seeker: Seeker) -> None:
        """Pair a player that waits now, at the latest when its time is up."""
        self._match_up(seeker.wish)
        self._loop.call_at(
            self._arrived.get(seeker.ticket, 0.0) + self._wait, self._match_up, seeker.wish
        )

    def _match_up(self, wish: Wish) -> None:
        waiting = {seeker.name: seeker for seeker in self._lobby.waiting(wish)}
        players = [
            WaitingPlayer(name, self._arrived.get(seeker.ticket, 0.0))
            for name, seeker in waiting.items()
        ]
        # The loop may call a moment early, by the resolution of its clock.
        now = self._loop.time() + 0.001
        for names in pairs_now(
            players, self._knowledge(wish), lambda one, two: one != two, now, self._wait
        ):
            table = tuple(waiting[name] for name in names)
            for seeker in table:
                self._lobby.leave(seeker)
            self._open(table)

    def _knowledge(self, wish: Wish) -> Knowledge:
        if wish not in self._known and len(self._known) == MOST_GAMES:
            del self._known[next(iter(self._known))]
        return self._known.setdefault(wish, Knowledge())

    def learn(self, wish: Wish, table: Table) -> None:
        """Move the strengths by the result of a match that is over."""
        result = table.match.result
        if wish in self._known and result is not None and not result.aborted:
            (one, two), (first, second) = table.entry.players, result.places
            self._known[wish].learn(one, two, (first < second) + (first == second) / 2)
