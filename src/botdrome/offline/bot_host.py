"""The process of a bot in Python: it loads the bot, and answers the runner's questions, one JSON
message per line.

`python -m botdrome.offline.bot_host ENTRANT`. Standard input and output are for the runner alone:
what the bot prints goes to standard error, its log.
"""

import faulthandler
import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO, Any, NoReturn

import msgspec

from botdrome.offline.bot import BotInstance, CannotLoad, load, spelled

ENCODE, DECODE = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode


class Host:
    def __init__(self, questions: IO[bytes], answers: int) -> None:
        self._questions, self._answers = questions, answers
        self._process = os.getpid()
        self._loaded: Any = None
        self._instance: BotInstance | None = None

    def run(self, entrant: str) -> None:
        self._answer(lambda: self._load(entrant))
        for line in self._questions:
            kind, value = DECODE(line)
            self._answer(lambda: getattr(self, kind)(value))  # noqa: B023

    def _answer(self, call: Callable[[], Any]) -> None:
        try:
            value = call()
            answer = b"[0," + ENCODE(value) + b"]\n"
            if b"null" in answer and value is not None:  # so does msgspec write NaN
                answer = b"[0," + ENCODE(spelled(value)) + b"]\n"
        except CannotLoad as problem:
            answer = ENCODE(["cannot load", str(problem), ""]) + b"\n"
        except BaseException as error:
            if isinstance(error, MemoryError):
                _forget_variables(error)
            from botdrome.offline.traces import (  # takes as long to import as all the rest
                explain,
                trace_of,
            )

            answer = ENCODE(["crash", explain(error), trace_of(error)]) + b"\n"
        if os.getpid() != self._process:
            os._exit(0)  # the bot has forked, and this is the copy
        with suppress(ValueError, OSError):
            sys.stdout.flush()
        while answer:
            answer = answer[os.write(self._answers, answer) :]

    def _load(self, entrant: str) -> None:
        self._loaded = load(entrant)

    def begin(self, match: dict[str, Any]) -> None:
        if self._instance is not None:
            self._instance.close()
        self._instance = BotInstance(self._loaded)
        self._instance.begin(match)

    def move(self, view: dict[str, Any]) -> Any:
        assert self._instance is not None
        return self._instance.move(view)

    def end(self, result: dict[str, Any]) -> None:
        assert self._instance is not None
        self._instance.end(result)


def _forget_variables(error: BaseException) -> None:
    """Free what the bot holds, so that there is memory to describe the error."""
    place = error.__traceback__
    while place is not None:
        with suppress(RuntimeError):
            place.tb_frame.clear()
        place = place.tb_next


def _close_once(files: list[int]) -> None:
    """Close files in a child.

    Its own children inherit the empty list: there the numbers may be those of other files.
    """
    while files:
        os.close(files.pop())


def main() -> NoReturn:
    """Exit without waiting for threads of the bot."""
    questions, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(
        os.fdopen(1, "wb", closefd=False), "utf-8", "replace", line_buffering=True
    )
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    reader = os.fdopen(questions, "rb")
    os.register_at_fork(after_in_child=partial(_close_once, [questions, answers]))
    with suppress(BrokenPipeError):
        Host(reader, answers).run(sys.argv[1])
    os._exit(0)


if __name__ == "__main__":
    main()
