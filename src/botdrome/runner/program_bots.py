"""Programs in any language that play from views: those that read them as JSON, and the gomoku
engines of Gomocup.
"""

import shlex
import shutil
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

import msgspec

from botdrome.client.program import CannotStart, Program
from botdrome.client.sandbox import files_of_command
from botdrome.games.reading import UNREADABLE
from botdrome.runner.bot_process import BotFault, BotProcess, Isolation
from botdrome.wire.gomocup import WIN_LENGTH, GomocupError, GomocupManager

T = TypeVar("T")


def program_command(entrant: str) -> list[str]:
    """Return the words of the command after `cmd:` or another prefix."""
    prefix, _, command = entrant.partition(":")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"{entrant}: {error}") from None
    if not words:
        raise CannotStart(f"{entrant}: a program is missing after {prefix}:")
    if shutil.which(words[0]) is None:
        raise CannotStart(f"{entrant}: there is no program {words[0]!r}")
    return words


def started(command: list[str], isolation: Isolation) -> Program:
    return Program(
        command, isolation.limits, sees=files_of_command(command) if isolation.sandbox else None
    )


class ViewProgram(BotProcess):
    """A program that reads {"begin": ...}, {"view": ...} and {"end": ...}, one per line.

    It answers a beginning with any line, once it is ready, and each view with its move.
    """

    def __init__(self, entrant: str, isolation: Isolation) -> None:
        self._program, self._loaded = started(program_command(entrant), isolation), True
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
        try:
            return msgspec.json.decode(lines[0])
        except UNREADABLE as error:
            raise BotFault("unreadable", f"{error}: {_shown(lines[0])}") from None

    def _lines(self, limit: float) -> list[bytes]:
        """Wait for the next lines. Raise BotFault if there is none."""
        program = self._program
        lines = program.next_lines(perf_counter() + limit)
        if program.flooding:
            raise BotFault("flood", program.flooding)
        if not lines:
            raise self._died() if program.ended else BotFault("timeout", "")
        return lines


def _shown(line: bytes) -> str:
    return line[:80].decode(errors="replace")


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
        return (
            self._move(msgspec.json.decode(msgspec.json.encode(value)), perf_counter() + limit)
            if method == "move"
            else None
        )

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
