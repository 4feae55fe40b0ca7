"""Room: players of one protocol gather for a table, with clients at the desk and house bots.

A room starts a table when it is full, or when its players have waited long enough for others. It
follows contests, too: a player that is expected in one waits for its next match there, and the room
sets the table of that match. The rooms of a protocol say how players join and what they are told.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial

from botdrome.contest.lobby import Seeker
from botdrome.match.terms import Terms
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable, TableRules
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer, house_bot, house_players
from botdrome.server.tables.table import Table


class Room:
    rank = 1
    """Of several rooms and desks with players of a contest's match, the first of the highest rank
    sets the table.
    """
    house = False
    """Whether house bots take the free seats when the players have waited long enough."""
    retry = 1.0
    """Seconds until the room tries again, if it cannot start when they have."""

    def __init__(self, desk: Desk, rules: TableRules) -> None:
        self.desk, self.rules = desk, rules
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._unfollow: list[Callable[[], None]] = []

    def follow(self) -> None:
        """Follow the desk and contests until the room is closed."""
        self._unfollow = [self.desk.on_wait(self._client_waits, self.rules.game.name)]
        self.desk.gatherings.append(self._gathering)
        self._unfollow.append(partial(self.desk.gatherings.remove, self._gathering))
        if (queue := self.desk.contest_queue) is not None:
            queue.on_change.append(self.contests_changed)
            self._unfollow.append(partial(queue.on_change.remove, self.contests_changed))

    def close(self) -> None:
        """Take no more players. Running matches go on."""
        self.stop_timer()
        unfollow, self._unfollow = self._unfollow, []
        for stop in unfollow:
            stop()

    # What the rooms of a protocol decide.

    @property
    def names(self) -> Collection[str]:
        """The names of the players that have joined and wait for a table."""
        return ()

    @property
    def gathers(self) -> bool:
        """Whether players wait for a table that the room starts by itself."""
        return False

    def complete(self, others: Sequence[GatheredPlayer]) -> None:
        """Start a table for the players that wait, and these others."""

    def contests_changed(self) -> None:
        """A contest has begun or is over."""

    # How a table fills.

    def waiting(self) -> list[Seeker]:
        """Return the clients at the desk that could join the players here, longest wait first."""
        return [
            seeker for seeker in self.desk.waiting(self.rules.wish) if seeker.name not in self.names
        ]

    def _gathering(self) -> Seeker | None:
        name = next(iter(self.names), None) if self.gathers else None
        return None if name is None else Seeker(0, name, self.rules.wish)

    def _client_waits(self, seeker: Seeker) -> None:
        if seeker.wish == self.rules.wish:
            self.start_if_full()

    def start_if_full(self) -> None:
        """Start if clients that wait at the desk take all free seats."""
        if self.gathers and not self.desk.refusal and self._can_seat(self.rules.most):
            self.complete(self._others())

    def wait_is_over(self) -> None:
        """Start: the players have waited long enough for others."""
        if not self.gathers:
            return
        if self.desk.refusal or not (self.house or self._can_seat(self.rules.sizes[0])):
            self.set_timer(self._loop.time() + self.retry, self.wait_is_over)
        else:
            self.complete(self._others(self.house))

    def _can_seat(self, players: int) -> bool:
        return len(self.names) + len(self.waiting()) >= players

    def _others(self, house: bool = False) -> list[GatheredPlayer]:
        """Take clients from the desk for the free seats and, for the rest, house bots of middle
        strength.
        """
        free = self.rules.most - len(self.names)
        clients = [(seeker.name, self.desk.recruit(seeker)) for seeker in self.waiting()[:free]]
        others = [GatheredPlayer(name, client.owner, client) for name, client in clients]
        if house and (bot := house_bot(self.rules.game.name, "house")) is not None:
            others += house_players(*bot, free - len(others))
        return others

    def set_table(self, players: Sequence[GatheredPlayer]) -> Table:
        rules = self.rules
        return self.desk.set_table(rules.game, rules.terms, players, rules.options, resumes=False)

    def set_timer(self, when: float, work: Callable[[], None]) -> None:
        """Call this at a time on the loop's clock, in place of what the timer was set for."""
        self.stop_timer()
        self._timer = self._loop.call_at(when, self._ring, work)

    def _ring(self, work: Callable[[], None]) -> None:
        self._timer = None
        work()

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Contests.

    def expects(self, name: str, owner: str, version: str) -> bool:
        """Return whether a player is expected in a running contest with the rules of this room.

        Raise ContestRefusal if no such contest allows this version of it.
        """
        queue, rules = self.desk.contest_queue, self.rules
        return queue is not None and queue.expects(rules, name, owner, version)

    def hold(
        self, name: str, owner: str, version: str, release: Callable[[], None]
    ) -> Callable[[], None]:
        """Let a player wait for its next match in a contest, which may begin at once.

        `release` is called when its contests are over. Call what is returned when it waits no
        longer.
        """
        queue, rules = self.desk.contest_queue, self.rules
        assert queue is not None
        return queue.hold(rules, name, owner, version, self, release)

    def open_for_contest(self, wanted: ContestTable, players: Sequence[ContestPlayer]) -> None:
        """Seat the players in this order, and start the match."""
        raise NotImplementedError

    def contest_table(
        self, wanted: ContestTable, terms: Terms, players: Sequence[GatheredPlayer]
    ) -> Table:
        table = self.desk.set_table(
            wanted.game,
            terms,
            players,
            wanted.options,
            wanted.contest,
            seed=wanted.seed,
            resumes=False,
        )
        wanted.prepare(table)
        return table
