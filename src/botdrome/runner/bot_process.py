"""The processes of bots in Python.

One that has played a match well stays warm for the bot's next one.
"""

import atexit
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.client.program import TRACEBACK, CannotStart, Program
from botdrome.client.sandbox import UNLIMITED, BotFiles, Limits, files_of
from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Cause
from botdrome.runner.bot import folder_of, parts_of
from botdrome.runner.traces import END_OF_DUMP, line_in_dump

START = 10.0
"""Seconds in which a bot must start up, whichever seat it has. They do not count for its moves."""
PACKAGE = Path(__file__).parents[2]
OWN_VARIABLES = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(PACKAGE)}
"""The same order of sets in each process, since the same seed must give the same match."""


class BotFault(Exception):
    """A bot failed and is out: the cause, the detail for its author in one line, and the whole
    traceback.
    """

    def __init__(self, cause: Cause, detail: str, trace: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause, self.detail, self.trace = cause, detail, trace


class Isolation(Struct, frozen=True):
    """How bots are kept apart from the runner and from each other."""

    in_process: bool = False
    """Bots in Python play in this process: faster, but they may do here what they like."""
    sandbox: bool = False
    limits: Limits = UNLIMITED


ISOLATED = Isolation()


class BotProcess:
    def __init__(self, entrant: str, isolation: Isolation) -> None:
        kind, place, name = parts_of(entrant)
        path = Path(place).resolve()
        of_file = place.endswith(".py")
        exact = kind + ":".join(filter(None, (str(path) if of_file else place, name)))
        command = [sys.executable, "-P", "-m", "botdrome.runner.bot_host", exact]
        if isolation.sandbox:
            self._program = Program(command, isolation.limits, OWN_VARIABLES, files_of_bot(entrant))
        else:
            self._program = Program(
                command, isolation.limits, os.environ | OWN_VARIABLES | python_path()
            )
        self._loaded = False
        self.pid = self._program.pid

    def load(self, limit: float) -> None:
        """Wait until the bot is loaded.

        Raise CannotStart for a wrong file or name, and BotFault if the bot's own code fails.
        """
        if not self._loaded:
            self._answer(limit)
            self._loaded = True
            self._program.forget_errors()

    def call(self, method: str, value: Any, limit: float) -> Any:
        """Return what a method of the bot returns."""
        self._program.send([b'["%s",%s]' % (method.encode(), msgspec.json.encode(value))])
        return self._answer(limit)

    def _answer(self, limit: float) -> Any:
        program = self._program
        lines = program.next_lines(perf_counter() + limit)
        if program.flooding:
            raise BotFault("flood", program.flooding)
        if not lines:
            raise self._died() if program.ended else self._overdue()
        try:
            told, *rest = msgspec.json.decode(lines[-1])
        except UNREADABLE as error:
            raise BotFault(
                "unreadable", f"{error}: {lines[-1][:80].decode(errors='replace')}"
            ) from None
        if told == 0:
            return rest[0]
        if told == "cannot load":
            raise CannotStart(rest[0])
        detail, trace = rest
        raise BotFault("crash", self._program.hint(detail), trace)

    def _died(self) -> BotFault:
        self._program.wait_for_end(TRACEBACK)
        self._program.hear_errors()
        return BotFault("crash", self._program.last_words(), self._program.errors)

    def _overdue(self) -> BotFault:
        """Let the bot write where it is: Python does so even in the middle of one long
        operation.
        """
        program, before = self._program, len(self._program.errors)
        if program.ask_for_traceback() == "stopped":
            return BotFault("timeout", "its process was stopped by a signal")
        until = perf_counter() + TRACEBACK
        while (
            END_OF_DUMP not in program.errors
            and not (program.ended or program.flooding)
            and perf_counter() < until
        ):
            program.next_lines(min(until, perf_counter() + 0.05))
        dump = program.errors[before:]
        return BotFault(
            "timeout", f"stopped in {line}" if (line := line_in_dump(dump)) else "", dump
        )

    @property
    def log(self) -> str:
        """What the bot has printed since the last call of `forget_log`: the last part of it."""
        self._program.hear_errors()
        return self._program.errors

    def forget_log(self) -> None:
        self._program.forget_errors()

    def close(self) -> None:
        self._program.close(farewell=0)


def files_of_bot(entrant: str) -> BotFiles:
    """Return what a bot in Python sees in a sandbox: its folder, its file or its module, and
    Python.
    """
    _, place, _ = parts_of(entrant)
    module = Path(place.partition(".")[0]).absolute()
    of_file = (
        Path(place).resolve()
        if place.endswith(".py")
        else module
        if module.is_dir()
        else module.with_suffix(".py")
    )
    mine = files_of([folder_of(entrant) or of_file])
    python = (PACKAGE, Path(sys.prefix), Path(sys.base_prefix))
    return BotFiles((*mine.folders, *python), mine.alone)


def python_path() -> dict[str, str]:
    given = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(PACKAGE), given])} if given else {}


Key = tuple[str, str, int, Isolation]
_idle: dict[Key, list[BotProcess]] = {}
_faults: dict[Key, BotFault] = {}
"""Bots that could not be loaded: it would be no different at the next try."""


def key_of(entrant: str, isolation: Isolation) -> Key:
    """A bot whose file has changed is another bot."""
    _, file, _ = parts_of(entrant)
    try:
        changed = Path(file).stat().st_mtime_ns if file.endswith(".py") else 0
    except OSError:
        changed = 0
    return (entrant, str(Path.cwd()), changed, isolation)


def borrow(
    entrant: str,
    isolation: Isolation,
    limit: float = START,
    start: Callable[[str, Isolation], BotProcess] = BotProcess,
) -> BotProcess:
    """Return a process in which the bot is loaded; `start` starts a new one.

    Raise CannotStart or BotFault if that fails.
    """
    key = key_of(entrant, isolation)
    if key in _faults:
        raise _faults[key]
    if waiting := _idle.get(key):
        return waiting.pop()
    process = start(entrant, isolation)
    try:
        process.load(limit)
    except CannotStart as problem:
        process.close()
        raise CannotStart(f"{entrant}: {problem}") from None
    except BotFault as fault:
        process.close()
        if fault.cause == "timeout":
            fault = BotFault(
                "timeout",
                f"not loaded within {limit:g} s, {fault.detail}".removesuffix(", "),
                fault.trace,
            )
        _faults[key] = fault
        raise fault from None
    except BaseException:
        process.close()
        raise
    return process


def give_back(entrant: str, isolation: Isolation, process: BotProcess) -> None:
    process.forget_log()
    _idle.setdefault(key_of(entrant, isolation), []).append(process)


def close_idle() -> None:
    """End the warm processes of this process."""
    while _idle:
        for process in _idle.popitem()[1]:
            process.close()
    _faults.clear()


atexit.register(close_idle)
