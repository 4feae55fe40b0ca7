"""Bots of the offline runner: functions and programs."""

from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import TRIES
from botdrome.catalogue import restored
from botdrome.client.program import FAREWELL, CannotStart, Program, check_sandbox
from botdrome.games.game import Raw, View
from botdrome.match.events import Player
from botdrome.match.questions import Question, retold
from botdrome.match.record import BadRecord
from botdrome.offline.bot import PROJECT, BotInstance, CannotLoad, load, spelled
from botdrome.offline.isolation import (
    ISOLATED,
    PROGRAM_KINDS,
    START,
    BotFault,
    BotLog,
    BotProcess,
    GomocupEngine,
    Isolation,
    Key,
    as_json,
    borrow,
    give_back,
    guarded,
    key_of,
    program_command,
    read_line,
    started,
)
from botdrome.offline.project import bot_of, project_at
from botdrome.wire.battlebot.messages import greeting

# The moves of a player in a match file, for a bot that repeats them: `replay:FILE.jsonl[:PLAYER]`.

PREFIX = "replay:"


def file_and_player(entrant: str, player: Player) -> tuple[str, Player]:
    """Return the match file and the player in it; without a number in the entrant, it
    is `player`.
    """
    words = entrant.removeprefix(PREFIX)
    file, _, number = words.rpartition(":")
    return (file, int(number)) if file and number.isdecimal() else (words, player)


def recorded_turns(entrant: str, game: str, player: Player) -> list[Raw]:
    """Return the move of each turn, and None for turns without one that counted.

    Raise CannotStart if the file is wrong.
    """
    file, player = file_and_player(entrant, player)
    try:
        record, rules = restored(Path(file).read_bytes())
        names = record.setup.names
        if record.setup.game != game:
            raise CannotStart(f"{entrant}: this is a match of {record.setup.game}, not of {game}")
        if player >= len(names):
            raise CannotStart(
                f"{entrant}: this match has players 0 to {len(names) - 1}, and no player {player}"
            )
        asked = [item for item in retold(record, rules, player) if isinstance(item, Question)]
    except OSError as error:
        raise CannotStart(f"{entrant}: the file cannot be read: {error.strerror}") from None
    except BadRecord as problem:
        raise CannotStart(f"{entrant}: {problem}") from None
    turns: dict[tuple[int, int], Raw] = {}
    for question in asked:
        turn = (question.board, question.step)
        if question.accepted and (
            question.due or turn in turns
        ):  # a later move of the same step replaces an earlier one
            turns[turn] = question.recorded
        elif question.due:
            turns.setdefault(turn, None)
    moves = list(turns.values())
    while moves and moves[-1] is None:
        moves.pop()
    return moves


class Effort(Struct):
    """The number of a bot's moves in a match, and their total time."""

    moves: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.seconds += seconds


class FunctionSeat:
    """A bot that plays in this process.

    `trusted` bots, those of the house, are neither stopped nor checked for JSON.
    """

    tries = TRIES
    """How often it is asked in one step, if its moves are refused."""

    def __init__(self, bot: Any, trusted: bool, seed: int = 0) -> None:
        """`bot` is a function, a class or an object; of bots that are not trusted it may also be
        the entrant.
        """
        self._bot, self.trusted, self.seed = bot, trusted, seed
        self._instance: BotInstance | None = None
        self.effort = Effort()
        self._log = BotLog()

    @property
    def log(self) -> str:
        return self._log.text

    def begin(self, match: dict[str, Any], limit: float) -> None:
        """Create the instance for this match. Raise BotFault if it fails."""
        if not self.trusted:
            with guarded(limit, self._log):
                self._made().begin(as_json(match))

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        """Return the move and its seconds. Raise BotFault if there is none."""
        began = perf_counter()
        if self.trusted:
            raw = self._bot(view)
        else:
            with guarded(limit, self._log):
                raw = as_json(spelled(self._made().move(as_json(view))))
        spent = perf_counter() - began
        self.effort.add(spent)
        return raw, spent

    def end(self, result: dict[str, Any], limit: float) -> None:
        if self._instance is not None:
            with guarded(limit, self._log):
                self._instance.end(as_json(result))

    def close(self) -> None:
        if self._instance is not None:
            self._instance.close()

    def _made(self) -> BotInstance:
        if self._instance is None:
            self._instance = BotInstance(
                _loaded(self._bot) if isinstance(self._bot, str) else self._bot
            )
        return self._instance


class ReplaySeat(FunctionSeat):
    """A bot that repeats the moves of a match file, turn by turn.

    It resigns when there are no more.
    """

    tries = 1

    def __init__(self, entrant: str, game: str) -> None:
        super().__init__(None, trusted=True)
        self._entrant, self._game = entrant, game
        self._turns: list[Raw] = []
        self.turn = 0
        """The number of moves that it was asked for."""

    def begin(self, match: dict[str, Any], limit: float) -> None:
        try:
            self._turns = recorded_turns(self._entrant, self._game, match["you"])
        except CannotStart as problem:
            raise BotFault("crash", str(problem)) from None

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        self.turn += 1
        if self.turn > len(self._turns):
            raise BotFault("resigned", f"all {len(self._turns)} recorded moves are played")
        self.effort.add(0.0)
        return self._turns[self.turn - 1], 0.0


class ProcessSeat:
    """A bot that plays from views in a process of its own: in Python, or a program of
    another kind.
    """

    tries = TRIES
    trusted = False

    def __init__(self, entrant: str, seed: int, isolation: Isolation) -> None:
        self._entrant, self.seed, self._isolation = entrant, seed, isolation
        self._start = PROGRAM_KINDS.get(prefix_of(entrant), BotProcess)
        self._process: BotProcess | None = None
        self.effort = Effort()
        self.log = ""
        """What it printed in this match, and its traceback: the last part."""

    @property
    def pid(self) -> int | None:
        """Its process; None before it begins and after a fault."""
        return self._process.pid if self._process else None

    def begin(self, match: dict[str, Any], limit: float) -> None:
        """Start or take a process, and create the instance for this match.

        Raise BotFault if that fails.
        """
        until = perf_counter() + limit
        try:
            self._process = borrow(self._entrant, self._isolation, limit, self._start)
            self._called("begin", match, max(0.0, until - perf_counter()))
        except CannotStart as problem:
            raise BotFault("crash", str(problem)) from None
        except BotFault as fault:
            if fault.cause != "timeout" or self._process is None:
                raise
            raise BotFault(
                "timeout",
                f"not ready within {limit:g} s, {fault.detail}".removesuffix(", "),
                fault.trace,
            ) from None

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        """Return the move and its seconds. Raise BotFault if there is none."""
        began = perf_counter()
        raw = self._called("move", view, limit)
        spent = perf_counter() - began
        self.effort.add(spent)
        return raw, spent

    def end(self, result: dict[str, Any], limit: float) -> None:
        if self._process is not None:
            self._called("end", result, limit)

    def _called(self, method: str, value: Any, limit: float) -> Any:
        """Call the bot. After a fault its process ends, and the next match starts another."""
        process = self._process
        if process is None:
            raise BotFault("crash", "it has not begun")
        try:
            return process.call(method, value, limit)
        except BotFault as fault:
            self.log = process.log + (fault.trace if fault.trace not in process.log else "")
            process.close()
            self._process = None
            raise

    def close(self) -> None:
        if self._process is not None:
            self.log = self._process.log
            give_back(self._entrant, self._isolation, self._process)
            self._process = None


class ProgramSeat:
    """A bot that is a program."""

    def __init__(self, program: Program, greeting: bytes) -> None:
        self.program = program
        self.effort = Effort()
        self.started = self.asked = perf_counter()
        self.heard = False
        """Whether it has sent a message: only then it has certainly started."""
        program.send([greeting])

    @property
    def pid(self) -> int:
        return self.program.pid

    @property
    def log(self) -> str:
        return self.program.errors

    def lines(self) -> list[bytes]:
        """Return the new lines."""
        self.program.flush()
        self.program.hear_errors()
        return self.program.receive()

    def moves_in(self, line: bytes) -> list[Raw]:
        """Return the move in a line; none for a login, which may come first, as on a server.

        Raise BotFault if the line is unreadable.
        """
        first, self.heard = not self.heard, True
        raw = read_line(line)
        return [] if first and isinstance(raw, dict) and "gameType" in raw else [raw]

    @property
    def failed(self) -> bool:
        return bool(self.program.flooding) or self.program.ended

    def fault(self) -> BotFault:
        """Return why the program has failed."""
        program = self.program
        if program.flooding:
            return BotFault("flood", program.flooding)
        program.wait_for_end(FAREWELL)
        program.hear_errors()
        return BotFault("crash", program.last_words())

    def close(self) -> None:
        self.program.close()


Seat = FunctionSeat | ProcessSeat | ProgramSeat
"""A bot in one match. Each seat has `effort` and `log`, and `close()` ends it."""


def check_bot(entrant: str, game: str, isolation: Isolation = ISOLATED) -> None:
    """Raise CannotStart if a bot cannot be started.

    A bot whose own code fails can: it will lose its matches.
    """
    try:
        if isolation.sandbox:
            check_sandbox()
        project = project_at(entrant)
        if project and game and project.game not in ("", game):
            raise CannotStart(f"{entrant}: its {PROJECT} is for {project.game}, not for {game}")
        if (prefix := prefix_of(entrant)) == "cmd" or prefix in PROGRAM_KINDS:
            program_command(entrant)
            _check_game(entrant, game)
        elif entrant.startswith("house:"):
            _house(entrant, game)
        elif entrant.startswith(PREFIX):
            recorded_turns(entrant, game, 0)
        else:
            _load(entrant, isolation)
    except CannotLoad as problem:
        raise CannotStart(f"{entrant}: {problem}") from None
    except BotFault:
        return


def load_fault(entrant: str, isolation: Isolation) -> str:
    """Return why a bot in Python cannot be loaded; empty: it can."""
    try:
        _load(entrant, isolation)
    except (BotFault, CannotLoad, CannotStart) as fault:
        return str(fault)
    return ""


def _load(entrant: str, isolation: Isolation) -> None:
    if isolation.in_process:
        with guarded(START, BotLog()):
            _loaded(entrant)
    else:
        give_back(entrant, isolation, borrow(entrant, isolation))


def is_python(entrant: str) -> bool:
    """Whether a bot is loaded from a file or a module."""
    return prefix_of(entrant) not in ("cmd", "house", "replay", *PROGRAM_KINDS)


def make_seat(
    entrant: str, game: str, name: str, seed: int, isolation: Isolation = ISOLATED
) -> Seat:
    """Make a bot for one match, under this name."""
    if prefix_of(entrant) == "cmd":
        return ProgramSeat(started(entrant, isolation), greeting(game, name))
    if entrant.startswith("house:"):
        return FunctionSeat(seated(_house(entrant, game), seed), trusted=True)
    if entrant.startswith(PREFIX):
        return ReplaySeat(entrant, game)
    if isolation.in_process and prefix_of(entrant) not in PROGRAM_KINDS:
        return FunctionSeat(entrant, trusted=False, seed=seed)
    return ProcessSeat(entrant, seed, isolation)


def prefix_of(entrant: str) -> str:
    return bot_of(entrant).partition(":")[0]


def _check_game(entrant: str, game: str) -> None:
    if PROGRAM_KINDS.get(prefix_of(entrant)) is GomocupEngine and game != "gomoku":
        raise CannotStart(f"{entrant}: the engines of Gomocup play gomoku, not {game}")


def _house(entrant: str, game: str) -> Any:
    name, bots = entrant.removeprefix("house:"), house_bots(game)
    if name not in bots:
        raise CannotStart(f"{entrant}: for {game} the house has {', '.join(bots)}")
    return bots[name]


def _loaded(entrant: str) -> Any:
    return _loaded_as(key_of(entrant, ISOLATED))


@cache
def _loaded_as(key: Key) -> Any:
    """A bot whose file has changed is loaded anew."""
    return load(key[0])
