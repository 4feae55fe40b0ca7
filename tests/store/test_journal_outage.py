"""The journal while the disk cannot be written: results wait, all other changes fail at once."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.store import journal
from botdrome.store.changes import begun, ended
from botdrome.store.entries import StoreUnavailable, Unstorable
from botdrome.store.journal import Journal
from tests.store.disks import PROBE, Disk, change, entered
from tests.store.entries import a_match, an_end

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(journal, "SHORTEST_PAUSE", 0.0)


async def test_changes_fail_at_once_while_the_disk_is_full_and_later_ones_are_written() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    problems = await (await entered(pages, "a", "b"))
    assert [str(problem) for problem in problems] == ["disk full"] * 2 and problems[
        0
    ] is not problems[1]
    assert pages.trouble == "disk full"
    [problem] = await (await entered(pages, "c"))
    assert isinstance(problem, StoreUnavailable)
    disk.full = False
    await disk.writes_again(pages)
    assert await pages.enter(change("d")) == "did d"
    assert [batch for batch in disk.batches if batch != [PROBE]] == [["a", "b"], ["d"]], (
        "c was not even tried"
    )
    await pages.close()


async def test_ends_wait_for_the_disk_in_their_order() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    pages.note(begun(a_match("m")))
    await pages.settled()
    pages.note(begun(a_match("n")))
    await pages.settled()
    ends = [asyncio.ensure_future(pages.enter(ended(an_end(name)), lasting=True)) for name in "mn"]
    await disk.tried_again()
    assert pages.unwritten == 2 and not any(end.done() for end in ends)
    disk.full, disk.batches = False, []
    await asyncio.gather(*ends)
    assert not pages.trouble and pages.unwritten == 0
    assert [name for batch in disk.batches for name in batch] == ["m", "n", "m", "n"], (
        "beginnings go first"
    )
    await pages.close()


async def test_an_end_is_tried_for_as_long_as_it_takes() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    end = asyncio.ensure_future(pages.enter(ended(an_end("m")), lasting=True))
    for _ in range(50):
        await disk.tried_again()
    assert not end.done() and set(map(tuple, disk.batches)) == {("m",)}
    disk.full = False
    assert await end == "did m"
    await pages.close()


async def test_a_bad_end_is_refused_and_not_tried_for_ever() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    with pytest.raises(Unstorable):
        await pages.enter(ended(an_end("bad")), lasting=True)
    assert (disk.batches, pages.trouble, pages.unwritten) == ([["bad"], ["bad"]], "", 0)
    await pages.close()


async def test_a_bad_end_among_those_that_wait_for_the_disk() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    ends = [
        asyncio.ensure_future(pages.enter(ended(an_end(name)), lasting=True))
        for name in ("a", "bad", "b")
    ]
    await disk.tried_again()
    disk.full = False
    one, bad, two = await asyncio.gather(*ends, return_exceptions=True)
    assert (one, two) == ("did a", "did b") and isinstance(bad, Unstorable)
    await pages.close()


async def test_the_disk_is_tried_again_though_nobody_waits() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    await (await entered(pages, "a"))
    await disk.tried_again()
    assert disk.batches[-1] == [PROBE] and pages.trouble
    disk.full = False
    await disk.writes_again(pages)
    await pages.close()


async def test_an_outage_is_logged_when_it_begins_and_when_it_ends() -> None:
    disk = Disk()
    with capture_logs() as logs:
        pages = Journal(disk.write)
        disk.full = True
        end = asyncio.ensure_future(pages.enter(ended(an_end("m")), lasting=True))
        for _ in range(50):
            await disk.tried_again()
        disk.full = False
        await end
    assert [line["event"] for line in logs] == [
        "the store cannot be written",
        "the store can be written again",
    ]
    await pages.close()


async def test_closing_says_how_many_results_were_not_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "CLOSING_TIME", 0.0)
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    pages.note(begun(a_match("m")))
    end = asyncio.ensure_future(pages.enter(ended(an_end("m")), lasting=True))
    await disk.tried_again()
    with pytest.raises(StoreUnavailable, match=r"1 result not stored, .* disk full"):
        await pages.close()
    with pytest.raises(StoreUnavailable, match="disk full"):
        await end
    with pytest.raises(StoreUnavailable, match="closed"):
        pages.note(begun(a_match("n")))


async def test_closing_waits_for_a_disk_that_comes_back() -> None:
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    end = asyncio.ensure_future(pages.enter(ended(an_end("m")), lasting=True))
    await disk.tried_again()
    closing = asyncio.ensure_future(pages.close())
    await disk.tried_again()
    disk.full = False
    await closing
    assert await end == "did m"


async def test_closing_retries_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses, sleep = list[float](), asyncio.sleep

    def paused(seconds: float) -> Coroutine[Any, Any, None]:
        pauses.append(seconds)
        return sleep(0)

    monkeypatch.setattr(journal, "SHORTEST_PAUSE", 0.05)
    monkeypatch.setattr(journal, "LONGEST_PAUSE", 2.0)
    disk = Disk()
    pages = Journal(disk.write)
    disk.full = True
    end = asyncio.ensure_future(pages.enter(ended(an_end("m")), lasting=True))
    await disk.tried_again()
    monkeypatch.setattr(asyncio, "sleep", paused)
    for _ in range(10):
        await disk.tried_again()
    assert pauses[-1] == 2.0
    closing = asyncio.ensure_future(pages.close())
    for _ in range(3):
        await disk.tried_again()
    assert pauses[-1] == 0.5
    disk.full = False
    await closing
    assert await end == "did m"
