"""Workers: a few processes for jobs that would block the event loop.

Clients share worker time fairly.

Theory of operation. A worker is a process with a socket to the server. One is started with the
server, others when they are needed; each is used once it is warm, with its modules imported and the
store open. It runs one job at a time. Clients take turns (`FairTurns`) by the processor time that
their jobs have used. Short jobs come before long ones, and one worker is always left for short
jobs. Of each kind of background work, plans of contests and evaluations of matches, one job runs at
a time, and may have a worker more, so that no query waits for it; that worker ends a minute after
the last such job.
Queries run at the server's priority, since people wait for them; background jobs and plain
functions, such as the moves of house bots, at a lower one (`at_low_priority`).

A job may call functions of the server; during a slow call the worker runs other jobs. The server
kills a worker whose job exceeds its time limit. An order is a call that changes something: a job
with an order has no limit any more. If its worker is lost, another one does it again, with the
answers that its orders got.
"""

import asyncio
import contextvars
import gc
import math
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast, get_args

import structlog

from botdrome.server import metrics
from botdrome.server.workers.jobs import (
    CLIENT,
    MOST_WAITING,
    TOO_MANY_QUERIES,
    WARM_UP,
    JobFailed,
    MessageReader,
    SharedSlots,
    WorkersBusy,
    WorkersClosed,
    frame,
    portable,
)
from botdrome.server.workers.worker import run_forked
from botdrome.store.store import Store

# The link to a worker process: start and stop it, send jobs and receive results.

log = structlog.get_logger()

ServerCall = Callable[..., Coroutine[Any, Any, Any]]
"""A function that a job calls in the server."""

MOST_REPEATS = 3
"""Times that a job is done again after its worker was lost."""

RETRY = 1.0
"""Seconds until the server tries again to start its first worker."""


class Fork:
    """A child process that is a fork of this one."""

    def __init__(self, pid: int) -> None:
        self._pid, self._ended = pid, False

    def kill(self) -> None:
        if not self._ended:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        if not self._ended:
            os.waitpid(self._pid, 0)
            self._ended = True


class WorkerProcess:
    """A worker process, and the server's end of its socket."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, connection: socket.socket) -> None:
        self.process, self.connection = process, connection
        self.idle = False
        """True if the worker had no job when the link was closed."""


def start_process() -> WorkerProcess:
    ours, theirs = socket.socketpair()
    handle = theirs.fileno()
    path = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "botdrome.server.workers.worker", str(handle)]
    with theirs:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            pass_fds=[handle],
        )
    return WorkerProcess(process, ours)


def fork_process(preload: str) -> WorkerProcess | None:
    """Start a worker that shares the memory of this process, and calls `preload` first.

    None: this process may have threads, which a fork would not have.
    """
    tasks = Path("/proc/self/task")
    if not tasks.exists() or len(list(tasks.iterdir())) > 1:
        return None
    gc.freeze()  # so that a collection does not write to the memory that both use
    ours, theirs = socket.socketpair()
    with theirs:
        pid = os.fork()
        if not pid:
            run_forked(theirs, preload)
    return WorkerProcess(Fork(pid), ours)


def stop_process(worker: WorkerProcess) -> None:
    worker.connection.close()
    worker.process.kill()
    worker.process.wait()


class Job:
    """A job and its result. Fetch the pieces of a large result, or `drop` them."""

    def __init__(
        self,
        number: int,
        client: str,
        target: str,
        args: tuple[Any, ...],
        turns: "FairTurns[Job]",
        limit: float,
    ) -> None:
        """`turns` is the queue of jobs of its kind."""
        self.number, self.client, self.target, self.args = number, client, target, args
        self.turns, self.limit = turns, limit
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.unread: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        """Pieces of the result."""
        self.context = contextvars.copy_context()
        self.charged = 0.0
        """Seconds of processor time that the job's turn was charged."""
        self.timer: asyncio.TimerHandle | None = None
        self.link: WorkerLink | None = None
        self.orders: list[asyncio.Task[Any]] = []
        """The calls that change something.

        If the worker is lost, the job is done again, but its orders are not.
        """
        self._ordered = 0
        self._repeats = 0

    def call(self, function: ServerCall, order: bool, *args: Any) -> "asyncio.Task[Any]":
        """Call a function on behalf of the client."""
        if order and self._ordered < len(self.orders):
            task = self.orders[self._ordered]
        else:
            task = asyncio.get_running_loop().create_task(function(*args), context=self.context)
            self.orders += [task] * order
        self._ordered += order
        return task

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def repeat(self) -> bool:
        """Get ready to be done again. False: there is no need, or it was done too often."""
        self.link, self._ordered, self._repeats = None, 0, self._repeats + 1
        return bool(self.orders) and not self.result.done() and self._repeats <= MOST_REPEATS

    @property
    def value(self) -> Any:
        return self.result.result()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self.unread.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                self.send("taken")
                yield piece
        finally:
            self.drop()

    def send(self, word: str) -> None:
        if self.link is not None:
            self.link.send(word, self.number)

    def drop(self) -> None:
        """Discard the pieces."""
        if self.link is not None and self.link.jobs.pop(self.number, None) is not None:
            self.send("drop")
            self.link.owner.job_ended()

    def end(self, outcome: Any) -> None:
        if not self.result.done():
            if isinstance(outcome, Exception):
                self.result.set_exception(outcome)
            else:
                self.result.set_result(outcome)
        elif isinstance(outcome, Exception):
            self.unread.put_nowait(outcome)
        else:
            self.drop()  # the request was cancelled


class WorkerLink(asyncio.Protocol):
    """The connection to one worker."""

    def __init__(self, owner: "Workers", worker: WorkerProcess) -> None:
        self.owner, self.worker = owner, worker
        self._reader = MessageReader()
        self._transport: asyncio.Transport
        self.jobs: dict[int, Job] = {}
        """Running jobs, and jobs whose pieces are still being fetched."""
        self.running: set[int] = set()
        self.ended = False
        self._first: Job | None = None
        self.why = "a worker process has ended unexpectedly: try again"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(
            asyncio.Transport, transport
        )  # uvloop's transports are not subclasses

    def data_received(self, data: bytes) -> None:
        for kind, *rest in self._reader.feed(data):
            if kind == "log":
                _log_for_worker(*rest)
            else:
                self.owner.received(self, kind, rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        if self._first is not None:
            self._first.end(JobFailed(self.why))
        self.owner.lost(self)

    async def warm_up(self, job: Job) -> None:
        """Run the first job of the process, until it is done or the process ends."""
        job.link, self._first = self, job
        if not self.ended:
            self.begin(job)
            with suppress(Exception):  # if the store is away, another job opens it
                await job.result

    def begin(self, job: Job) -> None:
        self.jobs[job.number] = job
        self.send("job", job.number, job.client, job.target, job.args)

    def send(self, *message: Any) -> None:
        if not self._transport.is_closing():
            self._transport.write(frame(*message))

    def close(self, why: str = "") -> None:
        self.why = why or self.why
        self.worker.idle = not self.jobs
        self._transport.abort()


def _log_for_worker(level: str, fields: dict[str, Any]) -> None:
    getattr(log, level, log.error)(fields.pop("event", ""), **fields)


# Fair turns: a queue in which clients share the work by cost, so that a client with many requests
# does not delay the others.
#
# Each client has its own queue, and the client with the lowest charge comes next. The cost of a
# turn is known only after it, so the turn is first charged like the client's last turn, and
# corrected afterwards. An idle client gains no credit.

T = TypeVar("T")

REMEMBERED = 1000
"""The number of clients above which those without requests or debt are forgotten."""


class ClientQueue(Generic[T]):
    """The requests of one client, and its total charge, on a clock that advances with the turns."""

    __slots__ = ("charged", "cost", "requests")

    def __init__(self, charged: float, cost: float) -> None:
        self.charged, self.cost = charged, cost
        self.requests: deque[T] = deque()


class FairTurns(Generic[T]):
    def __init__(self, first_cost: float = 0.0) -> None:
        """`first_cost` is the charge for a client's first turn."""
        self._first_cost = first_cost
        self._heap: list[tuple[float, int, str]] = []
        """A heap of the clients with requests, ordered by charge."""
        self._queues: dict[str, ClientQueue[T]] = {}
        self._now, self._order, self._waiting = 0.0, 0, 0
        self._most = REMEMBERED

    def __len__(self) -> int:
        return self._waiting

    def wait(self, client: str, request: T) -> None:
        queue = self._queues.get(client)
        if queue is None:
            queue = self._queues[client] = ClientQueue(self._now, self._first_cost)
        queue.requests.append(request)
        self._waiting += 1
        if len(queue.requests) == 1:
            self._enqueue(client, queue)

    def _enqueue(self, client: str, queue: ClientQueue[T]) -> None:
        queue.charged = max(self._now, queue.charged)
        self._order += 1
        heappush(self._heap, (queue.charged, self._order, client))

    def next(self) -> tuple[str, float, T]:
        """Return the next client, the charge for its turn, and its request."""
        since, _, client = heappop(self._heap)
        queue = self._queues[client]
        while queue.charged > since:  # the client's last turn cost more than its charge
            self._enqueue(client, queue)
            since, _, client = heappop(self._heap)
            queue = self._queues[client]
        self._now, self._waiting = since, self._waiting - 1
        request, cost = queue.requests.popleft(), queue.cost
        queue.charged = since + cost
        if queue.requests:
            self._enqueue(client, queue)
        if len(self._queues) > self._most:
            self._forget()
        return client, cost, request

    def _forget(self) -> None:
        kept = {
            client: queue
            for client, queue in self._queues.items()
            if queue.requests or queue.charged > self._now
        }
        self._queues, self._most = kept, max(REMEMBERED, 2 * len(kept))

    def settle(self, client: str, charged: float, cost: float) -> None:
        """Replace the charge of a turn by its real cost."""
        queue = self._queues.get(client)
        if queue is not None:
            queue.charged += cost - charged
            queue.cost = cost


USUAL = 0.01
"""Seconds of processor time charged for a client's first job."""
LONGEST_JOB = 30.0
"""The time limit of a job, in seconds."""
MOST_CALLS = 64
"""The largest number of jobs that wait for slow calls."""
EXTRA = 60.0
"""Seconds after the last background job for which the worker more is kept."""
LAST_JOBS = 5.0
"""The time limit of running jobs when the server stops, in seconds."""
_numbers = count()
"""Job numbers, unique over all pools of a process."""
BackgroundWork = Literal["plan", "evaluation"]


class Workers:
    def __init__(self, most: int = 0, longest_job: float = LONGEST_JOB) -> None:
        """`most` is the largest number of processes; 0 means one per core, but 2 to 4."""
        self._most = most or min(4, max(2, os.cpu_count() or 1))
        self._longest = longest_job
        self._short: FairTurns[Job] = FairTurns(USUAL)
        self._long: FairTurns[Job] = FairTurns(USUAL)
        self._background: dict[BackgroundWork, FairTurns[Job]] = {
            kind: FairTurns(USUAL) for kind in get_args(BackgroundWork)
        }
        self._links: list[WorkerLink] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._stopping: set[asyncio.Future[None]] = set()
        self._calls: set[asyncio.Task[None]] = set()
        self._slow_calls = 0
        self._slots = SharedSlots(MOST_WAITING)
        self.server: Any = None
        """The first argument of the functions that jobs call."""
        self.orders: Collection[ServerCall] = ()
        """Those that change something."""
        self._warm_up: tuple[str, tuple[Any, ...]] = WARM_UP, ()
        self.keeps_warm = self._warm = self._closed = False
        self.on_warm: Callable[[], None] = lambda: None
        self._given: WorkerProcess | None = None
        self._extra: asyncio.TimerHandle | None = None
        """Ends the worker more that a background job had."""
        self._warming, self._idle = set[WorkerLink](), asyncio.Event()
        """Set when the pool is closed and no worker has a job."""

    def start(
        self, warm_up: str = WARM_UP, *args: Any, process: WorkerProcess | None = None
    ) -> None:
        """Start one process now, or use the one that is given, and keep one from now on.

        `warm_up` is the first job of each process.
        """
        self._warm_up, self.keeps_warm, self._given = (warm_up, args), True, process
        self._start_for(1)

    @property
    def warm(self) -> bool:
        """Whether the first process has become warm, if one was started ahead."""
        return self._warm or not self.keeps_warm

    async def read(self, store: Store, target: str, *args: Any) -> Job:
        """Run a long job for the client of this request.

        Its first argument is the store's source, with all data so far.
        """
        client = CLIENT.get().source
        with self._slots.held(client, TOO_MANY_QUERIES):
            await store.journal.settled()
            return await self.run(client, target, store.source, *args, long=True)

    async def run(
        self,
        client: str,
        target: str,
        *args: Any,
        long: bool = False,
        background: BackgroundWork | None = None,
        limit: float = 0,
    ) -> Job:
        """Call `target`, a `module:function`, with these arguments.

        A coroutine function also gets a ServerCaller, first. Another runs at low priority.

        `background`: nobody waits for the job. `limit` is the time limit in seconds; 0: the usual
        one.
        """
        if self._closed:
            raise WorkersClosed
        turns = self._long if long else self._short
        if background is not None:
            turns = self._background[background]
        job = Job(next(_numbers), client, target, args, turns, limit or self._longest)
        turns.wait(client, job)
        self._dispatch()
        await job.result
        return job

    async def value(self, client: str, target: str, *args: Any) -> Any:
        """Run a short job and return its value."""
        return (await self.run(client, target, *args)).value

    # Jobs.

    def job_ended(self) -> None:
        self._dispatch()
        if self._closed and not any(link.jobs for link in self._links):
            self._idle.set()

    def _dispatch(self) -> None:
        while (turns := self._next_turns()) is not None:
            link = next((link for link in self._links if not link.running), None)
            if link is None:
                return self._start_for(sum(map(len, self._all_turns)))
            job = self._next_job(turns)
            if job is not None:
                self._hand_over(job, link)
        return None

    def _next_turns(self) -> FairTurns[Job] | None:
        if self._short:
            return self._short
        if self._long and self._running(self._long) < max(1, self._most - 1):
            return self._long
        waiting = (turns for turns in self._background.values() if turns)
        return next((turns for turns in waiting if not self._running(turns)), None)

    @property
    def _all_turns(self) -> tuple[FairTurns[Job], ...]:
        return self._short, self._long, *self._background.values()

    @property
    def _in_background(self) -> int:
        """Return the number of kinds of background work that run or wait."""
        return sum(bool(turns or self._running(turns)) for turns in self._background.values())

    def _running(self, turns: FairTurns[Job]) -> int:
        """Return the number of workers that run jobs of a kind."""
        return sum(
            any(link.jobs[number].turns is turns for number in link.running) for link in self._links
        )

    def _next_job(self, turns: FairTurns[Job]) -> Job | None:
        client, charged, job = turns.next()
        if job.result.done():  # the request was cancelled
            turns.settle(client, charged, 0.0)
            return None
        job.charged = charged
        return job

    def _hand_over(self, job: Job, link: WorkerLink) -> None:
        self._resume(job, link)
        if (
            job.turns is not self._short
            and self.keeps_warm
            and all(one.running for one in self._links)
        ):
            self._start_for(1)  # for short jobs
        try:
            link.begin(job)
        except Exception as problem:
            self._leave_off(job, 0.0)
            del link.jobs[job.number]
            job.end(JobFailed(f"the job cannot be sent to a worker: {problem}"))

    def _resume(self, job: Job, link: WorkerLink) -> None:
        job.link, link.jobs[job.number] = link, job
        link.running.add(job.number)
        if not job.orders:
            why = (
                f"This took more than {job.limit:g} seconds and was stopped: ask for less at once."
            )
            job.timer = asyncio.get_running_loop().call_later(job.limit, link.close, why)

    def _leave_off(self, job: Job, cost: float) -> None:
        """Mark the job as no longer running on its worker, and settle its cost."""
        assert job.link is not None
        job.stop_timer()
        job.link.running.discard(job.number)
        job.turns.settle(job.client, job.charged, cost)
        job.charged = cost
        if job.turns in self._background.values():
            self._keep_extra()

    # Processes.

    def _start_for(self, jobs: int) -> None:
        most = self._most + self._in_background
        while len(self._starting) < min(jobs, most - len(self._links)):
            task = asyncio.create_task(self._start_worker())
            self._starting.add(task)
            task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled():
            self._keep_extra()
            self._dispatch()

    async def _start_worker(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            worker, self._given = self._given, None
            if worker is None:
                worker = await loop.run_in_executor(None, start_process)
            link = WorkerLink(self, worker)
            await loop.create_unix_connection(lambda: link, sock=worker.connection.dup())
            self._warming.add(link)
            if not self._closed:
                await link.warm_up(Job(next(_numbers), "", *self._warm_up, self._short, math.inf))
            self._warming.discard(link)
            if link.ended:
                self._stop_worker(worker)
                raise OSError("it has ended at once")
        except OSError as problem:
            if not self._closed:
                log.error("a worker process cannot be started", problem=str(problem))
                self._fail_all(JobFailed(f"a worker process cannot be started: {problem}"))
                loop.call_later(RETRY, self._keep_warm)
            return
        self._links.append(link)
        self._warm = True
        self.on_warm()
        metrics.WORKERS_STARTED.inc()
        if self._closed:
            link.close()

    def _keep_extra(self) -> None:
        """Keep a worker more than usual for a while, and then end one."""
        if self._extra is not None:
            self._extra.cancel()
        more = len(self._links) > self._most and not self._closed
        loop = asyncio.get_running_loop()
        self._extra = loop.call_later(EXTRA, self._end_extra) if more else None

    def _end_extra(self) -> None:
        if len(self._links) <= self._most:
            return None
        idle = [link for link in self._links if not link.jobs]
        if idle and not self._in_background:
            self._links.remove(idle[-1])  # now: it must not get a job
            idle[-1].close()
            self._stop_worker(idle[-1].worker)
        return self._keep_extra()

    def _keep_warm(self) -> None:
        if self.keeps_warm and not self._closed and not self._links:
            self._start_for(1)

    def _fail_all(self, problem: JobFailed) -> None:
        """Fail all waiting jobs."""
        for turns in self._all_turns:
            while turns:
                turns.next()[2].end(problem)

    def lost(self, link: WorkerLink) -> None:
        if link not in self._links:
            return  # _start_worker handles a link that ends at once
        self._links.remove(link)
        for job in link.jobs.values():
            if job.number in link.running:
                self._leave_off(job, job.limit)
            if not self._closed and job.repeat():
                job.turns.wait(job.client, job)
            else:
                job.end(WorkersClosed() if self._closed else JobFailed(link.why))
        link.jobs.clear()
        self._stop_worker(link.worker)
        self._keep_warm()
        self.job_ended()

    def _stop_worker(self, worker: WorkerProcess) -> None:
        stopping = asyncio.get_running_loop().run_in_executor(None, stop_process, worker)
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    # Messages from workers.

    def received(self, link: WorkerLink, kind: str, rest: list[Any]) -> None:
        job = link.jobs.get(rest[0])
        if job is None:
            return None
        if kind == "call":
            return self._start_call(job, *rest[1:])
        if kind == "piece":
            job.unread.put_nowait(rest[1])
            return None
        outcome, cost, more = rest[1:]
        self._leave_off(job, cost)
        if not more:
            del link.jobs[job.number]
        job.end(outcome)
        return self.job_ended()

    def _start_call(
        self, job: Job, number: int, function: ServerCall, args: tuple[Any, ...], waits: bool
    ) -> None:
        if waits and self._slow_calls >= MOST_CALLS:
            assert job.link is not None
            return job.link.send(
                "answer", number, WorkersBusy("Too many bots are being called just now.")
            )
        if waits:
            self._slow_calls += 1
            self._leave_off(job, 0.0)
        called = job.call(function, function in self.orders, self.server, *args)
        if job.orders:
            job.stop_timer()
        task = asyncio.get_running_loop().create_task(
            self._answer(job, number, function.__name__, called, waits)
        )
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return self._dispatch()

    async def _answer(
        self, job: Job, number: int, name: str, called: asyncio.Task[Any], waits: bool
    ) -> None:
        link = job.link
        assert link is not None
        try:
            answer = await called
        except Exception as problem:
            answer = problem
        self._slow_calls -= waits
        if link in self._links:
            if waits:
                self._resume(job, link)
            try:
                link.send(
                    "answer", number, portable(answer) if isinstance(answer, Exception) else answer
                )
            except Exception as problem:
                link.send(
                    "answer",
                    number,
                    JobFailed(f"the answer of {name} cannot be sent to a worker: {problem}"),
                )

    # The end.

    async def close(self) -> None:
        """Stop the workers. Running jobs have 5 s to finish; waiting jobs fail at once."""
        self._closed = True
        self._keep_extra()
        self._fail_all(WorkersClosed())
        for link in tuple(self._warming):
            link.close()
        self.job_ended()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_JOBS):
                await self._idle.wait()
        if self._starting:
            await asyncio.wait(self._starting)
        for link in tuple(self._links):
            link.close()
        while self._links:
            await asyncio.sleep(0)
        if self._stopping:
            await asyncio.wait(self._stopping)
