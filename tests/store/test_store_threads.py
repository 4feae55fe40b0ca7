"""The threads of an SQLite store."""

import asyncio
from threading import Event
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.store.sqlite import StoreThread
from tests.patience import PATIENCE

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


async def test_a_store_thread_that_has_ended_refuses_work() -> None:
    thread = StoreThread("a-thread", "a store")
    last = thread.do(lambda: 7)
    thread.end()
    with pytest.raises(RuntimeError, match="a store: its a-thread has ended"):
        thread.do(lambda: 8)
    assert await last == 7


async def test_a_store_thread_that_cannot_begin_says_so_and_works() -> None:
    def fail() -> None:
        raise OSError("no priorities here")

    with capture_logs() as logs:
        thread = StoreThread("a-thread", "a store", fail)
        async with asyncio.timeout(PATIENCE):
            assert await thread.do(lambda: 7) == 7
    assert [line["event"] for line in logs] == ["a thread of the store did not begin as it should"]
    thread.end()


class Gate:
    def __init__(self) -> None:
        self.begun, self._opened = Event(), Event()

    def wait(self) -> None:
        self.begun.set()
        self._opened.wait()

    def open(self) -> None:
        self._opened.set()
