"""Worker processes: jobs, calls, fair turns, and failing workers."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.server.workers import pool
from botdrome.server.workers.jobs import CLIENT, JobFailed, WorkersBusy, WorkersClosed, set_source
from botdrome.server.workers.pool import WorkerProcess, Workers, fork_process
from tests.patience import until
from tests.server.workers.gates import gate

pytestmark = pytest.mark.anyio

CHORES = "tests.server.workers.chores"


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    workers = Workers(2)
    yield workers
    await workers.close()


async def test_a_job_is_done_in_a_process_of_its_own(workers: Workers) -> None:
    assert await workers.value("me", f"{CHORES}:add", 2, 3) == 5
    assert await workers.value("me", f"{CHORES}:process") != os.getpid()


async def test_a_query_has_the_priority_of_the_server_and_a_plain_function_a_lower_one() -> None:
    workers, ours = Workers(1), os.getpriority(os.PRIO_PROCESS, 0)
    assert await workers.value("me", f"{CHORES}:priority") >= min(19, ours + 1)
    assert await workers.value("me", f"{CHORES}:query_priority") == ours
    await workers.close()


async def test_a_job_that_fails_says_why_and_the_worker_goes_on(workers: Workers) -> None:
    with pytest.raises(ValueError, match="the oven is cold"):
        await workers.value("me", f"{CHORES}:fail", "the oven is cold")
    with pytest.raises(Exception, match="pickle"):
        await workers.value("me", f"{CHORES}:unsendable")
    with pytest.raises(JobFailed, match="cannot be sent"):
        await workers.value("me", f"{CHORES}:add", lambda: None)
    with pytest.raises(JobFailed, match="more memory"):
        await workers.value("me", f"{CHORES}:hoard", 2 << 30)
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2


async def test_a_job_that_takes_too_long_is_stopped_and_its_client_is_told() -> None:
    workers = Workers(1, longest_job=0.2)
    with pytest.raises(JobFailed, match=r"took more than 0\.2 seconds and was stopped"):
        await workers.value("me", f"{CHORES}:for_ever")
    workers._longest = 60
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2, "there is a new worker"
    await workers.close()


async def test_a_worker_that_dies_takes_its_job_with_it_and_no_other(workers: Workers) -> None:
    with pytest.raises(JobFailed, match="ended unexpectedly"):
        await workers.value("me", f"{CHORES}:vanish")
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2


async def test_a_large_result_comes_in_pieces_and_no_faster_than_it_is_taken(
    workers: Workers,
) -> None:
    result = await workers.run("me", f"{CHORES}:large", 50, 10_000)
    assert result.value == "head"
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2, "the worker is free"
    assert result.unread.qsize() <= 4
    pieces = [piece async for piece in result.pieces()]
    assert [piece[0] for piece in pieces] == list(range(50))
    other = await workers.run("me", f"{CHORES}:large", 50, 10_000)
    other.drop()
    assert not any(link.jobs for link in workers._links)


async def test_too_many_large_results_are_refused(workers: Workers) -> None:
    with pytest.raises(WorkersBusy):
        await workers.run("me", f"{CHORES}:large", 3, 100 << 20)


async def test_a_job_has_the_server_make_calls_on_behalf_of_whom_it_is_for(
    workers: Workers,
) -> None:
    async def whom(word: str) -> str:
        return f"{word} {CLIENT.get().source}"

    async def broken() -> None:
        raise LookupError("no such thing")

    workers.server = {"whom": whom, "broken": broken}
    set_source("10.0.0.1")
    assert (await workers.run("me", f"{CHORES}:ask", "whom", "for")).value == "for 10.0.0.1"
    with pytest.raises(LookupError, match="no such thing"):
        await workers.run("me", f"{CHORES}:ask", "broken")


async def test_an_answer_that_cannot_be_sent_or_read_ends_the_job(workers: Workers) -> None:
    async def unsendable() -> object:
        return lambda: None

    async def stopping() -> None:
        raise WorkersClosed

    async def unreadable() -> None:
        raise Unreadable("needs", "two words")

    workers.server = {"unsendable": unsendable, "stopping": stopping, "unreadable": unreadable}
    with pytest.raises(JobFailed, match="the answer of run_named cannot be sent"):
        await workers.run("me", f"{CHORES}:ask", "unsendable")
    with pytest.raises(WorkersClosed, match="The server is stopping"):
        await workers.run("me", f"{CHORES}:ask", "stopping")
    with pytest.raises(JobFailed, match="Unreadable: needs two words"):
        await workers.run("me", f"{CHORES}:ask", "unreadable")


class Unreadable(Exception):
    """Pickle can write it but not read it."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


async def test_a_job_that_waits_for_a_slow_call_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers, called, answered = Workers(1), asyncio.Event(), asyncio.Event()
    monkeypatch.setattr(pool, "MOST_CALLS", 1)

    async def phone() -> str:
        called.set()
        await answered.wait()
        return "hello"

    workers.server = {"phone": phone}
    first = asyncio.ensure_future(workers.run("me", f"{CHORES}:call", "phone"))
    await called.wait()
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    with pytest.raises(WorkersBusy, match="Too many bots are being called"):
        await workers.run("me", f"{CHORES}:call", "phone")
    answered.set()
    assert (await first).value == "hello"
    await workers.close()


class Held:
    """An transfer that goes on until it is told not to."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> str:
        self.asked.set()
        await self.go_on.wait()
        return "done"


async def test_one_worker_is_left_for_short_jobs(workers: Workers) -> None:
    first, second = Held(), Held()
    workers.server = {"first": first, "second": second}
    long = [
        asyncio.ensure_future(workers.run("me", f"{CHORES}:ask", name, long=True))
        for name in workers.server
    ]
    await first.asked.wait()
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    assert not second.asked.is_set()
    first.go_on.set()
    second.go_on.set()
    assert [(await one).value for one in long] == ["done", "done"]


async def test_no_job_waits_for_work_that_another_has_left_behind() -> None:
    workers = Workers(1)
    async with gate() as end:
        await workers.run("me", f"{CHORES}:work_on", end.path)
        await end.reached.wait()
        assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    await workers.close()


async def test_no_query_waits_for_a_background_job(workers: Workers) -> None:
    first, second = Held(), Held()
    workers.server = {"first": first, "second": second}
    plans = [
        asyncio.ensure_future(workers.run("me", f"{CHORES}:ask", name, background="plan"))
        for name in workers.server
    ]
    await first.asked.wait()
    query = await workers.run("me", f"{CHORES}:query_priority", long=True)
    assert query.value == os.getpriority(os.PRIO_PROCESS, 0)
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    assert not second.asked.is_set(), "one plan is made at a time"
    first.go_on.set()
    second.go_on.set()
    assert [(await one).value for one in plans] == ["done", "done"]


async def test_plans_of_contests_do_not_wait_for_evaluations(workers: Workers) -> None:
    held = [Held() for _ in range(4)]
    workers.server = dict(zip(("query", "move", "evaluation", "plan"), held, strict=True))
    jobs = [
        asyncio.ensure_future(workers.run("me", f"{CHORES}:ask", name, **words))
        for name, words in (
            ("query", {"long": True}),
            ("move", {}),
            ("evaluation", {"background": "evaluation"}),
            ("plan", {"background": "plan"}),
        )
    ]
    for one in held:
        await one.asked.wait()
    for one in held:
        one.go_on.set()
    assert [(await one).value for one in jobs] == ["done"] * 4


async def test_a_background_job_may_have_a_worker_more(workers: Workers) -> None:
    held = [Held() for _ in range(3)]
    workers.server = dict(zip(("query", "move", "plan"), held, strict=True))
    jobs = [
        asyncio.ensure_future(workers.run("me", f"{CHORES}:ask", name, **words))
        for name, words in (
            ("query", {"long": True}),
            ("move", {}),
            ("plan", {"background": "plan"}),
        )
    ]
    for one in held:
        await one.asked.wait()
    for one in held:
        one.go_on.set()
    assert [(await one).value for one in jobs] == ["done"] * 3


async def test_guests_take_turns_by_the_time_that_their_jobs_have_used() -> None:
    workers, held, done = Workers(1), Held(), list[str]()

    async def note(guest: str) -> None:
        await workers.value(guest, f"{CHORES}:add", 1, 1)
        done.append(guest)

    for guest, seconds in (("greedy", 0.2), ("modest", 0.0)):
        await workers.value(guest, f"{CHORES}:spin", seconds)
    workers.server = {"held": held}
    holding = asyncio.ensure_future(workers.run("held", f"{CHORES}:ask", "held"))
    await held.asked.wait()
    waiting = [asyncio.ensure_future(note(guest)) for guest in ("greedy", "greedy", "modest")]
    await asyncio.sleep(0)
    held.go_on.set()
    await asyncio.gather(holding, *waiting)
    assert done == ["modest", "greedy", "greedy"]
    await workers.close()


async def test_jobs_that_nobody_wants_any_more_are_not_begun(workers: Workers) -> None:
    unwanted = asyncio.ensure_future(workers.value("me", f"{CHORES}:vanish"))
    await asyncio.sleep(0)
    unwanted.cancel()
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2
    assert len(workers._links) >= 1


async def test_when_the_server_stops_waiting_jobs_fail_and_running_ones_end() -> None:
    workers, called, answered = Workers(1), asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        called.set()
        await answered.wait()
        return "in time"

    workers.server = {"wait": wait}
    running = asyncio.ensure_future(workers.run("me", f"{CHORES}:ask", "wait"))
    await called.wait()
    waiting = asyncio.ensure_future(workers.value("me", f"{CHORES}:add", 1, 1))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(workers.close())
    with pytest.raises(WorkersClosed):
        await waiting
    answered.set()
    assert (await running).value == "in time"
    await closing
    with pytest.raises(WorkersClosed):
        await workers.value("me", f"{CHORES}:add", 1, 1)


async def test_a_job_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LAST_JOBS", 0)
    workers = Workers(1)
    running = asyncio.ensure_future(workers.value("me", f"{CHORES}:for_ever"))
    await until(lambda: any(link.running for link in workers._links))
    await workers.close()
    with pytest.raises(WorkersClosed):
        await running


async def test_a_worker_that_cannot_be_started_is_reported(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broke() -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("botdrome.server.workers.pool.start_process", broke)
    with capture_logs() as logs, pytest.raises(JobFailed, match="no more processes"):
        await workers.value("me", f"{CHORES}:add", 1, 1)
    assert logs[0]["log_level"] == "error"


async def test_a_worker_that_dies_before_its_first_job_ends_that_job(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start() -> WorkerProcess:
        ours, theirs = socket.socketpair()
        theirs.close()
        return WorkerProcess(subprocess.Popen([sys.executable, "-c", ""]), ours)

    loop = asyncio.get_running_loop()
    connect = loop.create_unix_connection

    async def connect_slowly(*args: Any, **words: Any) -> Any:
        connected = await connect(*args, **words)
        for _ in range(9):
            await asyncio.sleep(0)
        return connected

    with monkeypatch.context() as patched:
        patched.setattr(pool, "start_process", start)
        patched.setattr(loop, "create_unix_connection", connect_slowly)
        with pytest.raises(JobFailed, match="cannot be started: it has ended at once"):
            await workers.value("me", f"{CHORES}:add", 1, 1)
    assert await workers.value("me", f"{CHORES}:add", 1, 1) == 2


SERVER = """
import asyncio
from botdrome.server.workers.pool import Workers, fork_process
CHORES = "tests.server.workers.chores"
async def main(process):
    workers = Workers(1)
    workers.start(f"{CHORES}:add", 1, 1, process=process)
    print(await workers.value("me", f"{CHORES}:process"), flush=True)
    WAIT
asyncio.run(main(PROCESS))
"""
FORKED = "fork_process(f'{CHORES}:leave_a_mark')"


def small_server(process: str, then: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SERVER.replace("PROCESS", process).replace("WAIT", then)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker is forked")
def test_a_server_may_fork_its_first_worker() -> None:
    """It dies as usual, and another worker follows it."""
    then = """
    print(await workers.value("me", f"{CHORES}:left_a_mark"), process is not None)
    try:
        await workers.value("me", f"{CHORES}:vanish")
    except Exception as problem:
        print(problem)
    print(await workers.value("me", f"{CHORES}:left_a_mark"))
    print(await workers.value("me", f"{CHORES}:process"))
    await workers.close()
    print("closed")
"""
    with small_server(FORKED, then) as server:
        assert server.stdout is not None
        first, *lines, second, closed = server.stdout.read().splitlines()
    assert lines == [
        "True True",
        "a worker process has ended unexpectedly: try again",
        "False",
    ]
    assert first != second and closed == "closed" and server.returncode == 0


def test_a_process_with_threads_is_not_forked() -> None:
    stop = Event()
    thread = Thread(target=stop.wait)
    thread.start()
    try:
        assert fork_process(f"{CHORES}:leave_a_mark") is None
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("process", ["None", FORKED])
def test_workers_die_with_a_server_that_is_killed(process: str) -> None:
    with small_server(process, 'await workers.value("me", f"{CHORES}:for_ever")') as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.send_signal(signal.SIGKILL)
    while True:
        try:
            os.kill(worker, 0)
            if Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return  # nobody has looked after it, but it is dead
        except (ProcessLookupError, FileNotFoundError):
            return
