"""The journal: waiting changes form batches, and a bad change fails alone."""

import asyncio

import pytest

from botdrome.store import journal
from botdrome.store.changes import begun
from botdrome.store.entries import UnknownBot, Unstorable
from botdrome.store.journal import Journal
from tests.patience import PATIENCE
from tests.store.disks import Disk, change, entered
from tests.store.entries import a_match

pytestmark = pytest.mark.anyio


async def test_what_arrives_while_a_batch_is_written_is_the_next_batch() -> None:
    disk = Disk()
    disk.free.clear()
    pages = Journal(disk.write)
    first = await entered(pages, "a")
    await disk.asked.wait()
    others = await entered(pages, "b", "c", "d")
    assert disk.batches == [["a"]] and not first.done()
    disk.free.set()
    assert await first == ["did a"] and await others == ["did b", "did c", "did d"]
    assert disk.batches == [["a"], ["b", "c", "d"]]
    await pages.close()


async def test_batches_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LARGEST_BATCH", 2)
    disk = Disk()
    pages = Journal(disk.write)
    await (await entered(pages, *"abcde"))
    assert disk.batches == [["a", "b"], ["c", "d"], ["e"]]
    await pages.close()


async def test_what_is_refused_is_tried_alone() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    one, bad, unknown, two = await (await entered(pages, "one", "bad", "unknown", "two"))
    assert (one, two) == ("did one", "did two")
    assert isinstance(bad, Unstorable) and isinstance(unknown, UnknownBot)
    assert disk.batches == [
        ["one", "bad", "unknown", "two"],
        ["one"],
        ["bad"],
        ["unknown"],
        ["two"],
    ]
    await pages.close()


async def test_a_bad_beginning_is_dropped() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    pages.note(begun(a_match("bad")))
    await pages.settled()
    assert await pages.enter(change("a")) == "did a"
    assert disk.batches == [["bad"], ["bad"], ["a"]]
    await pages.close()


async def test_what_was_noted_is_settled_once_it_is_written() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    await pages.settled()
    disk.free.clear()
    pages.note(begun(a_match("m")))
    settled = asyncio.ensure_future(pages.settled())
    await disk.asked.wait()
    assert disk.batches == [["m"]] and not settled.done()
    disk.free.set()
    await settled
    await pages.close()


async def test_a_beginning_waits_for_the_next_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "BEGIN_DELAY", 3600.0)
    disk = Disk()
    pages = Journal(disk.write)
    pages.note(begun(a_match("m")))
    pages.note(begun(a_match("n")))
    assert await pages.enter(change("a")) == "did a"
    assert disk.batches == [["m", "n", "a"]]
    pages.note(begun(a_match("o")))
    await pages.close()
    assert disk.batches == [["m", "n", "a"], ["o"]]


class Processor:
    """Has worked without a rest since it was asked last, or has not worked at all."""

    def __init__(self, busy: bool) -> None:
        self.busy = busy
        self._spent = 0.0

    def __call__(self) -> float:
        self._spent += 3600.0 * self.busy
        return self._spent


async def test_a_process_that_is_busy_lets_a_change_wait_for_company(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "LOAD_WINDOW", 1e-9)
    monkeypatch.setattr(journal, "LONGEST_DELAY", 3600.0)
    disk = Disk()
    pages = Journal(disk.write, Processor(busy=True))
    assert await (await entered(pages, "a")) == ["did a"]
    waiting = await entered(pages, "b")
    await asyncio.sleep(0)
    others = await entered(pages, "c")
    await pages.close()
    assert await waiting == ["did b"] and await others == ["did c"]
    assert disk.batches == [["a"], ["b", "c"]]


async def test_a_process_that_has_time_lets_nobody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LONGEST_DELAY", 3600.0)
    disk = Disk()
    pages = Journal(disk.write, Processor(busy=False))
    async with asyncio.timeout(PATIENCE):
        assert await (await entered(pages, "a")) == ["did a"]
        assert await (await entered(pages, "b")) == ["did b"]
    assert disk.batches == [["a"], ["b"]]
    await pages.close()


async def test_a_process_that_was_busy_long_ago_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LOAD_WINDOW", 1e-9)
    monkeypatch.setattr(journal, "LONGEST_DELAY", 3600.0)
    disk, processor = Disk(), Processor(busy=True)
    pages = Journal(disk.write, processor)
    async with asyncio.timeout(PATIENCE):
        await (await entered(pages, "a"))
        processor.busy = False
        assert await (await entered(pages, "b")) == ["did b"]
    await pages.close()
