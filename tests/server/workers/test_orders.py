"""Jobs that give orders, and workers that are kept warm: what took effect is answered, however slow
or unlucky its worker is.
"""

import asyncio
import re
from pathlib import Path

import pytest

from botdrome import api
from botdrome.api.requests import (
    ORDERS,
    awaited,
    check_upload,
    contest_games,
    count_duels,
    live,
    participant_with,
)
from botdrome.server.arena import Arena
from botdrome.server.workers import pool
from botdrome.server.workers.jobs import JobFailed
from botdrome.server.workers.pool import Workers
from tests.patience import until
from tests.server.clients import leap
from tests.server.workers.chores import order
from tests.server.workers.gates import gate

pytestmark = pytest.mark.anyio

CHORES = "tests.server.workers.chores"


class Orders:
    """Counts the orders, and carries them out when it may."""

    def __init__(self, workers: Workers) -> None:
        self.given, self.asked, self.may = 0, asyncio.Event(), asyncio.Event()
        self.may.set()
        workers.server, workers.orders = {"order": self}, {order}

    async def __call__(self) -> int:
        self.given += 1
        number = self.given
        self.asked.set()
        await self.may.wait()
        return number


async def test_the_time_limit_begins_when_a_worker_is_warm() -> None:
    workers = Workers(1)
    async with gate() as start:
        workers.start(f"{CHORES}:wait_at", start.path)
        job = asyncio.ensure_future(workers.value("me", f"{CHORES}:add", 2, 3))
        await start.reached.wait()
        assert not workers.warm
        leap(3600)
        await asyncio.sleep(0)
        start.open()
        assert await job == 5
        assert workers.warm
    await workers.close()


async def test_a_worker_that_is_warming_up_does_not_delay_the_end() -> None:
    workers = Workers(1)
    async with gate() as start:
        workers.start(f"{CHORES}:wait_at", start.path)
        await start.reached.wait()
        await workers.close()


async def test_one_worker_is_kept_warm() -> None:
    workers = Workers(2)
    workers.start()
    with pytest.raises(JobFailed):
        await workers.value("me", f"{CHORES}:vanish")
    assert len(workers._starting) == 1 and not workers._links
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    await workers.close()


async def test_a_query_has_another_worker_started_for_short_jobs() -> None:
    workers = Workers(2)
    workers.start()
    await workers.value("me", f"{CHORES}:add", 1, 1)
    assert (len(workers._links), len(workers._starting)) == (1, 0)
    long = asyncio.ensure_future(workers.run("me", f"{CHORES}:add", 1, 1, long=True))
    await asyncio.sleep(0)
    assert (len(workers._links), len(workers._starting)) == (1, 1)
    assert (await long).value == 2
    await workers.close()


async def test_the_worker_more_for_background_jobs_ends_after_a_while() -> None:
    workers = Workers(1)

    async def plan() -> None:
        job = await workers.run("me", f"{CHORES}:add", 1, 1, background="plan")
        assert job.value == 2

    async with gate() as end:
        held = asyncio.ensure_future(workers.run("me", f"{CHORES}:wait_at", end.path))
        await end.reached.wait()
        await plan()
        end.open()
        await held
    first, second = workers._links
    leap(pool.EXTRA - 1)
    await plan()
    leap(2)
    await plan()
    assert workers._links == [first, second]
    leap(pool.EXTRA)
    await until(lambda: workers._links == [first])
    await until(lambda: not workers._stopping)
    assert second.ended and await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    await workers.close()


async def test_a_job_whose_order_took_effect_has_no_time_limit() -> None:
    workers = Workers(1)
    Orders(workers)
    async with gate() as end:
        job = asyncio.ensure_future(workers.run("me", f"{CHORES}:order_and_wait", end.path))
        await end.reached.wait()
        leap(3600)
        await asyncio.sleep(0)
        end.open()
        assert (await job).value == (1, "open")
    await workers.close()


async def test_a_job_whose_worker_is_lost_after_an_order_is_done_again(tmp_path: Path) -> None:
    workers = Workers(1)
    orders = Orders(workers)
    mark = str(tmp_path / "mark")
    job = await workers.run("me", f"{CHORES}:order_and_vanish", mark)
    assert job.value == [1, 2] and orders.given == 2
    await workers.close()


async def test_an_order_that_is_under_way_when_its_worker_is_lost_is_given_once() -> None:
    workers = Workers(1)
    orders = Orders(workers)
    orders.may.clear()
    job = asyncio.ensure_future(workers.run("me", f"{CHORES}:give_order"))
    await orders.asked.wait()
    workers._links[0].close("another job took too long")
    orders.may.set()
    assert (await job).value == 1 and orders.given == 1
    await workers.close()


async def test_a_job_that_loses_every_worker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_REPEATS", 1)
    workers = Workers(1)
    orders = Orders(workers)
    with pytest.raises(JobFailed, match="ended unexpectedly"):
        await workers.run("me", f"{CHORES}:order_and_die")
    assert orders.given == 1
    await workers.close()


def test_all_calls_that_change_something_are_orders() -> None:
    reading = {
        live, contest_games, count_duels, awaited, Arena.look, Arena.past, Arena.holder, Arena.owns,
        Arena.author, participant_with, check_upload,
    }  # fmt: skip
    sources = [file.read_text() for file in Path(api.__path__[0]).rglob("*.py")]
    calls = re.findall(r"(?:await |[.(])_?call(?:_bot)?\(\s*([\w.]+)", "".join(sources))
    assert set(calls) == {"function"} | {one.__qualname__ for one in reading | ORDERS}
