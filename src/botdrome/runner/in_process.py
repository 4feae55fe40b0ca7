"""Bots that play in the process of the runner: their exceptions and their time limit."""

import io
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from botdrome.client.program import KEPT_OF_STDERR
from botdrome.runner.bot import CannotLoad
from botdrome.runner.bot_process import BotFault
from botdrome.runner.traces import explain, line_of, trace_of


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
