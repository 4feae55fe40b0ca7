"""Jobs for the worker processes of tests."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from botdrome.bots.house import HOUSE
from botdrome.games.chance import Chance
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller, at_low_priority
from botdrome.store import store
from botdrome.store.entries import Source


def add(one: int, other: int) -> int:
    return one + other


def fail(words: str) -> None:
    raise ValueError(words)


def process() -> int:
    return os.getpid()


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


async def work_on(_: ServerCaller, gate: str) -> None:
    """End, and leave work behind that waits for the test."""
    MARKS.append(asyncio.ensure_future(at_low_priority(wait_at, gate)))


MARKS: list[object] = []


def leave_a_mark() -> None:
    MARKS.append("preloaded")


def left_a_mark() -> bool:
    return bool(MARKS)


async def query_priority(_: ServerCaller) -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def for_ever() -> None:
    while True:
        time.sleep(0.01)


def vanish() -> None:
    os._exit(3)


def hoard(size: int) -> int:
    return len(bytearray(size))


def unsendable() -> object:
    return lambda: None


def large(pieces: int, size: int) -> PiecewiseResult:
    return PiecewiseResult("head", [bytes([number % 256]) * size for number in range(pieces)])


Calls = Mapping[str, Callable[..., Awaitable[object]]]
"""What a test gives a pool as its server: functions by name."""


async def run_named(calls: Calls, name: str, *args: object) -> object:
    return await calls[name](*args)


async def order(calls: Calls) -> object:
    return await calls["order"]()


async def ask(server: ServerCaller, name: str, *args: object) -> object:
    return await server.call(run_named, name, *args)


async def call(server: ServerCaller, name: str) -> object:
    return await server.call(run_named, name, waits=True)


async def give_order(server: ServerCaller) -> object:
    return await server.call(order)


def spin(seconds: float) -> str:
    """Use so much processor time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return "spun"


def broken(view: Any, chance: Chance) -> Any:
    """A house bot."""
    raise RuntimeError("no idea")


def dies(view: Any, chance: Chance) -> Any:
    """A house bot."""
    os._exit(3)


def dies_once(mark: str, view: Any, chance: Chance) -> Any:
    """A house bot that takes its first worker with it."""
    if not Path(mark).exists():
        Path(mark).touch()
        os._exit(3)
    return HOUSE["noughts-and-crosses"]["random"](view, chance)


def has_read(module: str) -> bool:
    return module in sys.modules


def has_open(source: Source) -> bool:
    return source in store._open


def wait_at(gate: str) -> str:
    """Wait until the test opens its gate."""
    with socket.socket(socket.AF_UNIX) as opened:
        opened.connect(gate)
        return opened.recv(10).decode()


async def order_and_wait(server: ServerCaller, gate: str) -> object:
    """Give an order, and then take long."""
    return await server.call(order), wait_at(gate)


async def order_and_vanish(server: ServerCaller, mark: str) -> list[object]:
    """Give two orders, and take the first worker along after the first of them."""
    answers = [await server.call(order)]
    if not Path(mark).exists():
        Path(mark).touch()
        os._exit(3)
    return [*answers, await server.call(order)]


async def order_and_die(server: ServerCaller) -> None:
    await server.call(order)
    os._exit(3)
