"""Shooters: the bots on a boat trial that run here."""

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from time import process_time
from typing import Protocol

from msgspec import Struct

from botdrome import __version__
from botdrome.bots.house import HOUSE, HouseBot
from botdrome.formats import FORMATS
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SplitMix
from botdrome.match.match import Match
from botdrome.match.terms import offline
from botdrome.runner import entrants
from botdrome.runner.boat_shell import ShellShooter, probed
from botdrome.runner.boat_trial import GAME, SKIPPER, Hunt, Owner, Trial, Watch, told
from botdrome.runner.pool import in_processes
from botdrome.runner.seats import FunctionSeat, ProgramSeat
from botdrome.runner.table import Table

PORTION = 20
"""Positions that a process is given at once, at most."""


class Shooter(Protocol):
    """A bot on trial."""

    def hunt(self, number: int) -> Hunt: ...

    def close(self) -> None: ...


class HouseShooter:
    """A bot of the house, played by the rules and nothing else."""

    def __init__(self, trial: Trial, bot: HouseBot, watch: Watch | None = None) -> None:
        self._trial, self._bot, self._watch = trial, bot, watch

    def hunt(self, number: int) -> Hunt:
        trial, fleet = self._trial, self._trial.position(number)
        owner, chance, seconds = Owner(fleet, self._watch), SplitMix(trial.seed_of_bot(number)), 0.0
        position = trial.game().start(2, chance)
        both = {0: self._bot(position.view(0), chance), 1: {"board": "".join(fleet)}}
        position = position.play({seat: position.parse(seat, raw) for seat, raw in both.items()}, chance)
        while not position.over:
            view = position.view(0)
            began = process_time()
            raw = self._bot(view, chance)
            seconds += process_time() - began
            position = position.play({0: position.parse(0, raw)}, chance)
            if self._watch:
                owner(position.view(1))
            position = position.play({}, chance)
        return told(number, fleet, position, seconds)

    def close(self) -> None:
        """Nothing was opened."""


class SeatShooter:
    """A function or a program as `botdrome play` knows them, seated anew for each board."""

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch

    def hunt(self, number: int) -> Hunt:
        trial, fleet = self._trial, self._trial.position(number)
        seed = trial.seed_of_bot(number)
        match = Match(trial.game(), 2, offline(FORMATS[GAME].terms), seed)
        seat = entrants.seat(trial.bot, GAME, "bot", seed)
        try:
            table = Table(match, [seat, FunctionSeat(Owner(fleet, self._watch), trusted=True)], ("bot", SKIPPER))
            table.play()
        finally:
            if isinstance(seat, ProgramSeat):
                seat.program.close()
        end = match.position
        assert isinstance(end, Battleship)
        return told(number, fleet, end, seat.effort.seconds, table.faults.get(0, ""))

    def close(self) -> None:
        """Each board has closed what it opened."""


class Entry(Struct, frozen=True):
    """A bot on trial: what it is called, and how it is brought to the boards."""

    name: str
    version: str
    shell: bool = False


def entered(trial: Trial) -> Entry:
    """Or CannotStart."""
    entrants.check(trial.bot, GAME)
    if trial.bot.startswith("cmd:"):
        found = probed(trial)
        return Entry(found.name, found.version, shell=True) if found else Entry(_short(trial.bot), "")
    house = trial.bot.startswith("house:")
    return Entry(trial.bot.removeprefix("house:"), __version__) if house else Entry(_short(trial.bot), "")


def _short(bot: str) -> str:
    """The last word of a command, or the file, without folders and endings."""
    word = bot.removeprefix("cmd:").split()[-1]
    return word.rpartition("/")[2].partition(".")[0] or word


def shooter(trial: Trial, shell: bool, watch: Watch | None = None) -> Shooter:
    if shell:
        return ShellShooter(trial, watch)
    house = HOUSE[GAME].get(trial.bot.removeprefix("house:")) if trial.bot.startswith("house:") else None
    return HouseShooter(trial, house, watch) if house else SeatShooter(trial, watch)


def hunts(trial: Trial, entry: Entry, jobs: int, watch: Watch | None = None) -> Generator[Hunt, None, None]:
    """As they come in; closing the generator ends what still runs."""
    numbers = range(trial.positions)
    if jobs == 1 or watch:
        return _hunts_here(trial, entry.shell, numbers, watch)
    return in_processes(partial(_portion, trial, entry.shell), numbers, jobs, PORTION)


def _hunts_here(trial: Trial, shell: bool, numbers: Sequence[int], watch: Watch | None) -> Generator[Hunt, None, None]:
    with closing(shooter(trial, shell, watch)) as bot:
        for number in numbers:
            yield bot.hunt(number)


def _portion(trial: Trial, shell: bool, numbers: Sequence[int]) -> list[Hunt]:
    return list(_hunts_here(trial, shell, numbers, None))
