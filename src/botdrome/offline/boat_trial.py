"""Boat trial: a bot shoots at random boards, one after the other, until all boats of
each are sunk.
"""

from collections.abc import Callable, Generator, Sequence
from functools import partial
from hashlib import blake2b
from time import process_time

from msgspec import Struct

from botdrome.bots.battleship import Chart, chart_of, squares_in
from botdrome.bots.house import HOUSE, HouseBot
from botdrome.catalogue import CATALOGUE
from botdrome.games.battleship import WATER, Battleship, Mask, Rows, boats_in, random_fleet, rows_of
from botdrome.games.chance import Chance, SplitMix
from botdrome.games.game import Raw, View
from botdrome.match.match import Match
from botdrome.match.terms import offline
from botdrome.offline.batches import in_processes
from botdrome.offline.project import project_name
from botdrome.offline.seats import FunctionSeat, check_bot, make_seat
from botdrome.offline.table import play_match
from botdrome.version import __version__

GAME = "battleship"
ATTEMPTS = 400
"""Draws of whole fleets until no boats overlap; after that many, boats are placed one after the
other.
"""
DRAFTS = 5000
"""Fleets drawn until one has enough free border; after that many the best one is taken."""
FLEET = Battleship().boats
"""The boats of every trial, whatever the size of the board."""
SKIPPER = "Skipper"
"""Name of the opponent, which owns the boards and never shoots."""
Watch = Callable[[View], None]
"""Called with the opponent's view after every shot."""


class Trial(Struct, frozen=True):
    """Boards by seed, drawn with the older generator, so that a seed always gives the
    same boards.
    """

    bot: str
    positions: int
    seed: int
    width: int = 10
    height: int = 10
    border: int = 0
    """Least percent of their border that the boats have free."""

    def game(self) -> Battleship:
        """At most two rounds per square, so that a bot that only skips comes to an end."""
        return Battleship(self.width, self.height, FLEET, rounds=2 * self.width * self.height)

    def position(self, number: int) -> Rows:
        return drawn_position(
            self.width,
            self.height,
            boats_in(FLEET).names,
            self.border,
            SplitMix(2 * self.seed, number),
        )

    def seed_of_bot(self, number: int) -> int:
        return SplitMix(2 * self.seed + 1, number).bits()


class BoardRun(Struct, frozen=True):
    """The result of a bot on one board."""

    number: int
    board: int
    """The same for the same boats."""
    turns: int
    seconds: float
    """Used by the bot: CPU time of house bots, real time of others."""
    fault: str = ""
    """Why the fleet was not sunk."""


class SkippingOpponent:
    """The opponent: places the board and skips."""

    def __init__(self, fleet: Rows, watch: Watch | None) -> None:
        self._fleet, self._watch = fleet, watch

    def __call__(self, view: View) -> Raw:
        if view["phase"] == "placement":
            return {"board": "".join(self._fleet)}
        if self._watch:
            self._watch(view)
        return {"skip": True}


def finished_run(
    number: int, fleet: Rows, end: Battleship, seconds: float, fault: str = ""
) -> BoardRun:
    """Return the run that ended with this position."""
    sunk = bool(end.scores) and end.scores[0] == boats_in(FLEET).squares
    why = "" if sunk else fault or f"not sunk after {end.rounds} turns"
    digest = blake2b("".join(fleet).encode(), digest_size=8).digest()
    return BoardRun(number, int.from_bytes(digest, "big"), (end.turn + 1) // 2, seconds, why)


# The boards.


def drawn_position(
    width: int, height: int, boats: Sequence[str], border: int, chance: Chance
) -> Rows:
    """Draw a fleet with at least `border` percent of its border free."""
    chart = chart_of(width, height, tuple(sorted(int(name[1:]) for name in boats)))
    best = _even_masks(chart, boats, chance)
    most = _border(chart, best) if border else 0.0
    for _ in range(DRAFTS):
        if most >= border:
            break
        masks = _even_masks(chart, boats, chance)
        if (found := _border(chart, masks)) > most:
            best, most = masks, found
    return _rows(chart, boats, best)


def _even_masks(chart: Chart, boats: Sequence[str], chance: Chance) -> list[Mask]:
    """Draw a fleet so that all fleets are equally likely.

    All boats are drawn independently, and again if two overlap. Placing one boat after the other
    would prefer some fleets.
    """
    choices = [chart.berths[int(name[1:])] for name in boats]
    for _ in range(ATTEMPTS):
        masks: list[Mask] = []
        taken = 0
        for berths in choices:
            mask = chance.choice(berths).mask
            if mask & taken:
                break
            taken |= mask
            masks.append(mask)
        else:
            return masks
    return _masks(random_fleet(chart.width, chart.height, boats, chance), boats)


def _rows(chart: Chart, boats: Sequence[str], masks: Sequence[Mask]) -> Rows:
    squares = [WATER] * chart.squares
    for name, mask in zip(boats, masks, strict=True):
        for square in squares_in(mask):
            squares[square] = name[0]
    return tuple(row[:-1] for row in rows_of("".join(squares), chart.stride))


def _masks(fleet: Rows, boats: Sequence[str]) -> list[Mask]:
    text = "|".join((*fleet, ""))
    return [
        sum(1 << square for square, letter in enumerate(text) if letter == name[0])
        for name in boats
    ]


def _border(chart: Chart, masks: Sequence[Mask]) -> float:
    """Return how many percent of their border the boats have free.

    The border of a boat is every square beside it, without corners: at most 2 * length + 2 squares.
    """
    free = most = 0
    water = chart.colours[0] | chart.colours[1]
    for mask in masks:
        water ^= mask
    for mask in masks:
        beside = mask << 1 | mask >> 1 | mask << chart.stride | mask >> chart.stride
        free += (beside & water).bit_count()
        most += 2 * mask.bit_count() + 2
    return 100 * free / most


# The bots of a boat trial that run on this machine: house bots, functions, programs and shell
# bots.

PORTION = 20
"""Most positions that a process is given at once."""


class HouseShooter:
    """A house bot, played by the rules without a match."""

    def __init__(self, trial: Trial, bot: HouseBot, watch: Watch | None = None) -> None:
        self._trial, self._bot, self._watch = trial, bot, watch

    def run(self, number: int) -> BoardRun:
        trial, fleet = self._trial, self._trial.position(number)
        opponent = SkippingOpponent(fleet, self._watch)
        chance = SplitMix(trial.seed_of_bot(number))
        seconds = 0.0
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
        skipper = FunctionSeat(SkippingOpponent(fleet, self._watch), trusted=True)
        table = play_match(
            match,
            ("bot", SKIPPER),
            lambda player: skipper if player else make_seat(trial.bot, GAME, "bot", seed),
        )
        end = match.position
        assert isinstance(end, Battleship)
        seconds = table.seats[0].effort.seconds
        return finished_run(number, fleet, end, seconds, table.faults.get(0, ""))


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
    word = project_name(bot) or bot.removeprefix("cmd:").split()[-1]
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
