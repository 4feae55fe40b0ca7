"""For all tests."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
import websockets.asyncio.client
from hypothesis import HealthCheck, settings

import botdrome
from botdrome.offline import isolation
from botdrome.server.workers.pool import LONGEST_JOB, Workers
from botdrome.store import sqlite
from tests.patience import PATIENCE, until
from tests.thrift import reused_workers, spare_certificates

# Imported modules and collected tests stay, so the garbage collector need not look through them.
gc.disable()

# A process started by a test runs the same Botdrome as the test.
os.environ["PYTHONPATH"] = str(Path(botdrome.__file__).parents[1])
# A server started as a process listens on ports chosen by the system, not on the default ports.
os.environ.update(
    BOTDROME_DUEL_PORT="0",
    BOTDROME_BOATS_PORT="0",
    BOTDROME_BOMBER_PORT="0",
    BOTDROME_CUBE_PORT="0",
)

# Tests do not cut the power, so SQLite need not flush to disk: it would do so 16 times in a test
# with a server.
assert sqlite.SETTINGS[0] == "synchronous = FULL"
sqlite.SETTINGS = ("synchronous = OFF", *sqlite.SETTINGS[1:])

# On a busy machine an example may take long.
settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")

# Where the tests run in the background, Ctrl-C may be ignored, and a process that a test starts
# would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

spare_certificates()

# Where nobody has set logging up, structlog draws a traceback with all variables, which takes a
# third of a second of CPU.
for processor in structlog.get_config()["processors"]:
    if isinstance(processor, structlog.dev.ConsoleRenderer):
        processor.exception_formatter = structlog.dev.plain_traceback

# A worker process has a low priority, so on a busy machine a job of a second may take a minute.
assert Workers.__init__.__defaults__ == (0, LONGEST_JOB)
Workers.__init__.__defaults__ = (0, 20 * LONGEST_JOB)


# So may a connection take longer than 10 s to open, and a bot to start.
waits: Any = websockets.asyncio.client.connect.__init__.__kwdefaults__
assert waits["open_timeout"] == 10
waits["open_timeout"] = PATIENCE
assert "botdrome.offline.table" not in sys.modules, "it takes START when it is imported"
assert isolation.borrow.__defaults__ == (isolation.START, isolation.BotProcess)
isolation.START = PATIENCE
isolation.borrow.__defaults__ = (PATIENCE, isolation.BotProcess)


def log_to_stderr() -> None:
    """A server in this process may log while a command beside it runs. By default it would write
    between the lines of the command's output.
    """
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))


log_to_stderr()


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Undo the logging setup of a command, whose stream ends with the test."""
    yield
    structlog.reset_defaults()
    log_to_stderr()
    root = logging.getLogger()
    for handler in [
        one
        for one in root.handlers
        if isinstance(one.formatter, structlog.stdlib.ProcessorFormatter)
    ]:
        root.removeHandler(handler)
    root.setLevel(logging.WARNING)


@pytest.fixture
def answers_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer of a function or a bot process is late, however long this machine stalls."""
    from botdrome.offline.seats import FunctionSeat, ProcessSeat

    for kind in (FunctionSeat, ProcessSeat):

        def ask(seat: Any, view: Any, _: float, ask: Any = kind.ask) -> tuple[Any, float]:
            return ask(seat, view, PATIENCE)[0], 0.0

        monkeypatch.setattr(kind, "ask", ask)


def pytest_collection_finish() -> None:
    """Modules and tests stay: no collection of garbage looks through them, which takes 0.1 s."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def what_is_left_open_is_found_here() -> Iterator[None]:
    """Blame the module that left a connection or a file open, not the one in which Python finds
    it.
    """
    yield
    gc.collect()


SETTLING = 20.0
"""Seconds for the connections of a test to end. Python warns of those that stay open."""
close_runner = asyncio.Runner.close


def settle_and_close(runner: asyncio.Runner) -> None:
    """Before a loop closes, let it see the end of connections whose other side is closed."""
    loop: Any = getattr(runner, "_loop", None)
    transports = getattr(loop, "_transports", {})  # uvloop closes its own

    def settled() -> bool:
        return all(one._sock is None for one in list(transports.values()))

    if not settled():
        with suppress(TimeoutError):
            loop.run_until_complete(asyncio.wait_for(until(settled), SETTLING))
    close_runner(runner)


asyncio.Runner.close = settle_and_close  # type: ignore[method-assign, assignment]


@pytest.fixture(scope="session", autouse=True)
def workers_serve_again() -> Iterator[None]:
    with reused_workers():
        yield
