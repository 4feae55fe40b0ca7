"""OfflineTable: one match of the offline runner, between functions and programs."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from time import perf_counter, time
from typing import Any

from botdrome.bots.house import house_view
from botdrome.bots.simulate import TRIES
from botdrome.client.program import wait_for
from botdrome.games.game import Game
from botdrome.games.options import options_in
from botdrome.match.events import (
    Began,
    BoardEnded,
    Cause,
    Event,
    Out,
    Played,
    Player,
    Refused,
    Result,
)
from botdrome.match.headline import Headlines
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds
from botdrome.offline.isolation import START, BotFault
from botdrome.offline.scenes import Stage
from botdrome.offline.seats import FunctionSeat, ProcessSeat, ProgramSeat, ReplaySeat, Seat
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.writers import MatchHeader, match_status

# The clock of an offline match.


class MatchClock:
    """It stands still within a step, so that the same seed gives the same match, whatever time it
    takes.

    Only a limit that is exceeded moves it, and in a match with a time bank the thinking of the
    players.
    """

    def __init__(self, now: Milliseconds) -> None:
        self.now, self._since = now, perf_counter()

    def restart(self) -> None:
        """A step opens."""
        self._since = perf_counter()

    def left(self, deadline: Milliseconds) -> float:
        """Return the seconds that programs still have."""
        return (deadline - self.now) / 1000 + self._since - perf_counter()

    def leave_out(self, seconds: float) -> None:
        """Subtract time in which programs could not be read."""
        self._since += seconds

    def spend(self, seconds: float | None = None) -> None:
        """Move on by the time that a function took; None: that a program took."""
        spent = int((perf_counter() - self._since if seconds is None else seconds) * 1000)
        self.now += spent
        self._since += spent / 1000 if seconds is None else 0.0

    def advance(self, to: Milliseconds) -> None:
        self.now = max(self.now, to)
        self.restart()


UNLIMITED = 60.0
"""Seconds for a function if the terms set no limit."""
BEYOND = 1.0
"""Seconds beyond its limit after which a function is stopped. Until then its move is late."""
IN_VAIN = 200
"""Refused messages in a row before a program counts as flooding."""
SEED_SIZE = 1 << 32
"""Seeds that a bot is told are below this: every language and library takes them."""


class OfflineTable:
    def __init__(
        self,
        match: Match,
        seats: Sequence[Seat],
        names: tuple[str, ...],
        stage: Stage | None = None,
    ) -> None:
        """`stage` shows the match."""
        self._match, self._stage, self._names, self.seats = match, stage, names, seats
        self._writer = offline_writer(match.game.name, names)
        self._functions = {
            player: seat for player, seat in enumerate(seats) if not isinstance(seat, ProgramSeat)
        }
        self._programs = {
            player: seat for player, seat in enumerate(seats) if isinstance(seat, ProgramSeat)
        }
        self._banked = bool(match.terms.pace.bank)
        self._clock = MatchClock(match.inputs[-1][0] if match.inputs else 0)
        self._in_vain = dict.fromkeys(self._programs, 0)
        self._refusals: dict[Player, str] = {}
        """Why the last move of each player in this step was refused."""
        self._late: set[Player] = set()
        """The players whose moves in this step are late.

        Such a move is dropped, however late it was.
        """
        self._missed = [0] * match.players
        """The steps in a row that each player has missed."""
        self._headlines = Headlines()
        self.faults: dict[Player, str] = {}
        """Why each bot was disqualified, for its author."""
        self.unstarted: set[Player] = set()
        """The bots that failed before they could make a move."""
        self.refused, self.late = [0] * match.players, [0] * match.players
        """The numbers of refused and of late moves of each player, without the one that put it out.
        """

    def headline(self, player: Player) -> str:
        return self._headlines.of(player)

    def play(self) -> None:
        """Play the match to its end, from its start or, if it has started, from where it stands."""
        match = self._match
        started = bool(match.steps or match.awaited or match.resting or match.result)
        self._tell(self._position_news() if started else match.start())
        self._begin_functions()
        while match.result is None:
            step = match.steps
            self._ask_functions()
            if match.result is None and match.steps == step:
                self._let_time_pass()
        self._end_functions()

    def _position_news(self) -> News:
        """Return news that tell programs the position of a match in progress, as after a
        reconnection.
        """
        match = self._match
        boards = match.result_if_ended("complete").boards[:-1]
        ended: News = [
            (BoardEnded(number, result), match.position) for number, result in enumerate(boards)
        ]
        return [*ended, (Began(match.board.number, match.order), match.position)]

    def _tell(self, news: News) -> None:
        for event, _ in news:
            self._note(event)
        if self._stage is not None:
            self._stage.see(self._clock.now, news)
        if news and self._programs:
            status = match_status(self._match, self._clock.now)
            told = self._writer.on_news(news, status, self._programs)
            for player, messages in told.items():
                self._programs[player].program.send(messages)
                self._programs[player].asked = perf_counter()

    def _note(self, event: Event) -> None:
        self._headlines.add(event)
        if isinstance(event, Played | Began):
            for player in self._late:
                self.late[player] += 1
            self._refusals.clear()
            self._late.clear()
            self._clock.restart()
        elif isinstance(event, Out):
            self._late.discard(event.player)
            self.faults.setdefault(
                event.player, f"{event.cause}: {event.detail}" if event.detail else event.cause
            )
        elif isinstance(event, Refused):
            self.refused[event.player] += 1
            self._refusals[event.player] = event.why

    def _expel(self, player: Player, cause: Cause, why: str) -> None:
        if seat := self._programs.pop(player, None):
            seat.close()
        self._functions.pop(player, None)
        self._tell(self._match.expel(player, cause, self._clock.now, why))

    # Functions.

    def _begin_functions(self) -> None:
        match = self._match
        faults: list[tuple[Player, BotFault]] = []
        for player, seat in self._functions.items():
            try:
                limit = match.terms.pace.limit
                about = beginning(match.game, self._names, player, seat.seed, limit)
                seat.begin(about, START)
            except BotFault as fault:
                faults.append((player, fault))
        for player, found in faults:
            self.unstarted.add(player)
            self._expel(player, found.cause, found.detail)
            self.faults.setdefault(player, str(found))
        self._clock.restart()

    def _end_functions(self) -> None:
        result = self._match.result
        assert result is not None
        for player, seat in self._functions.items():
            try:
                seat.end(ending(result, player), BEYOND)
            except BotFault as fault:
                self.faults.setdefault(player, f"after the match, in `end`: {fault}")

    def _ask_functions(self) -> None:
        """Ask every awaited function; after a refused move it may try again."""
        step = self._match.steps
        for asked in range(TRIES):
            for player in tuple(self._match.awaited):
                seat = self._functions.get(player) if player not in self._late else None
                if (
                    seat
                    and asked < seat.tries
                    and self._match.steps == step
                    and self._match.result is None
                ):
                    self._ask(player, seat)

    def _ask(self, player: Player, seat: FunctionSeat | ProcessSeat) -> None:
        match, began = self._match, perf_counter()
        if self._banked and (others := self._clock.now - match.step.opened):
            match.credit(
                player, 0, others, self._clock.now
            )  # functions are asked one after the other
        due, limit = match.deadline, match.terms.pace.limit
        seconds = UNLIMITED if due is None else (due - self._clock.now) / 1000
        view = (
            house_view(match.position, match.seat_of(player))
            if seat.trusted
            else match.view(player)
        )
        try:
            raw, spent = seat.ask(view, seconds + BEYOND)
        except BotFault as fault:
            late = f"no move within {_duration(limit)}" if fault.cause == "timeout" else ""
            return self._expel(player, fault.cause, ", ".join(filter(None, (late, fault.detail))))
        finally:
            self._clock.leave_out(perf_counter() - began)
        if spent > seconds and due is not None:
            return self._late.add(player)
        if self._banked:
            self._clock.spend(spent)
        if (
            not self._take(player, raw)
            and isinstance(seat, ReplaySeat)
            and player in self._refusals
        ):
            self._refusals[player] = (
                f"recorded move {seat.turn} is refused here: {self._refusals[player]}"
            )
        return None

    # Moves and time.

    def _take(self, player: Player, raw: Any) -> bool:
        """Return whether a move was accepted."""
        before, awaited = self.refused[player], player in self._match.awaited
        self._tell(self._match.submit(player, raw, self._clock.now))
        if not awaited or self.refused[player] > before:
            return False
        self._missed[player] = 0
        return True

    def _let_time_pass(self) -> None:
        match = self._match
        awaited = [self._programs[player] for player in match.awaited if player in self._programs]
        starting = max(
            (seat.started + START - perf_counter() for seat in awaited if not seat.heard),
            default=0.0,
        )
        if starting > 0:
            began = perf_counter()
            self._hear(starting)
            self._clock.leave_out(perf_counter() - began)
        elif awaited and (left := self._left()) > 0:
            self._hear(left)
        elif match.deadline is not None:
            self._time_up(match.deadline)
        else:
            for player in tuple(match.awaited):
                cause: Cause = "illegal moves" if player in self._refusals else "timeout"
                self._expel(
                    player, cause, self._refusals.get(player, f"no move within {_duration(None)}")
                )

    def _left(self) -> float:
        """Return the seconds that the awaited programs still have."""
        due = self._match.deadline
        return self._clock.left(self._clock.now + int(UNLIMITED * 1000) if due is None else due)

    def _time_up(self, deadline: Milliseconds) -> None:
        """A player whose moves were refused is not late: where the terms put late players out, its
        cause is illegal moves.
        """
        match, terms, step = self._match, self._match.terms, self._match.steps
        for player in tuple(match.awaited):
            self._missed[player] += 1
            last = terms.late == "out" or (
                terms.patience and self._missed[player] >= terms.patience
            )
            if last and player in self._refusals:
                self._expel(player, "illegal moves", self._refusals[player])
            elif player in self._programs and player not in self._refusals and not self._banked:
                self._late.add(player)
        if match.result is None and match.steps == step and match.deadline == deadline:
            self._clock.advance(deadline)
            self._tell(match.wake(deadline))

    # Programs.

    def _hear(self, seconds: float) -> None:
        wait_for([seat.program for seat in self._programs.values()], seconds)
        for player, seat in list(self._programs.items()):
            lines = seat.lines()
            for line in lines if not seat.program.flooding else ():
                if player in self._programs:
                    self._read(player, seat, line)
            if player in self._programs and seat.failed:
                fault = seat.fault()
                if fault.cause == "crash" and not seat.heard:
                    self.unstarted.add(player)
                self._expel(player, fault.cause, fault.detail)

    def _read(self, player: Player, seat: ProgramSeat, line: bytes) -> None:
        try:
            for raw in seat.moves_in(line):
                self._take_from(player, seat, raw)
        except BotFault as fault:
            self._expel(player, fault.cause, fault.detail)

    def _take_from(self, player: Player, seat: ProgramSeat, raw: Any) -> None:
        spent = perf_counter() - seat.asked
        if self._banked:
            self._clock.spend()
        if self._take(player, raw):
            seat.effort.add(spent)
            self._in_vain[player] = 0
            return
        self._in_vain[player] += 1
        if self._in_vain[player] > IN_VAIN:
            self._expel(
                player, "flood", f"more than {IN_VAIN} messages in a row that were not taken"
            )


def play_match(
    match: Match,
    names: tuple[str, ...],
    make_seat: Callable[[Player], Seat],
    stage: Stage | None = None,
) -> OfflineTable:
    """Play a match to its end, and close the seats that are made for it."""
    with ExitStack() as stack:
        players = range(match.players)
        seats = [stack.enter_context(closing(make_seat(player))) for player in players]
        table = OfflineTable(match, seats, names, stage)
        table.play()
    return table


def offline_writer(game: str, names: tuple[str, ...]) -> Battlebot:
    """Return the writer for the programs in a match."""
    return Battlebot(MatchHeader("", game, names, None, int(time() * 1000)), extras=True)


def beginning(
    game: Game[Any], names: Sequence[str], player: Player, seed: int, limit: Milliseconds | None
) -> dict[str, Any]:
    """Return what a bot in Python is told before its first move."""
    return {
        "game": game.name,
        "options": options_in(game),
        "players": names,
        "you": player,
        "seed": seed % SEED_SIZE,
        "limit": limit,
    }


def ending(result: Result, player: Player) -> dict[str, Any]:
    """Return what a bot in Python is told after the match."""
    about = {"places": result.places, "scores": result.scores, "causes": result.causes}
    return about | {"you": player}


def _duration(limit: Milliseconds | None) -> str:
    return f"{UNLIMITED:g} s" if limit is None else f"{limit} ms"
