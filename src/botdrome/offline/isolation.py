"""The processes of bots in Python.

One that has played a match well stays warm for the bot's next one.
"""

import atexit
import io
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from botdrome.client.program import KEPT_OF_STDERR, TRACEBACK, CannotStart, Program
from botdrome.client.sandbox import UNLIMITED, BotFiles, Limits, files_of, files_of_command
from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Cause
from botdrome.offline.bot import CannotLoad, folder_of, parts_of
from botdrome.offline.project import PROGRAM, bot_of, project_folder
from botdrome.offline.traces import END_OF_DUMP, explain, line_in_dump, line_of, trace_of
from botdrome.wire.gomocup import WIN_LENGTH, GomocupError, GomocupManager

T = TypeVar("T")

START = 10.0
"""Seconds in which a bot must start up, whichever seat it has. They do not count for its moves."""
PACKAGE = Path(__file__).parents[2]
PYTHON = (PACKAGE, Path(sys.prefix), Path(sys.base_prefix))
"""The folders that a bot in Python sees beside its own."""
OWN_VARIABLES = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(PACKAGE)}
"""The same order of sets in each process, since the same seed must give the same match."""


class BotFault(Exception):
    """A bot failed and is out: the cause, the detail for its author in one line, and the whole
    traceback.
    """

    def __init__(self, cause: Cause, detail: str, trace: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause, self.detail, self.trace = cause, detail, trace


def read_line(line: bytes) -> Any:
    """Return the JSON in a line of a bot. Raise BotFault if there is none."""
    try:
        return msgspec.json.decode(line)
    except UNREADABLE as error:
        raise BotFault("unreadable", f"{error}: {_shown(line)}") from None


def _shown(line: bytes) -> str:
    return line[:80].decode(errors="replace")


def as_json(value: T) -> T:
    """Return a value as a bot gets it in any language: with lists in place of tuples."""
    found: T = msgspec.json.decode(msgspec.json.encode(value))
    return found


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
        command = [sys.executable, "-P", "-m", "botdrome.offline.bot_host", exact]
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
        line = self._lines(limit)[-1]
        match read_line(line):
            case [0, value]:
                return value
            case ["cannot load", str(why), _]:
                raise CannotStart(why)
            case ["crash", str(detail), str(trace)]:
                raise BotFault("crash", self._program.hint(detail), trace)
        raise BotFault("unreadable", f"the bot wrote into its answers: {_shown(line)}")

    def _lines(self, limit: float) -> list[bytes]:
        """Wait for the next lines. Raise BotFault if there is none."""
        program = self._program
        lines = program.next_lines(perf_counter() + limit)
        if program.flooding:
            raise BotFault("flood", program.flooding)
        if not lines:
            raise self._died() if program.ended else self._overdue()
        return lines

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
    return BotFiles((*mine.folders, *PYTHON), mine.alone)


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
    with suppress(LookupError):  # other threads take and end warm processes, too
        return _idle[key].pop()
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


def close_idle(entrant: str = "") -> None:
    """End the warm processes of this process, or those of one bot."""
    for key in [key for key in _idle if entrant in ("", key[0])]:
        waiting = _idle[key]
        while waiting:
            waiting.pop().close()
    for key in [key for key in _faults if entrant in ("", key[0])]:
        del _faults[key]


atexit.register(close_idle)


# Bots that play in the process of the runner: their exceptions and their time limit.


class Overdue(BaseException):
    """A function exceeded its time and was stopped. Not an Exception, since bots catch those."""


class BotLog(io.TextIOBase):
    """What a bot prints: the last part."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text)[-KEPT_OF_STDERR:]
        return len(text)


@contextmanager
def guarded(seconds: float, log: BotLog) -> Iterator[None]:
    """Run the code of a bot in this process: raise BotFault for what it raises, and after some
    seconds.

    The time limit works in the main thread only, and a bot that catches every exception escapes it.
    """
    process = os.getpid()
    try:
        with redirect_stdout(log), _alarm(seconds):
            yield
    except (KeyboardInterrupt, CannotLoad):
        raise
    except Overdue as error:
        log.write(trace_of(error))
        raise BotFault("timeout", f"stopped in {line_of(error)}") from None
    except BaseException as error:
        log.write(trace_of(error))
        raise BotFault("crash", explain(error)) from None
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


# Programs in any language that play from views: those that read them as JSON, and the gomoku
# engines of Gomocup.


def program_command(entrant: str) -> list[str]:
    """Return the words of the command after `cmd:` or another prefix."""
    prefix, _, command = bot_of(entrant).partition(":")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"{entrant}: {error}") from None
    if not words:
        raise CannotStart(f"{entrant}: a program is missing after {prefix}:")
    if "/" in words[0] and (folder := project_folder(entrant)):
        words[0] = str(folder.absolute() / words[0])
    if shutil.which(words[0]) is None:
        raise CannotStart(f"{entrant}: there is no program {words[0]!r}")
    return words


def files_of_entrant(entrant: str) -> BotFiles:
    """Return what a bot sees in a sandbox."""
    if PROGRAM.match(bot_of(entrant)):
        return files_of_command(program_command(entrant), project_folder(entrant))
    return files_of_bot(entrant)


def started(entrant: str, isolation: Isolation) -> Program:
    """Start a program; that of a project starts in its folder."""
    sees = files_of_entrant(entrant) if isolation.sandbox else None
    command = program_command(entrant)
    return Program(command, isolation.limits, sees=sees, folder=project_folder(entrant))


class ViewProgram(BotProcess):
    """A program that reads {"begin": ...}, {"view": ...} and {"end": ...}, one per line.

    It answers a beginning with any line, once it is ready, and each view with its move.
    """

    def __init__(self, entrant: str, isolation: Isolation) -> None:
        self._program, self._loaded = started(entrant, isolation), True
        self.pid = self._program.pid

    def call(self, method: str, value: Any, limit: float) -> Any:
        word = "view" if method == "move" else method
        self._program.send([b'{"%s":%s}' % (word.encode(), msgspec.json.encode(value))])
        if method == "end":
            return None
        lines = self._lines(limit)
        if len(lines) > 1:
            raise BotFault(
                "unreadable", f"{len(lines)} lines in answer to one {word}: {_shown(lines[1])}"
            )
        return read_line(lines[0])

    def _overdue(self) -> BotFault:
        return BotFault("timeout", "")


class GomocupEngine(ViewProgram):
    """A gomoku engine that speaks Gomocup's protocol."""

    def __init__(self, entrant: str, isolation: Isolation) -> None:
        super().__init__(entrant, isolation)
        self._memory = isolation.limits.memory or 0
        self._manager = GomocupManager()
        self._unread: list[str] = []

    def call(self, method: str, value: Any, limit: float) -> Any:
        if method == "begin":
            self._manager.begin(value["limit"], self._memory)
        return self._move(as_json(value), perf_counter() + limit) if method == "move" else None

    def _move(self, view: Any, until: float) -> Any:
        manager = self._manager
        if view["winLength"] != WIN_LENGTH:
            raise BotFault(
                "crash",
                f"the engines of Gomocup play for {WIN_LENGTH} in a row, not {view['winLength']}",
            )
        if manager.is_new_board(view):
            self._send(manager.start(view))
            self._read(manager.read_start, until)
            self._send(manager.information())
        self._send(manager.ask(view))
        return self._read(manager.read_move, until)

    def _send(self, lines: list[str]) -> None:
        self._program.send(line.encode() for line in lines)

    def _read(self, meaning: Callable[[str], T | None], until: float) -> T:
        """Return the meaning of the first line that has one."""
        while True:
            while self._unread:
                try:
                    if meant := meaning(self._unread.pop(0)):
                        return meant
                except GomocupError as error:
                    raise BotFault("unreadable", str(error)) from None
            lines = self._lines(until - perf_counter())
            self._unread += [line.decode(errors="replace").strip() for line in lines]

    def close(self) -> None:
        self._send(["END"])
        super().close()


PROGRAM_KINDS: dict[str, type[BotProcess]] = {"view": ViewProgram, "pbrain": GomocupEngine}
"""The class of a program by the prefix of its entrant."""
