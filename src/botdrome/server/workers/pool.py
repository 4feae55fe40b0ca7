"""Workers: a few processes for jobs that would hold up the event loop, shared fairly by those for whom they are done.

Theory of operation. A worker is a process with a socket to the server, started with it or when it is first needed. It does one
job at a time. Guests take turns (`turns.py`) by the processor time that their jobs have used. Short jobs go before long
ones, and one worker is always left for short jobs. A job may ask the server to do something; where that takes long, the worker
does other jobs meanwhile. A worker whose job takes too long is killed, and the next job gets a new one.
"""

import asyncio
import os
from contextlib import suppress
from itertools import count
from typing import Any

import structlog

from botdrome.server import metrics
from botdrome.server.workers import worker_link
from botdrome.server.workers.jobs import JobFailed, WorkersBusy, WorkersClosed, portable
from botdrome.server.workers.turns import Turns
from botdrome.server.workers.worker_link import Errands, Job, Link, Result

log = structlog.get_logger()

USUAL = 0.01
"""Seconds of processor time that a guest's first job is taken to need."""
LONGEST_JOB = 30.0
"""Seconds that a job may take."""
MOST_ERRANDS = 64
"""Jobs that wait for an errand that takes long."""
LAST_JOBS = 5.0
"""Seconds for running jobs when the server stops."""
_numbers = count()
"""Of jobs. No two pools of a process have the same, since a worker may be handed from one to the next."""


class Workers:
    def __init__(self, most: int = 0, longest_job: float = LONGEST_JOB) -> None:
        """`most`: how many processes there may be; 0: as many as this machine has cores, from 2 to 4."""
        self._most = most or min(4, max(2, os.cpu_count() or 1))
        self._longest = longest_job
        self._short: Turns[Job] = Turns(USUAL)
        self._long: Turns[Job] = Turns(USUAL)
        self._links: list[Link] = []
        self._hiring: set[asyncio.Task[None]] = set()
        self._dismissing: set[asyncio.Future[None]] = set()
        self._errands: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._closed = False
        self._idle = asyncio.Event()
        """Set whenever no worker has a job, once the end has come."""

    async def run(self, guest: str, target: str, *args: Any, errands: Errands | None = None, long: bool = False) -> Result:
        """Have `target`, a `module:function`, called with these arguments. A coroutine function is given its Home first."""
        if self._closed:
            raise WorkersClosed
        job = Job(next(_numbers), guest, target, args, errands or {}, long)
        (self._long if long else self._short).wait(guest, job)
        self._dispatch()
        return await job.result

    def start(self) -> None:
        """Start all processes now: that one is started may hold up a busy machine for a moment."""
        self._hire_for(self._most)

    async def value(self, guest: str, target: str, *args: Any) -> Any:
        """The same for a short job whose value is all that is wanted."""
        return (await self.run(guest, target, *args)).value

    # Who does what.

    def look(self) -> None:
        self._dispatch()
        if self._closed and not any(link.jobs for link in self._links):
            self._idle.set()

    def _dispatch(self) -> None:
        while (turns := self._next_turns()) is not None:
            link = next((link for link in self._links if not link.running), None)
            if link is None:
                return self._hire_for(len(self._short) + len(self._long))
            job = self._next_job(turns)
            if job is not None:
                self._hand_over(job, link)
        return None

    def _next_turns(self) -> Turns[Job] | None:
        if self._short:
            return self._short
        running = sum(any(link.jobs[number].long for number in link.running) for link in self._links)
        return self._long if self._long and running < max(1, self._most - 1) else None

    def _next_job(self, turns: Turns[Job]) -> Job | None:
        guest, taken, job = turns.next()
        if job.result.done():  # nobody wants to know any more
            turns.settle(guest, taken, 0.0)
            return None
        job.taken = taken
        return job

    def _hand_over(self, job: Job, link: Link) -> None:
        job.link = link
        link.jobs[job.number] = job
        self._go_on(job)
        try:
            link.say("job", job.number, job.guest, job.target, job.args)
        except Exception as problem:
            self._leave_off(job, 0.0)
            del link.jobs[job.number]
            job.end(JobFailed(f"the job cannot be sent to a worker: {problem}"))

    def _go_on(self, job: Job) -> None:
        assert job.link is not None
        job.link.running.add(job.number)
        why = f"This took more than {self._longest:g} seconds and was stopped: ask for less at once."
        job.timer = asyncio.get_running_loop().call_later(self._longest, job.link.close, why)

    def _leave_off(self, job: Job, cost: float) -> None:
        """It no longer keeps its worker busy."""
        assert job.link is not None and job.timer is not None
        job.timer.cancel()
        job.link.running.discard(job.number)
        (self._long if job.long else self._short).settle(job.guest, job.taken, cost)
        job.taken = cost

    # Processes.

    def _hire_for(self, jobs: int) -> None:
        while len(self._hiring) < min(jobs, self._most - len(self._links)):
            task = asyncio.create_task(self._hire())
            self._hiring.add(task)
            task.add_done_callback(self._end_hiring)

    def _end_hiring(self, task: asyncio.Task[None]) -> None:
        self._hiring.discard(task)
        if not task.cancelled():
            self._dispatch()

    async def _hire(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            hired = await loop.run_in_executor(None, worker_link.hire)
            link = Link(self, hired)
            await loop.create_unix_connection(lambda: link, sock=hired.connection.dup())
            if link.lost:
                self._dismiss(hired)
                raise OSError("it has ended at once")
        except OSError as problem:
            log.error("a worker process cannot be started", problem=str(problem))
            self._give_up(JobFailed(f"a worker process cannot be started: {problem}"))
            return
        self._links.append(link)
        metrics.WORKERS_STARTED.inc()
        if self._closed:
            link.close()

    def _give_up(self, problem: JobFailed) -> None:
        """All that waits has waited in vain."""
        for turns in (self._short, self._long):
            while turns:
                turns.next()[2].end(problem)

    def lose(self, link: Link) -> None:
        if link not in self._links:
            return  # see _hire
        self._links.remove(link)
        for job in link.jobs.values():
            if job.number in link.running:
                self._leave_off(job, self._longest)
            job.end(WorkersClosed() if self._closed else JobFailed(link.why))
        link.jobs.clear()
        self._dismiss(link.hired)
        self.look()

    def _dismiss(self, hired: worker_link.Hired) -> None:
        dismissing = asyncio.get_running_loop().run_in_executor(None, worker_link.dismiss, hired)
        self._dismissing.add(dismissing)
        dismissing.add_done_callback(self._dismissing.discard)

    # What workers say.

    def hear(self, link: Link, kind: str, rest: list[Any]) -> None:
        if kind == "log":
            level, fields = rest
            return getattr(log, level, log.error)(fields.pop("event", ""), **fields)  # type: ignore[no-any-return]
        job = link.jobs.get(rest[0])
        if job is None:
            return None
        if kind == "ask":
            return self._start_errand(job, *rest[1:])
        if kind == "piece":
            job.pieces.put_nowait(rest[1])
            return None
        outcome, cost, more = rest[1:]
        self._leave_off(job, cost)
        if not more:
            del link.jobs[job.number]
        job.end(outcome)
        return self.look()

    def _start_errand(self, job: Job, number: int, errand: str, args: tuple[Any, ...], waits: bool) -> None:
        if waits and self._waiting >= MOST_ERRANDS:
            assert job.link is not None
            return job.link.say("answer", number, WorkersBusy("Too many bots are being called just now."))
        if waits:
            self._waiting += 1
            self._leave_off(job, 0.0)
        task = asyncio.get_running_loop().create_task(self._answer(job, number, errand, args, waits), context=job.context)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return self._dispatch()

    async def _answer(self, job: Job, number: int, errand: str, args: tuple[Any, ...], waits: bool) -> None:
        link = job.link
        assert link is not None
        try:
            answer = await job.errands[errand](*args)
        except Exception as problem:
            answer = problem
        self._waiting -= waits
        if link in self._links:
            if waits:
                self._go_on(job)
            try:
                link.say("answer", number, portable(answer) if isinstance(answer, Exception) else answer)
            except Exception as problem:
                link.say("answer", number, JobFailed(f"the answer of {errand} cannot be sent to a worker: {problem}"))

    # The end.

    async def close(self) -> None:
        """Running jobs get a few seconds; jobs that wait for their turn fail at once."""
        self._closed = True
        self._give_up(WorkersClosed())
        self.look()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_JOBS):
                await self._idle.wait()
        if self._hiring:
            await asyncio.wait(self._hiring)
        for link in tuple(self._links):
            link.close()
        while self._links:
            await asyncio.sleep(0)
        if self._dismissing:
            await asyncio.wait(self._dismissing)
