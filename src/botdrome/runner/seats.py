"""Bots of the offline runner: functions and programs."""

import os
import shlex
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.bots.house import house_bots, seated
from botdrome.client.program import CannotStart, Program
from botdrome.games.game import Raw, View
from botdrome.match.events import Cause
from botdrome.runner.bot import BotInstance, CannotLoad, load
from botdrome.runner.traces import explain, line_of, trace_of
from botdrome.wire.battlebot.messages import greeting


class Overdue(BaseException):
    """A function exceeded its time and was stopped. Not an Exception, since bots catch those."""


class BotFault(Exception):
    """A bot failed and is out: the cause, the detail for its author in one line, and the whole traceback."""

    def __init__(self, cause: Cause, detail: str, trace: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause, self.detail, self.trace = cause, detail, trace


@contextmanager
def guarded(seconds: float) -> Iterator[None]:
    """Run the code of a bot in this process: raise BotFault for what it raises, and after some seconds.

    The time limit works in the main thread only, and a bot that catches every exception escapes it.
    """
    process = os.getpid()
    try:
        with _alarm(seconds):
            yield
    except KeyboardInterrupt:
        raise
    except Overdue as error:
        raise BotFault("timeout", f"stopped in {line_of(error)}", trace_of(error)) from None
    except BaseException as error:
        raise BotFault("crash", explain(error), trace_of(error)) from None
    finally:
        if os.getpid() != process:
            os._exit(0)  # the bot has forked, and this is the copy


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Effort(Struct):
    """The number of a bot's moves in a match, and their total time."""

    moves: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.seconds += seconds


class FunctionSeat:
    """A bot that plays in this process. `trusted` bots, those of the house, are neither stopped nor checked for JSON."""

    def __init__(self, bot: Any, trusted: bool, seed: int = 0) -> None:
        """`bot` is a function, a class or an object; of bots that are not trusted it may also be the entrant."""
        self._bot, self.trusted, self.seed = bot, trusted, seed
        self._instance: BotInstance | None = None
        self.effort = Effort()

    def begin(self, match: dict[str, Any], limit: float) -> None:
        """Create the instance for this match. Raise BotFault if it fails."""
        if not self.trusted:
            with guarded(limit):
                self._made().begin(_as_json(match))

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        """Return the move and its seconds. Raise BotFault if there is none."""
        began = perf_counter()
        if self.trusted:
            raw = self._bot(view)
        else:
            with guarded(limit):
                raw = _as_json(self._made().move(_as_json(view)))
        spent = perf_counter() - began
        self.effort.add(spent)
        return raw, spent

    def end(self, result: dict[str, Any], limit: float) -> None:
        if self._instance is not None:
            with guarded(limit):
                self._instance.end(_as_json(result))

    def close(self) -> None:
        if self._instance is not None:
            self._instance.close()

    def _made(self) -> BotInstance:
        if self._instance is None:
            self._instance = BotInstance(_loaded(self._bot) if isinstance(self._bot, str) else self._bot)
        return self._instance


def _as_json(value: Any) -> Any:
    """Return the value after a round trip through JSON: a bot sees lists, never tuples, as in any other language."""
    return msgspec.json.decode(msgspec.json.encode(value))


class ProgramSeat:
    """A bot that is a program."""

    def __init__(self, program: Program, greeting: bytes) -> None:
        self.program = program
        self.effort = Effort()
        self.started = self.asked = perf_counter()
        self.heard = False
        """Whether it has sent a message: only then it has certainly started."""
        program.send([greeting])

    def close(self) -> None:
        self.program.close()


Seat = FunctionSeat | ProgramSeat
"""A bot in one match. Each seat has `effort`, and `close()` ends it."""


def check_bot(entrant: str, game: str) -> None:
    """Raise CannotStart if a bot cannot be started."""
    if entrant.startswith("cmd:"):
        program_command(entrant)
    elif entrant.startswith("house:"):
        _house(entrant, game)
    else:
        try:
            _loaded(entrant)
        except CannotLoad as problem:
            raise CannotStart(f"{entrant}: {problem}") from None
        except BaseException:  # the bot's own code failed, and so it will in each match
            return


def make_seat(entrant: str, game: str, name: str, seed: int) -> Seat:
    """Make a bot for one match, under this name."""
    if entrant.startswith("cmd:"):
        return ProgramSeat(Program(program_command(entrant)), greeting(game, name))
    if entrant.startswith("house:"):
        return FunctionSeat(seated(_house(entrant, game), seed), trusted=True)
    return FunctionSeat(entrant, trusted=False, seed=seed)


def program_command(entrant: str) -> list[str]:
    try:
        words = shlex.split(entrant.removeprefix("cmd:"))
    except ValueError as error:
        raise CannotStart(f"{entrant}: {error}") from None
    if not words:
        raise CannotStart(f"{entrant}: a program is missing after cmd:")
    if shutil.which(words[0]) is None:
        raise CannotStart(f"{entrant}: there is no program {words[0]!r}")
    return words


def _house(entrant: str, game: str) -> Any:
    name, bots = entrant.removeprefix("house:"), house_bots(game)
    if name not in bots:
        raise CannotStart(f"{entrant}: for {game} the house has {', '.join(bots)}")
    return bots[name]


@cache
def _loaded(entrant: str) -> Any:
    return load(entrant)
