"""Bots that play in the process of the runner: their exceptions and their time limit."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botdrome.runner.bot import CannotLoad
from botdrome.runner.bot_process import BotFault
from botdrome.runner.traces import explain, line_of, trace_of


class Overdue(BaseException):
    """A function exceeded its time and was stopped. Not an Exception, since bots catch those."""


@contextmanager
def guarded(seconds: float) -> Iterator[None]:
    """Run the code of a bot in this process: raise BotFault for what it raises, and after some seconds.

    The time limit works in the main thread only, and a bot that catches every exception escapes it.
    """
    process = os.getpid()
    try:
        with _alarm(seconds):
            yield
    except (KeyboardInterrupt, CannotLoad):
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
