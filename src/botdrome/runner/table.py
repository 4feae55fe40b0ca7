"""OfflineTable: one match of the offline runner, between functions and programs."""

import traceback
from collections.abc import Sequence
from time import perf_counter, time
from typing import Any

import msgspec

from botdrome.bots.house import house_view
from botdrome.bots.simulate import TRIES
from botdrome.client.program import FAREWELL, Program, wait_for
from botdrome.games.reading import UNREADABLE
from botdrome.match.course import News
from botdrome.match.events import Cause, Late, Out, Player, Refused
from botdrome.match.match import Match
from botdrome.runner.scenes import Stage
from botdrome.runner.seats import FunctionSeat, Overdue, ProgramSeat, Seat
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.vocabulary import standing


class Clock:
    """The clock of a match. It runs for programs only: functions take no time, so that the same seed gives the same match."""

    def __init__(self, ticking: bool) -> None:
        self._ticking = ticking
        self._since = perf_counter()
        self._ahead = 0

    def now(self) -> int:
        return self._ahead + (int((perf_counter() - self._since) * 1000) if self._ticking else 0)

    def advance(self, to: int) -> None:
        """Jump ahead if no program is awaited."""
        self._ahead += max(0, to - self.now())

    def leave_out(self, seconds: float) -> None:
        """Subtract time in which programs could not be read."""
        self._since += seconds


UNLIMITED = 60.0
"""Seconds for a function if the terms set no limit."""
IN_VAIN = 200
"""Refused messages in a row before a program counts as flooding."""


class OfflineTable:
    def __init__(self, match: Match, seats: Sequence[Seat], names: tuple[str, ...], stage: Stage | None = None) -> None:
        """`stage` shows the match."""
        self._match, self._stage = match, stage
        self._dialect = Battlebot(match.game.name, names, int(time() * 1000), extras=True)
        self._functions = {player: seat for player, seat in enumerate(seats) if isinstance(seat, FunctionSeat)}
        self._programs = {player: seat for player, seat in enumerate(seats) if isinstance(seat, ProgramSeat)}
        self._clock = Clock(ticking=bool(self._programs))
        self._in_vain = dict.fromkeys(self._programs, 0)
        self.faults: dict[Player, str] = {}
        """Why each bot was disqualified, for its author."""
        self.refused = [0] * match.players
        """The number of refused moves of each player."""

    def play(self) -> None:
        match = self._match
        self._tell(match.start())
        while match.result is None:
            step = match.steps
            self._ask_functions()
            if match.result is None and match.steps == step:
                self._let_time_pass()

    def _tell(self, news: News) -> None:
        for event, _ in news:
            if isinstance(event, Out):
                self.faults[event.player] = f"{event.cause}: {event.detail}" if event.detail else event.cause
            elif isinstance(event, Refused | Late):
                self.refused[event.player] += 1
        if self._stage is not None:
            self._stage.see(self._clock.now(), news)
        if news and self._programs:
            told = self._dialect.on_news(news, standing(self._match, self._clock.now()), self._programs)
            for player, messages in told.items():
                self._programs[player].program.send(messages)
                self._programs[player].asked = perf_counter()

    def _expel(self, player: Player, cause: Cause, why: str) -> None:
        if seat := self._programs.pop(player, None):
            seat.program.close()
        self._tell(self._match.expel(player, cause, self._clock.now(), why))

    # Functions.

    def _ask_functions(self) -> None:
        """Ask every awaited function; after a refused move it may try again."""
        step = self._match.steps
        for _ in range(TRIES):
            for player in tuple(self._match.awaited):
                if player in self._functions and self._match.steps == step and self._match.result is None:
                    self._ask(player, self._functions[player])

    def _ask(self, player: Player, seat: FunctionSeat) -> None:
        match, began = self._match, perf_counter()
        limit = match.terms.pace.limit
        seconds = UNLIMITED if limit is None else limit / 1000
        try:
            view = house_view(match.position, match.seat_of(player)) if seat.trusted else match.view(player)
            raw, spent = seat.ask(view, 2 * seconds + 1)
        except Overdue:
            return self._stop(player)
        except Exception as error:
            return self._expel(player, "crash", _place(error))
        finally:
            self._clock.leave_out(perf_counter() - began)
        if spent > seconds and match.deadline is not None:
            self._clock.advance(match.deadline + int((spent - seconds) * 1000) + 1)
        self._tell(match.submit(player, raw, self._clock.now()))

    def _stop(self, player: Player) -> None:
        """A function exceeded its time by far and was stopped."""
        deadline = self._match.deadline
        if deadline is None:
            return self._expel(player, "timeout", f"no move within {UNLIMITED:g} s")
        self._clock.advance(deadline)
        return self._tell(self._match.wake(deadline))

    # Programs and time.

    def _let_time_pass(self) -> None:
        match, now = self._match, self._clock.now()
        awaited = [player for player in match.awaited if player in self._programs]
        if match.deadline is not None and now >= match.deadline:
            self._tell(match.wake(now))
        elif awaited:
            left = None if match.deadline is None else (match.deadline - now) / 1000
            wait_for([seat.program for seat in self._programs.values()], left)
            self._hear()
        elif match.deadline is not None:
            self._clock.advance(match.deadline)
        else:
            for player in tuple(match.awaited):
                self._expel(player, "illegal moves", "no legal move came, and there is no time limit to wait for")

    def _hear(self) -> None:
        for player, seat in list(self._programs.items()):
            seat.program.flush()
            seat.program.hear_errors()
            lines = seat.program.receive()
            if seat.program.flooding:
                self._expel(player, "flood", seat.program.flooding)
            for line in lines:
                if player in self._programs:
                    self._take(player, seat, line)
            if seat.program.ended and player in self._programs:
                self._bury(player, seat.program)

    def _bury(self, player: Player, program: Program) -> None:
        program.wait_for_end(FAREWELL)
        program.hear_errors()
        self._expel(player, "crash", program.last_words())

    def _take(self, player: Player, seat: ProgramSeat, line: bytes) -> None:
        first, seat.greeted = not seat.greeted, True
        try:
            raw = msgspec.json.decode(line)
        except UNREADABLE as error:
            self._expel(player, "unreadable", f"{error}: {line[:80].decode(errors='replace')}")
            return
        if first and isinstance(raw, dict) and "gameType" in raw:
            return
        self._submit(player, seat, raw)

    def _submit(self, player: Player, seat: ProgramSeat, raw: Any) -> None:
        spent, before = perf_counter() - seat.asked, self.refused[player]
        awaited = player in self._match.awaited
        self._tell(self._match.submit(player, raw, self._clock.now()))
        if awaited and self.refused[player] == before:
            seat.effort.add(spent)
            self._in_vain[player] = 0
            return
        self._in_vain[player] += 1
        if self._in_vain[player] > IN_VAIN:
            self._expel(player, "flood", f"more than {IN_VAIN} messages in a row that were not taken")


def _place(error: Exception) -> str:
    """Describe an exception with its line in the bot."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__}: {error} (line {frames[-1].lineno} of {frames[-1].filename.rpartition('/')[2]})"
