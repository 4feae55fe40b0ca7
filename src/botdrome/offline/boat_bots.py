"""The bots of a boat trial that run on this machine: house bots, functions, programs and shell
bots.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from time import monotonic, perf_counter, process_time
from typing import Protocol

from msgspec import Struct

from botdrome import __version__
from botdrome.bots.house import HOUSE, HouseBot
from botdrome.catalogue import CATALOGUE
from botdrome.client.program import FAREWELL, Program, wait_for
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SplitMix
from botdrome.match.match import Match
from botdrome.match.terms import Terms, offline
from botdrome.offline.batches import in_processes
from botdrome.offline.boat_line_game import LineGame
from botdrome.offline.boat_trial import (
    GAME,
    SKIPPER,
    BoardRun,
    SkippingOpponent,
    Trial,
    Watch,
    finished_run,
)
from botdrome.offline.isolation import program_command
from botdrome.offline.seats import FunctionSeat, check_bot, make_seat
from botdrome.offline.table import OfflineTable
from botdrome.wire.battlebot.messages import Battlebot, greeting
from botdrome.wire.writers import standing

START = 10.0
"""Seconds that a program has for its first line."""
PATIENCE = 60.0
"""Seconds that a bot has for a line."""
PORTION = 20
"""Most positions that a process is given at once."""


class Shooter(Protocol):
    """A bot on trial."""

    def run(self, number: int) -> BoardRun: ...

    def close(self) -> None: ...


class HouseShooter:
    """A house bot, played by the rules without a match."""

    def __init__(self, trial: Trial, bot: HouseBot, watch: Watch | None = None) -> None:
        self._trial, self._bot, self._watch = trial, bot, watch

    def run(self, number: int) -> BoardRun:
        trial, fleet = self._trial, self._trial.position(number)
        opponent, chance, seconds = (
            SkippingOpponent(fleet, self._watch),
            SplitMix(trial.seed_of_bot(number)),
            0.0,
        )
        position = trial.game().start(2, chance)
        both = {0: self._bot(position.view(0), chance), 1: {"board": "".join(fleet)}}
        position = position.play(
            {seat: position.parse(seat, raw) for seat, raw in both.items()}, chance
        )
        while not position.over:
            view = position.view(0)
            began = process_time()
            raw = self._bot(view, chance)
            seconds += process_time() - began
            position = position.play({0: position.parse(0, raw)}, chance)
            if self._watch:
                opponent(position.view(1))
            position = position.play({}, chance)
        return finished_run(number, fleet, position, seconds)

    def close(self) -> None:
        pass


class SeatShooter:
    """A function or a program as in `botdrome play`, started for each board."""

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch

    def run(self, number: int) -> BoardRun:
        trial, fleet = self._trial, self._trial.position(number)
        seed = trial.seed_of_bot(number)
        match = Match(trial.game(), 2, offline(CATALOGUE[GAME].terms), seed)
        seat = make_seat(trial.bot, GAME, "bot", seed)
        try:
            table = OfflineTable(
                match,
                [seat, FunctionSeat(SkippingOpponent(fleet, self._watch), trusted=True)],
                ("bot", SKIPPER),
            )
            table.play()
        finally:
            seat.close()
        end = match.position
        assert isinstance(end, Battleship)
        return finished_run(number, fleet, end, seat.effort.seconds, table.faults.get(0, ""))

    def close(self) -> None:
        """Each board closes its own program."""


class Introduction(Struct, frozen=True):
    """The first line of a shell bot: I|botName|botVersion|playerName."""

    name: str
    version: str
    player: str


def introduction(line: bytes) -> Introduction | None:
    kind, *fields = [field.strip().decode(errors="replace") for field in line.split(b"|")]
    name, version, player, *_ = [*fields, "", "", ""]
    return Introduction(name, version, player) if kind == "I" and name else None


def probed(trial: Trial) -> Introduction | None:
    """Return the first line of a shell bot, or None for a native bot.

    A shell bot speaks first and a native bot answers the first question, so both send a line,
    however long they take to start.
    """
    program = Program(program_command(trial.bot))
    try:
        match = Match(trial.game(), 2, Terms(), 0)
        asked = Battlebot(GAME, ("bot", "other"), 0).on_news(match.start(), standing(match, 0), {0})
        program.send([greeting(GAME, "bot"), *asked[0]])
        line = ProgramLines(program).next(START)
        return introduction(line) if line else None
    finally:
        program.close()


class ProgramLines:
    """Reads the lines of a program one by one."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: list[bytes] = []

    def next(self, seconds: float) -> bytes | None:
        """None: no line came in time, or the program has ended."""
        program, until = self._program, monotonic() + seconds
        while not self._lines and not program.flooding:
            program.flush()
            program.hear_errors()
            self._lines = program.receive()
            left = until - monotonic()
            if self._lines or program.ended or left <= 0:
                break
            wait_for([program], left)
        return self._lines.pop(0) if self._lines else None


class ShellShooter:
    """A shell bot.

    One program plays all boards; a program that ends after a board is started for each.
    """

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch
        self._program: Program | None = None
        self._stays = True
        """The program does not end after a game, as far as we know."""

    def run(self, number: int) -> BoardRun:
        again = self._program is not None
        game = self._played(number)
        if again and not game.begun and self._program is None:
            self._stays = False
            game = self._played(number)
        if game.fault or not self._stays:
            self.close()
        return game.run()

    def _played(self, number: int) -> LineGame:
        game = LineGame(self._trial, number, self._watch)
        if self._program is None:
            self._program = Program(program_command(self._trial.bot))
            self._lines_in = ProgramLines(self._program)
            first = self._lines_in.next(START)
            if first is None or introduction(first) is None:
                self._give_up(game)
                return game
        self._program.send([game.offer()])
        while not game.over:
            self._answer_line(game, self._program)
        return game

    def _answer_line(self, game: LineGame, program: Program) -> None:
        """Answer one line of the bot. Lines that belong to the last game are ignored."""
        began = perf_counter()
        line = self._lines_in.next(PATIENCE)
        if line is None:
            self._give_up(game)
        elif game.begun or line[:1] == b"J":
            game.seconds += perf_counter() - began if game.begun else 0.0
            program.send(game.hear(line))

    def _give_up(self, game: LineGame) -> None:
        assert self._program is not None
        program = self._program
        ended = program.ended and program.wait_for_end(FAREWELL)
        program.hear_errors()
        game.give_up(
            program.flooding
            or (program.last_words() if ended else f"no line of it within {PATIENCE:g} s")
        )
        self.close()

    def close(self) -> None:
        if self._program:
            self._program.close()
            self._program = None


class TrialBot(Struct, frozen=True):
    """A bot on trial."""

    name: str
    version: str
    shell: bool = False


def entered(trial: Trial) -> TrialBot:
    """Find the bot's name and version, or raise CannotStart."""
    check_bot(trial.bot, GAME)
    if trial.bot.startswith("cmd:"):
        found = probed(trial)
        return (
            TrialBot(found.name, found.version, shell=True)
            if found
            else TrialBot(_short(trial.bot), "")
        )
    house = trial.bot.startswith("house:")
    return (
        TrialBot(trial.bot.removeprefix("house:"), __version__)
        if house
        else TrialBot(_short(trial.bot), "")
    )


def _short(bot: str) -> str:
    """Return the last word of a command, or the file, without folder and ending."""
    word = bot.removeprefix("cmd:").split()[-1]
    return word.rpartition("/")[2].partition(".")[0] or word


def shooter(trial: Trial, shell: bool, watch: Watch | None = None) -> Shooter:
    if shell:
        return ShellShooter(trial, watch)
    house = (
        HOUSE[GAME].get(trial.bot.removeprefix("house:"))
        if trial.bot.startswith("house:")
        else None
    )
    return HouseShooter(trial, house, watch) if house else SeatShooter(trial, watch)


def runs(
    trial: Trial, entry: TrialBot, jobs: int, watch: Watch | None = None
) -> Generator[BoardRun, None, None]:
    """Yield the runs as they end. Closing the generator ends the bots."""
    numbers = range(trial.positions)
    if jobs == 1 or watch:
        return _hunts_here(trial, entry.shell, numbers, watch)
    return in_processes(partial(_portion, trial, entry.shell), numbers, jobs, PORTION)


def _hunts_here(
    trial: Trial, shell: bool, numbers: Sequence[int], watch: Watch | None
) -> Generator[BoardRun, None, None]:
    with closing(shooter(trial, shell, watch)) as bot:
        for number in numbers:
            yield bot.run(number)


def _portion(trial: Trial, shell: bool, numbers: Sequence[int]) -> list[BoardRun]:
    return list(_hunts_here(trial, shell, numbers, None))
