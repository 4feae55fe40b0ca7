"""Timing: the timers of tables that tick, and the times that players are not charged for."""

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from math import ceil
from time import monotonic
from typing import Final, Protocol

import structlog

from botdrome.match.events import Player
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds, Pace
from botdrome.server import metrics
from botdrome.server.network.steady_loop import SteadyClock
from botdrome.server.tables.audience import SeatedPlayer

log = structlog.get_logger()


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    """The loop, or a tick_timers."""

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Timer: ...


class TickTimer:
    __slots__ = ("ring",)

    def __init__(self, ring: Callable[[], None] | None) -> None:
        self.ring = ring

    def cancel(self) -> None:
        self.ring = None


class TickTimers:
    def __init__(self, now: Callable[[], float] | None = None) -> None:
        """`now` is a clock; None: the loop's."""
        self._beats: list[tuple[float, int, TickTimer]] = []
        """A heap. The number orders beats that are due at the same time."""
        self._numbers = count()
        self._loop = asyncio.get_running_loop()
        self._now = now or self._loop.time
        self._clock: SteadyClock | None = None if now else getattr(self._loop, "clock", None)
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_due = 0.0
        self._ringing = False

    def call_later(self, delay: float, ring: Callable[[], None]) -> TickTimer:
        beat, due = TickTimer(ring), self._now() + delay
        heappush(self._beats, (due, next(self._numbers), beat))
        if not self._ringing:
            self._set_alarm()
        return beat

    def catch_up(self) -> None:
        """Run the beats that are due.

        The system's clock is enough to see that none is; `_ring` leaves out stalls.
        """
        clock = self._clock
        if self._beats and not self._ringing:
            now = self._now() if clock is None else monotonic() - clock.left_out
            if self._beats[0][0] <= now:
                self._ring()

    def caught_up(self, at: float) -> float:
        """Run the beats that are due at this time of the loop, and return the time after them."""
        if self._beats and self._beats[0][0] <= at and not self._ringing:
            self._ring()
            return self._now()
        return at

    def _ring(self) -> None:
        """Beats that fall due meanwhile wait for the next call, so that the loop serves others in
        between.
        """
        self._ringing = True
        beats, now = self._beats, self._now()
        while beats and beats[0][0] <= now:
            ring = heappop(beats)[2].ring
            if ring is not None:
                try:
                    ring()
                except Exception:
                    log.exception("a tick failed")
        self._ringing = False
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Set one timer for all beats.

        If it rings too early, it is set again. The loop's timers count whole milliseconds.
        """
        if not self._beats:
            return
        due = self._beats[0][0]
        if self._alarm is not None:
            if self._alarm_due <= due:
                return
            self._alarm.cancel()
        self._alarm_due = due
        self._alarm = self._loop.call_later(
            max(0, ceil((due - self._now()) * 1000)) / 1000, self._go_off
        )

    def _go_off(self) -> None:
        self._alarm = None
        self.catch_up()
        self._set_alarm()


PERIOD: Final[Milliseconds] = 1000
"""The time between two looks at a player's network time."""

LATE: Final[Milliseconds] = 2
"""A timer that is later than this may be so because the loop was busy."""

DELAY: Final[Milliseconds] = 20
"""A delay of the arena that is recorded even if it decides nothing."""

Uncharged = tuple[Milliseconds, Milliseconds]
"""The network's and the arena's part of the time of a move."""
NOTHING: Final[Uncharged] = (0, 0)


STILL: Final = SteadyClock()
"""The clock of a loop that leaves out no stalls."""


def never() -> bool:
    return False


@lru_cache(maxsize=100)
def is_simple(pace: Pace) -> bool:
    times = [time for time in (pace.limit, pace.first) if time is not None]
    return not (pace.beat or pace.bank) and min(times, default=DELAY) >= DELAY


class MoveTimes:
    __slots__ = (
        "_banked",
        "_beat",
        "_behind",
        "_cap",
        "_clock",
        "_house",
        "_known",
        "_left_out",
        "_looks",
        "_quick",
        "_read_first",
        "_simple",
        "match",
    )

    def __init__(
        self, match: Match, cap: Milliseconds, behind: Callable[[], bool], loop: AbstractEventLoop
    ) -> None:
        """`cap` is the highest credit for the network.

        `behind` says whether input may have waited for the loop.
        """
        pace = match.terms.pace
        self.match, self._cap, self._behind = match, cap, behind
        self._beat, self._banked = pace.beat, bool(pace.bank)
        self._known = [NOTHING] * match.players
        """The network time of each player, with no delay of the arena."""
        self._looks: list[Milliseconds] = [0] * match.players
        """When to look at the network time of each player again."""
        self._quick: list[Milliseconds] = [0] * match.players
        """Until this time, a move within DELAY needs no measurement."""
        self._house: list[Player] = []
        """The seats of house bots."""
        self._read_first = False
        """Whether a late timer waits until the sockets have been read."""
        self._clock: SteadyClock = getattr(loop, "clock", STILL)
        self._left_out = self._clock.left_out
        self._simple = is_simple(pace)
        """Whether a move within DELAY is in time, and none is charged to a bank."""

    def start(self, seated: dict[Player, SeatedPlayer]) -> News:
        """Start the match, and credit the network times that are known by now."""
        news = self.match.start()
        if not self._beat:
            for player, one in seated.items():
                if one.network_time():  # nearly never when bots run beside the server
                    self._look(player, one, 0)
                    self._looks[player] = self._quick[player] = 0
        return news

    def seat_house(self, player: Player) -> None:
        """A house bot waits for the arena's own processes, so its time is the arena's."""
        self._house.append(player)

    def before_move(
        self, player: Player, seated: Mapping[Player, SeatedPlayer], now: Milliseconds
    ) -> Uncharged:
        """Credit a player whose move is about to be judged."""
        if self._clock.left_out != self._left_out:
            self._note_stall(now)
        elif now < self._quick[player] and now - self.match.step.opened < DELAY:
            return self._known[player]  # a quick bot is in time, and was not delayed
        if self._beat:
            self._note_lateness(now)
            return NOTHING
        one = seated.get(player)
        if one is None:
            return self._charge_no_house_bot(player, now) if player in self._house else NOTHING
        if now >= self._looks[player]:
            self._look(player, one, now)
        due = self.match.deadline
        if self._banked or (due is not None and now > due):
            return self._charge_nothing_for_delays(player, one, now)
        if now - self.match.step.opened >= DELAY and self._behind():
            return self._note_delay(player, one, now)
        return self._known[player]

    def leave(self, player: Player) -> None:
        """Measure again: the player has left its seat."""
        self._quick[player] = 0

    def _look(self, player: Player, seated: SeatedPlayer, now: Milliseconds) -> None:
        self._looks[player] = now + PERIOD
        if self._simple:
            self._quick[player] = now + PERIOD
        network = min(self._cap, int(seated.network_time() * 1000))
        if network != self._known[player][0]:
            self._known[player] = (network, 0) if network else NOTHING
            self.match.credit(player, network, 0, now)

    def _charge_nothing_for_delays(
        self, player: Player, seated: SeatedPlayer, now: Milliseconds
    ) -> Uncharged:
        known, arena = self._known[player], int(seated.delay() * 1000)
        if arena and player in self.match.awaited:
            self.match.credit(player, known[0], arena, now)
            return known[0], arena
        return known

    def _note_delay(self, player: Player, seated: SeatedPlayer, now: Milliseconds) -> Uncharged:
        """Record a delay of a move in time, which decides nothing unless the move is refused."""
        match, known, arena = self.match, self._known[player], int(seated.delay() * 1000)
        if arena < DELAY or player not in match.step.awaited:
            return known
        if match.clocks.active:
            match.credit(player, known[0], arena, now)
        else:
            match.input_log.time(now, "credit", player, (known[0], arena))
        return known[0], arena

    def after_refusal(self, player: Player, uncharged: Uncharged, now: Milliseconds) -> None:
        """The player must answer once more, and is not charged for the delay that was noted."""
        if not self.match.clocks.active and player in self.match.awaited:
            self.match.credit(player, *uncharged, now)

    def _charge_no_house_bot(self, player: Player, now: Milliseconds) -> Uncharged:
        """Credit a house bot, if its time is up or comes from a bank."""
        due = self.match.deadline
        if player not in self.match.awaited or not (
            self._banked or (due is not None and now >= due)
        ):
            return NOTHING
        arena = now - self.match.step.opened
        self.match.credit(player, 0, arena, now)
        return (0, arena) if arena else NOTHING

    def reads_first(self, now: Milliseconds) -> bool:
        """Return whether a timer should wait until the loop has read the moves that arrived while
        it was busy.
        """
        if self._clock.left_out != self._left_out:
            self._note_stall(now)
        if self._beat:
            self._note_lateness(now)
            return False
        for player in self._house:
            self._charge_no_house_bot(player, now)
        due = self.match.deadline
        self._read_first = not self._read_first and due is not None and now - due > LATE
        return self._read_first

    def _note_lateness(self, now: Milliseconds) -> None:
        if (due := self.match.deadline) is not None and now >= due:
            metrics.LATENESS.observe((now - due) / 1000)

    def _note_stall(self, now: Milliseconds) -> None:
        stalled, self._left_out = self._clock.left_out - self._left_out, self._clock.left_out
        self.match.stall(round(stalled * 1000), now)
