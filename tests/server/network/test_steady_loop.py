"""The loop's clock stands still while the process does, so that no stall is charged to a player."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

from botdrome.server.network.steady_loop import HEARTBEAT, IDLE, STALL, SteadyClock, SteadyLoop
from tests.server.rooms.boats.clients import BOARD

LOOPS: list[Callable[..., asyncio.AbstractEventLoop]] = [SteadyLoop]
with suppress(ImportError):
    from botdrome.server.network.steady_loop import SteadyUvLoop

    LOOPS.append(SteadyUvLoop)


LIMIT = 8.0
"""Seconds."""


class SystemClock:
    """The system's clock, and how far it has jumped."""

    def __init__(self) -> None:
        self.jumped = 0.0

    def __call__(self) -> float:
        return monotonic() + self.jumped


@pytest.mark.parametrize("seconds", [STALL * 2, 4.9, 20.0, 86400.0])
def test_a_stall_of_any_length_is_left_out(seconds: float) -> None:
    time = [100.0]
    clock = SteadyClock(lambda: time[0])
    before = clock.now()
    time[0] += seconds
    assert clock.now() == before
    time[0] += HEARTBEAT
    assert clock.now() == pytest.approx(before + HEARTBEAT)


def test_the_sleep_of_an_idle_loop_counts() -> None:
    """Otherwise the clock of an idle server would stand still if it always woke up late."""
    time = [100.0]
    clock = SteadyClock(lambda: time[0])
    clock.sleep = IDLE - HEARTBEAT
    clock.stall = STALL + clock.sleep
    before = clock.now()
    for _ in range(10):
        time[0] += IDLE + STALL
        clock.now()
    assert clock.now() == pytest.approx(before + 10 * (IDLE - HEARTBEAT))
    assert clock.left_out == pytest.approx(10 * (STALL + HEARTBEAT))


def test_time_in_which_the_loop_runs_counts() -> None:
    time = [100.0]
    clock = SteadyClock(lambda: time[0])
    before = clock.now()
    for _ in range(200):
        time[0] += HEARTBEAT
        clock.now()
    assert clock.now() == pytest.approx(before + 200 * HEARTBEAT)


@pytest.mark.parametrize("make", LOOPS)
def test_an_idle_loop_sees_no_stall(make: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Its heartbeat reads the clock: a wait that is longer than a stall comes to its end."""

    async def wait() -> None:
        await asyncio.wait_for(asyncio.sleep(3 * STALL), 600)

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(wait())


@pytest.mark.parametrize("make", LOOPS)
def test_what_was_sent_during_a_stall_is_read_before_its_limit_is_over(
    make: Callable[..., asyncio.AbstractEventLoop],
) -> None:
    system = SystemClock()

    async def wait() -> bytes:
        loop = asyncio.get_running_loop()
        read, write = os.pipe()
        heard: asyncio.Future[bytes] = loop.create_future()
        late = loop.call_later(60, heard.set_result, b"late")
        limit = loop.call_at(loop.time() + 60, heard.set_result, b"late")
        loop.add_reader(read, lambda: heard.set_result(os.read(read, 10)))
        system.jumped += 86400
        os.write(write, b"in time")
        try:
            async with asyncio.timeout(60):
                return await heard
        finally:
            late.cancel()
            limit.cancel()
            loop.remove_reader(read)
            os.close(read)
            os.close(write)

    with asyncio.Runner(loop_factory=lambda: make(system)) as runner:
        assert runner.run(wait()) == b"in time"


@pytest.mark.parametrize("make", LOOPS)
def test_a_timer_rings_once_after_a_stall_or_not_at_all_if_it_was_cancelled(
    make: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def wait() -> list[str]:
        loop, rung, done = asyncio.get_running_loop(), list[str](), asyncio.Event()
        cancelled = loop.call_later(0.01, rung.append, "cancelled")
        loop.call_later(0.01, rung.append, "rung")
        loop.call_later(0.03, done.set)
        cancelled.cancel()
        assert cancelled.cancelled()
        await done.wait()
        return rung

    with asyncio.Runner(loop_factory=make) as runner:
        assert runner.run(wait()) == ["rung"]


def test_a_server_that_is_stopped_for_longer_than_a_limit_charges_nobody(tmp_path: Path) -> None:
    """Stopped for real, for longer than a client has to join a boat game."""
    command = [
        sys.executable,
        "-c",
        "from botdrome.cli.app import main; main()",
        "serve",
        "--port",
        "0",
    ]
    words = ("boats_port=-1", "duel_port=0", f"limits_waiting={LIMIT}")
    command += [
        "--db",
        f"sqlite:///{tmp_path}/stopped.db",
        *[word for pair in words for word in ("--set", pair)],
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        screen = ""
        while (found := re.search(r"boat games \(TCP\) +127.0.0.1:(\d+)", screen)) is None:
            line = process.stderr.readline()
            assert line, screen
            screen += line
        with socket.create_connection(("127.0.0.1", int(found[1]))) as client:
            lines = client.makefile("rb")
            assert lines.readline().startswith(b"G|")
            process.send_signal(signal.SIGSTOP)
            client.sendall(f"J|guest|{BOARD}\n".encode())
            with suppress(subprocess.TimeoutExpired):
                process.wait(LIMIT * 1.2)
            process.send_signal(signal.SIGCONT)
            assert lines.readline().startswith(b"J|guest")
    finally:
        process.kill()
        process.communicate()
