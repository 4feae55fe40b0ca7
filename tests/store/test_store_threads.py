"""The threads of an SQLite store."""

import asyncio
from threading import Event
from typing import Any

import pytest

from botdrome.store.sqlite import StoreThread

pytestmark = pytest.mark.anyio


async def test_a_store_thread_leaves_out_work_whose_caller_was_cancelled() -> None:
    thread, done, gate = StoreThread("a-thread", "a store"), list[int](), Gate()
    held = thread.do(gate.wait)
    cancelled, wanted = thread.do(lambda: done.append(1)), thread.do(lambda: done.append(2))
    cancelled.cancel()
    gate.open()
    await asyncio.gather(held, wanted)
    assert done == [2]
    thread.end()


async def test_a_caller_that_is_cancelled_meanwhile_gets_no_answer() -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    thread, gate = StoreThread("a-thread", "a store"), Gate()
    held = thread.do(gate.wait)
    await asyncio.to_thread(gate.begun.wait)
    held.cancel()
    gate.open()
    assert await thread.do(lambda: 7) == 7
    assert problems == []
    thread.end()


class Gate:
    def __init__(self) -> None:

        self.begun, self._opened = Event(), Event()

    def wait(self) -> None:
        self.begun.set()
        self._opened.wait()

    def open(self) -> None:
        self._opened.set()
