"""Follow a match: play a recorded match to a fresh copy of a bot, over its protocol.

The recorded moves are played, whatever the bot answers, so each of its answers can be compared. A
bot in Python gets the views, a program gets the messages of the match.
"""

import os
import subprocess
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from botdrome.bots.house import house_view
from botdrome.client.guard import descendants
from botdrome.client.program import wait_for
from botdrome.games.game import Game, Raw
from botdrome.match.events import Ended, Player, Returned
from botdrome.match.match import News
from botdrome.match.questions import Answer, Divergence, Question, Told, divergence, retold
from botdrome.match.record import Record, seed_number
from botdrome.match.terms import Terms
from botdrome.offline.isolation import ISOLATED, START, BotFault, Isolation, as_json
from botdrome.offline.seats import FunctionSeat, ProcessSeat, ProgramSeat, Seat, make_seat
from botdrome.offline.table import BEYOND, UNLIMITED, beginning, ending, offline_writer
from botdrome.offline.tournament import seed_of_bot
from botdrome.wire.writers import match_status

# The memory that the process of a bot uses.

PAGE = os.sysconf("SC_PAGE_SIZE")


def memory_of(seat: Seat) -> tuple[int, int]:
    """Return the process of a bot, and the resident bytes of it and the processes below; zeros if
    it has none of its own.
    """
    pid = None if isinstance(seat, FunctionSeat) else seat.pid
    return (pid, sum(map(resident, (pid, *descendants(pid))))) if pid else (0, 0)


def resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 if it is gone."""
    statm = Path(f"/proc/{pid}/statm")
    try:
        return int(statm.read_text().split()[1]) * PAGE
    except OSError:
        return _as_ps_says(pid)


def _as_ps_says(pid: int) -> int:
    """For systems without /proc."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return int(told) * 1024 if told else 0


def follow(
    record: Record,
    game: Game[Any],
    player: Player,
    entrant: str,
    first: int = 0,
    isolation: Isolation = ISOLATED,
) -> Generator[tuple[Question, Answer], None, None]:
    """Yield each question to the player with the bot's answer.

    It ends after an answer without a move.

    `first`: the bot joins at this step. It is told the position, as after a reconnection.
    """
    setup = record.setup
    seat = make_seat(
        entrant, game.name, setup.names[player], seed_of_bot(seed_number(setup), player), isolation
    )
    program = isinstance(seat, ProgramSeat)
    listener = (
        ProgramListener(seat, record, player, first)
        if isinstance(seat, ProgramSeat)
        else FunctionListener(seat, record)
    )
    try:
        for item in retold(record, game, player):
            if isinstance(item, Told):
                listener.hear(item, player)
            elif item.step >= first and (item.due or program):
                answer = listener.answer(item)
                yield item, answer
                if answer.fault:
                    return
    finally:
        seat.close()


def seconds_for(terms: Terms) -> float:
    """Return the seconds that a bot has for a move."""
    return UNLIMITED if terms.pace.limit is None else terms.pace.limit / 1000


class FunctionListener:
    """A bot in Python. It is asked, and hears nothing between its turns."""

    def __init__(self, seat: FunctionSeat | ProcessSeat, record: Record) -> None:
        self._seat = seat
        self._names = record.setup.names
        self._limit = seconds_for(record.setup.terms)
        self._begun = False
        self._fault: BotFault | None = None

    def hear(self, told: Told, player: Player) -> None:
        if not self._begun:
            self._begun = True
            try:
                game, limit = told.match.game, told.match.terms.pace.limit
                about = beginning(game, self._names, player, self._seat.seed, limit)
                self._seat.begin(about, START)
            except BotFault as fault:
                self._fault = fault
        elif isinstance(told.news[-1][0] if told.news else None, Ended) and told.match.result:
            with suppress(BotFault):
                self._seat.end(ending(told.match.result, player), BEYOND)

    def answer(self, question: Question) -> Answer:
        view = house_view(question.position, question.seat) if self._seat.trusted else question.view
        try:
            if self._fault is not None:
                raise self._fault
            raw, seconds = self._seat.ask(view, self._limit + BEYOND)
        except BotFault as fault:
            return Answer(fault=str(fault), crashed=fault.cause != "timeout")
        process, memory = memory_of(self._seat)
        return Answer(as_json(raw), seconds=seconds, process=process, memory=memory)


class ProgramListener:
    """A program. It is told all messages of the match, and its lines are its answers."""

    def __init__(self, seat: ProgramSeat, record: Record, player: Player, first: int) -> None:
        self._seat, self._player, self._first = seat, player, first
        self._limit = seconds_for(record.setup.terms)
        self._writer = offline_writer(record.setup.game, record.setup.names)
        self._joined = False
        self._lines: deque[bytes] = deque()

    def hear(self, told: Told, player: Player) -> None:
        match, now = told.match, match_status(told.match, told.now)
        messages = self._writer.on_news(told.news, now, (player,))[player] if told.news else []
        if match.steps >= self._first and not self._joined:
            self._joined = True
            if self._first:
                back: News = [(Returned(player), match.position)]
                messages = self._writer.on_news(back, now, (player,))[player]
        if self._joined and messages:
            self._seat.program.send(messages)
            self._seat.asked = perf_counter()

    def answer(self, question: Question) -> Answer:
        seat = self._seat
        until = seat.asked + self._limit + (0.0 if seat.heard else START)
        moves: list[Raw] = []
        try:
            while not moves:
                if self._lines and not seat.program.flooding:
                    moves = seat.moves_in(self._lines.popleft())
                elif (left := until - perf_counter()) <= 0:
                    return Answer(fault=f"no move within {self._limit:g} s")
                elif seat.failed:
                    raise seat.fault()
                else:
                    wait_for([seat.program], left)
                    self._lines += seat.lines()
        except BotFault as fault:
            return Answer(fault=str(fault), crashed=True)
        seconds = perf_counter() - seat.asked
        process, memory = memory_of(seat)
        return Answer(moves[0], seconds=seconds, process=process, memory=memory)


class RerunReport(msgspec.Struct):
    """How a bot now answers the questions of a recorded match."""

    asked: int = 0
    divergences: list[Divergence] = msgspec.field(default_factory=list)
    crash: str = ""
    """How it failed; empty: it did not."""
    crashed_at: int = 0

    @property
    def same(self) -> bool:
        return not self.divergences and not self.crash


def rerun(
    record: Record,
    game: Game[Any],
    player: Player,
    entrant: str,
    every: bool,
    isolation: Isolation = ISOLATED,
) -> RerunReport:
    """Compare the answers of a bot with the recorded ones: up to the first difference, or all of
    them.
    """
    report = RerunReport()
    for question, answer in follow(record, game, player, entrant, isolation=isolation):
        report.asked += 1
        if answer.crashed:
            report.crash, report.crashed_at = answer.fault, question.step
        if found := divergence(question, answer):
            report.divergences.append(found)
        if (found or answer.crashed) and not every:
            break
    return report
