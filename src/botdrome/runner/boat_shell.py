"""Shell bots: programs with the lines of Xterm Boat Sinker on their standard input and output, as their first line says."""

from time import monotonic, perf_counter

from msgspec import Struct

from botdrome.client.program import FAREWELL, Program, wait_for
from botdrome.match.match import Match
from botdrome.match.terms import Terms
from botdrome.runner.boat_lines import LineGame
from botdrome.runner.boat_trial import GAME, Hunt, Trial, Watch
from botdrome.runner.entrants import command
from botdrome.wire.battlebot.messages import Battlebot, greeting
from botdrome.wire.vocabulary import standing

START = 10.0
"""Seconds that a program has for its first line."""
PATIENCE = 60.0
"""Seconds that a bot has for a line."""


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
    """Who the program says that it is, if it is a shell bot.

    A shell bot speaks first. A native one answers the first question: so both are made to speak, and nobody has to guess how long
    a program takes to start.
    """
    program = Program(command(trial.bot))
    try:
        match = Match(trial.game(), 2, Terms(), 0)
        asked = Battlebot(GAME, ("bot", "other"), 0).on_news(match.start(), standing(match, 0), {0})
        program.send([greeting(GAME, "bot"), *asked[0]])
        line = Mouth(program).next(START)
        return introduction(line) if line else None
    finally:
        program.close()


class Mouth:
    """The lines of a program, one by one."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: list[bytes] = []

    def next(self, seconds: float) -> bytes | None:
        """None: none came in time, or none will come any more."""
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
    """One program for as many boards as it likes; if it ends after one, it is started anew for each."""

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch
        self._program: Program | None = None
        self._stays = True
        """It goes on after a game, as far as we know."""

    def hunt(self, number: int) -> Hunt:
        again = self._program is not None
        game = self._played(number)
        if again and not game.begun and self._program is None:
            self._stays = False
            game = self._played(number)
        if game.fault or not self._stays:
            self.close()
        return game.hunt()

    def _played(self, number: int) -> LineGame:
        game = LineGame(self._trial, number, self._watch)
        if self._program is None:
            self._program = Program(command(self._trial.bot))
            self._mouth = Mouth(self._program)
            first = self._mouth.next(START)
            if first is None or introduction(first) is None:
                self._bury(game)
                return game
        self._program.send([game.offer()])
        while not game.over:
            self._converse(game, self._program)
        return game

    def _converse(self, game: LineGame, program: Program) -> None:
        """One line of the bot's; what it had still to say after the last game is passed over."""
        began = perf_counter()
        line = self._mouth.next(PATIENCE)
        if line is None:
            self._bury(game)
        elif game.begun or line[:1] == b"J":
            game.seconds += perf_counter() - began if game.begun else 0.0
            program.send(game.hear(line))

    def _bury(self, game: LineGame) -> None:
        assert self._program is not None
        program = self._program
        ended = program.ended and program.wait_for_end(FAREWELL)
        program.hear_errors()
        game.give_up(program.flooding or (program.last_words() if ended else f"no line of it within {PATIENCE:g} s"))
        self.close()

    def close(self) -> None:
        if self._program:
            self._program.close()
            self._program = None
