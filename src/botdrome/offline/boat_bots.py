"""The bots of a boat trial that run on this machine: house bots, functions, programs and shell
bots.
"""

from collections.abc import Generator, Sequence
from functools import partial
from time import process_time

from msgspec import Struct

from botdrome.bots.house import HOUSE, HouseBot
from botdrome.catalogue import CATALOGUE
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SplitMix
from botdrome.match.match import Match
from botdrome.match.terms import offline
from botdrome.offline.batches import in_processes
from botdrome.offline.boat_trial import (
    GAME,
    SKIPPER,
    BoardRun,
    SkippingOpponent,
    Trial,
    Watch,
    finished_run,
)
from botdrome.offline.seats import FunctionSeat, check_bot, make_seat
from botdrome.offline.table import OfflineTable
from botdrome.version import __version__

PORTION = 20
"""Most positions that a process is given at once."""


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


class TrialBot(Struct, frozen=True):
    """A bot on trial."""

    name: str
    version: str


def entered(trial: Trial) -> TrialBot:
    """Find the bot's name and version, or raise CannotStart."""
    check_bot(trial.bot, GAME)
    if trial.bot.startswith("house:"):
        return TrialBot(trial.bot.removeprefix("house:"), __version__)
    return TrialBot(_short(trial.bot), "")


def _short(bot: str) -> str:
    """Return the last word of a command, or the file, without folder and ending."""
    word = bot.removeprefix("cmd:").split()[-1]
    return word.rpartition("/")[2].partition(".")[0] or word


def shooter(trial: Trial, watch: Watch | None = None) -> HouseShooter | SeatShooter:
    house = trial.bot.startswith("house:")
    bot = HOUSE[GAME].get(trial.bot.removeprefix("house:")) if house else None
    return HouseShooter(trial, bot, watch) if bot else SeatShooter(trial, watch)


def runs(trial: Trial, jobs: int, watch: Watch | None = None) -> Generator[BoardRun, None, None]:
    """Yield the runs as they end. Closing the generator ends the bots."""
    numbers = range(trial.positions)
    if jobs == 1 or watch:
        one = shooter(trial, watch)
        return (one.run(number) for number in numbers)
    return in_processes(partial(_portion, trial), numbers, jobs, PORTION)


def _portion(trial: Trial, numbers: Sequence[int]) -> list[BoardRun]:
    return [shooter(trial).run(number) for number in numbers]
