"""A pool of workers on many machines: a Dask cluster, as an executor of batches of matches.

Dask plays a batch again elsewhere if its worker dies, and tells each result once. A batch whose
workers died several times is divided. A single match is a suspect then: it is played once more
while no other match is, and if that kills workers again, it is told as unplayed.
"""

import asyncio
import logging
import os
import pickle
import pkgutil
import platform
import queue
import re
import select
import signal
import struct
import subprocess
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic, time
from typing import IO, Any, NamedTuple, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from botdrome import __version__
from botdrome.client.program import CannotStart, check_sandbox
from botdrome.contest.formats.format import ContestFixture
from botdrome.contest.schedule import Fixture
from botdrome.offline.batches import BATCH_SECONDS, LARGEST_BATCH, PoolTrouble, in_batches, timed
from botdrome.offline.bot_parcel import HERE, MINOR, ROOT, BotParcel, pack
from botdrome.offline.contest_players import PlayedFixture, play_portion
from botdrome.offline.isolation import OWN_VARIABLES, close_idle, python_path
from botdrome.offline.seats import is_python, load_fault
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, check_plan, play_fixture

# A process that plays matches for a worker of a cluster.
#
# Workers play in threads, and a bot may end the process that it plays in. So each thread of a
# worker has a host: a process with a main thread, which time limits need, with a current folder
# for the bots, and that may die alone. It reads batches from standard input and writes results to
# standard output. It ends with the worker, and when it is idle.

IDLE = 60.0
"""Seconds without work after which a host ends, with the processes of its bots."""
LENGTH = struct.Struct(">Q")

AnyFixture = Fixture | ContestFixture


class PlayedMatch(Struct, frozen=True):
    """The outcome of a match of a tournament, and its files if they are to be saved."""

    outcome: MatchOutcome
    files: dict[str, bytes]


class BatchHost:
    """Plays the matches of one parcel."""

    def __init__(self, root: Path, parcel: BotParcel) -> None:
        self._root, self._parcel, self._plan = root, parcel, parcel.plan_in(root)
        self._unloaded = {entrant.replace(ROOT, str(root)) for entrant in parcel.sound}
        """Bots that the sender could load, and that were not loaded here yet."""
        if self._plan.isolation.sandbox:
            check_sandbox()

    def play(self, fixture: AnyFixture) -> PlayedMatch | PlayedFixture:
        """Raise CannotStart if a bot cannot play here, although it can where the tournament was
        started.
        """
        for number in fixture.entrants:
            self._load(self._plan.entrants[number])
        if isinstance(fixture, Fixture):
            return self._match(fixture)
        (played,) = play_portion(self._plan, [fixture])
        if played.absent:
            raise CannotStart("; ".join(played.absent.values()))
        return played

    def _load(self, entrant: str) -> None:
        if entrant in self._unloaded:
            self._unloaded.remove(entrant)
            if fault := load_fault(entrant, self._plan.isolation):
                told = self._parcel.as_at_home(fault.removeprefix(f"{entrant}: "), self._root)
                raise CannotStart(
                    f"{Path(entrant).name} can be loaded where you started it, but not here: {told}"
                )

    def _match(self, fixture: Fixture) -> PlayedMatch:
        if not self._plan.save:
            return PlayedMatch(self._as_at_home(play_fixture(self._plan, fixture)), {})
        with TemporaryDirectory() as folder:
            outcome = play_fixture(replace(self._plan, save=folder), fixture)
            files = {file.name: self._file(file) for file in Path(folder).iterdir()}
        return PlayedMatch(self._as_at_home(replace(outcome, file=Path(outcome.file).name)), files)

    def _file(self, file: Path) -> bytes:
        data = file.read_bytes()
        return data if file.suffix == ".jsonl" else self._home(data.decode()).encode()

    def _as_at_home(self, outcome: MatchOutcome) -> MatchOutcome:
        if not (outcome.faults or outcome.logs):
            return outcome
        faults, logs = (
            {seat: self._home(text) for seat, text in texts.items()}
            for texts in (outcome.faults, outcome.logs)
        )
        return replace(
            outcome, faults=faults, logs=logs, headlines=tuple(map(self._home, outcome.headlines))
        )

    def _home(self, text: str) -> str:
        return self._parcel.as_at_home(text, self._root)


def send(to: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    to.write(LENGTH.pack(len(data)) + data)
    to.flush()


def receive(source: IO[bytes]) -> Any:
    """Raise EOFError if the other side has ended."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def _listen(source: IO[bytes], tasks: "queue.SimpleQueue[Any]") -> None:
    try:
        while True:
            tasks.put(receive(source))
    except EOFError:
        os._exit(1)  # the guards of the bots end them


def _serve(tasks: "queue.SimpleQueue[Any]", answers: IO[bytes]) -> None:
    host: BatchHost | None = None
    while True:
        try:
            task = tasks.get(timeout=IDLE)
        except queue.Empty:
            return
        try:
            if host is None:
                host = BatchHost(*task)
                continue
            told: tuple[str, Any] = (
                "results",
                pickle.dumps([host.play(fixture) for fixture in task]),
            )
        except CannotStart as problem:
            told = ("problem", str(problem))
        except Exception:
            told = ("problem", traceback.format_exc())
        send(answers, told)


def main() -> NoReturn:
    """Standard input and output are for the worker alone; what is printed here goes to standard
    error, its log.
    """
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, tasks), daemon=True).start()
    _serve(tasks, answers)
    close_idle()
    sys.stdout.flush()
    os._exit(0)


# What a worker of a cluster runs: batches of matches, each thread in a host of its own.

TRIES = 3
"""How often a match is played whose host dies."""

LOOK = 1.0
"""Seconds between two looks whether a batch is cancelled."""


class WorkerRefusal(Exception):
    """A worker cannot play, and another try would not help; the text says what to do."""


class HostDied(Exception):
    """The text says how."""


class UnplayedMatch(Struct, frozen=True):
    """A match that cannot be played, because it ends the processes that play it."""

    fixture: AnyFixture
    why: str


class HostProcess:
    def __init__(self, root: Path, parcel: BotParcel) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from botdrome.offline.dask_pool import main; main()"],
            cwd=root / HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | OWN_VARIABLES | python_path(),
        )
        self.checksum = parcel.checksum
        send(self._pipe("stdin"), (root, replace(parcel, files=b"")))

    def _pipe(self, name: str) -> Any:
        return getattr(self._process, name)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def play(self, fixtures: Sequence[AnyFixture]) -> bytes:
        """Return the results as the host has pickled them.

        Raise HostDied if the process ends, and WorkerRefusal if a bot cannot play here, or the
        batch is cancelled.
        """
        try:
            send(self._pipe("stdin"), fixtures)
            while not select.select([self._pipe("stdout")], [], [], LOOK)[0]:
                if not _wanted():
                    self.close()
                    raise WorkerRefusal("the batch was cancelled")
            kind, value = receive(self._pipe("stdout"))
        except (EOFError, OSError):
            raise HostDied(self._end()) from None
        if kind == "problem":
            self.close()
            raise WorkerRefusal(value)
        return bytes(value)

    def _end(self) -> str:
        self.close()
        status = self._process.returncode
        how = (
            f"was ended by {signal.Signals(-status).name}"
            if status < 0
            else f"ended with status {status}"
        )
        return f"the process that played it {how}"

    def close(self) -> None:
        with suppress(OSError):
            self._pipe("stdin").close()
        self._process.wait()
        self._pipe("stdout").close()


_of_thread = threading.local()


def play_batch(parcel: BotParcel, fixtures: Sequence[AnyFixture]) -> tuple[list[bytes], float]:
    """Return for each fixture a match that was played, or an UnplayedMatch, in pickled lists; and
    the mean seconds per match.
    """
    worker = _this_worker()
    if (parcel.version, parcel.python) != (__version__, MINOR):
        told = (
            f"Botdrome {__version__} and Python {MINOR}, not {parcel.version} and {parcel.python}"
        )
        raise WorkerRefusal(
            f"the worker {worker.address} has {told}; install the same versions on each machine"
        )
    root = parcel.unpacked(Path(worker.local_directory))
    try:
        return timed(partial(_played, root, parcel), fixtures)
    except WorkerRefusal as refusal:
        raise WorkerRefusal(f"the worker {worker.address} cannot play: {refusal}") from None


def _wanted() -> bool:
    """Whether the batch of this thread is not cancelled."""
    worker = _this_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state != "cancelled"


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _played(root: Path, parcel: BotParcel, fixtures: Sequence[AnyFixture]) -> list[bytes]:
    try:
        return [_host(root, parcel).play(fixtures)]
    except HostDied as died:
        if len(fixtures) > 1:
            return [chunk for fixture in fixtures for chunk in _played(root, parcel, [fixture])]
        return [_played_again(root, parcel, fixtures[0], str(died))]


def _played_again(root: Path, parcel: BotParcel, fixture: AnyFixture, why: str) -> bytes:
    for _ in range(1, TRIES):
        try:
            return _host(root, parcel).play([fixture])
        except HostDied as died:
            why = str(died)
    return pickle.dumps([UnplayedMatch(fixture, f"{why}, {TRIES} times")])


def _host(root: Path, parcel: BotParcel) -> HostProcess:
    host: HostProcess | None = getattr(_of_thread, "host", None)
    if host is not None and not (host.alive and host.checksum == parcel.checksum):
        host.close()
        host = None
    if host is None:
        host = _of_thread.host = HostProcess(root, parcel)
    return host


NO_DASK = "--dask needs distributed: pip install 'botdrome[dask]'"
CONNECT = 10.0
"""Seconds in which the scheduler must answer, also after a lost connection."""
JOIN = 30.0
"""Seconds in which the first worker must join the scheduler."""
WATCH = 1.0
"""Seconds between two looks at the cluster."""
PATIENCE = 10.0
"""Seconds without any worker until that is told."""
ADDRESS = re.compile(r"[a-z]+://.+:\d+")


class DaskExecutor(Executor):
    """Works on batches on the workers of a cluster, each with the same parcel, which is sent once
    to each worker.
    """

    def __init__(self, client: Any, address: str, parcel: Any) -> None:
        """`parcel` is a Dask future."""
        self._client, self._address, self._parcel = client, address, parcel
        self._name, self._keys = f"botdrome-{os.urandom(8).hex()}", count()
        self._open: set[Future[Any]] = set()
        self._tasks: set[Any] = set()
        self._waiting: deque[_Part] = deque()
        self._suspects: deque[_Part] = deque()
        """Single matches on workers that died. Each is played again while no other match is."""
        self._in_flight, self._alone = 0, False
        self._lock = Lock()
        self._threads = 1

    def workers(self) -> int:
        """Return the number of matches that can be played at once.

        It changes as workers come and go.
        """
        return self._threads

    def submit(self, work: Callable[..., Any], batch: Sequence[Any], /) -> Future[Any]:  # type: ignore[override]
        """Call `work(parcel, batch)` on a worker. It returns pickled lists with a result for each
        item, and the seconds per item. The future has one list, and the seconds.
        """
        whole = _Batch(work, len(batch))
        with self._lock:
            self._open.add(whole.future)
            self._waiting.append(_Part(whole, 0, batch))
        whole.future.add_done_callback(self._forget)
        self._go_on()
        return whole.future

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._open.discard(future)

    def _go_on(self) -> None:
        """Send what waits; if there is nothing, and nothing is being played, the next suspect."""
        with self._lock:
            ready = list(self._waiting) if not self._alone else []
            if ready:
                self._waiting.clear()
            elif self._suspects and not self._in_flight:
                ready, self._alone = [self._suspects.popleft()], True
            self._in_flight += len(ready)
        for part in ready:
            task = self._client.submit(
                part.whole.work, self._parcel, part.items, key=f"{self._name}-{next(self._keys)}"
            )
            self._tasks.add(task)
            task.add_done_callback(partial(self._done, part))

    def _done(self, part: "_Part", task: Any) -> None:
        self._tasks.discard(task)
        killed = 0
        try:
            chunks, each = task.result()
            part.whole.add(
                part.first, [result for chunk in chunks for result in pickle.loads(chunk)], each
            )
        except BaseException as problem:
            if type(problem).__name__ == "KilledWorker":
                killed = problem.args[2] + 1
            else:
                part.whole.fail(self._explained(problem))
        if killed:
            self._play_again(part, killed)
        with self._lock:
            self._in_flight -= 1
            self._alone = self._alone and not part.deaths
        self._go_on()

    def _play_again(self, part: "_Part", deaths: int) -> None:
        """Divide what was on workers that died.

        A single match gets another try alone, since it may not be the one that kills.
        """
        whole, first, items = part.whole, part.first, part.items
        if half := len(items) // 2:
            self._waiting += (
                _Part(whole, first, items[:half]),
                _Part(whole, first + half, items[half:]),
            )
        elif not part.deaths:
            self._suspects.append(_Part(whole, first, items, deaths))
        else:
            why = f"all workers that played it died, {part.deaths + deaths} in a row"
            whole.add(first, [UnplayedMatch(items[0], why)], 1.0)

    def _explained(self, problem: BaseException) -> PoolTrouble:
        if isinstance(problem, WorkerRefusal):
            return PoolTrouble(str(problem))
        if type(problem).__name__ in ("CancelledError", "FutureCancelledError"):
            return self._lost()
        try:
            check_workers(self._client)  # a worker may have joined that has another version
        except PoolTrouble as trouble:
            return trouble
        except Exception:
            return self._lost()
        return PoolTrouble(
            f"a worker failed: {type(problem).__name__}: {problem}; its log says more"
        )

    def _lost(self) -> PoolTrouble:
        return PoolTrouble(
            f"the connection to the Dask scheduler at {self._address} is lost; start it again, and "
            "its workers"
        )

    async def watch(self, notice: Callable[[str], None]) -> None:
        """Follow the number of workers, and notice the end of the scheduler."""
        there = monotonic()
        while self._client.status == "running":
            with suppress(OSError):
                threads = sum((await self._client.scheduler.ncores()).values())
                self._threads = max(1, threads)
                if threads:
                    there = monotonic()
                elif monotonic() - there > PATIENCE:
                    there = float("inf")
                    notice(f"no worker is connected: {_to_start(self._address)}")
            await asyncio.sleep(WATCH)
        with self._lock:
            left = list(self._open)
        for future in left:
            _settle(future, self._lost())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all batches.

        A match that is being played is played to its end, and its result is dropped.
        """
        with suppress(Exception):
            self._client.cancel([*self._tasks])


class _Part(NamedTuple):
    """A part of a batch."""

    whole: "_Batch"
    first: int
    items: Sequence[Any]
    deaths: int = 0
    """The workers that died while they had this single match, and perhaps others."""


class _Batch:
    """The results of a batch that may have been divided."""

    def __init__(self, work: Callable[..., Any], size: int) -> None:
        self.work = work
        self.future: Future[tuple[list[Any], float]] = Future()
        self._results: list[Any] = [None] * size
        self._left = size
        self._lock = Lock()

    def add(self, first: int, results: list[Any], each: float) -> None:
        with self._lock:
            self._results[first : first + len(results)] = results
            self._left -= len(results)
            complete = not self._left
        if complete:
            _settle(self.future, (self._results, each))

    def fail(self, problem: PoolTrouble) -> None:
        _settle(self.future, problem)


def _settle(future: Future[Any], value: Any) -> None:
    """Set the result or exception, unless the future is cancelled or done."""
    if future.done() or not (future.running() or future.set_running_or_notify_cancel()):
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)


def _same(value: Any) -> Any:
    return value


@contextmanager
def dask_pool(
    address: str, parcel: BotParcel, notice: Callable[[str], None]
) -> Iterator[DaskExecutor]:
    """Connect to a cluster.

    Raise PoolTrouble if that fails, or if its workers have other versions.
    """
    client = _connected(address)
    try:
        _wait_for_workers(client, address)
        check_workers(client)
        with warnings.catch_warnings(
            action="ignore"
        ):  # Dask advises against large arguments, but this one may not be lost
            sent = client.submit(_same, parcel, key=f"botdrome-bots-{parcel.checksum}")
        executor = DaskExecutor(client, address, sent)
        watching = asyncio.run_coroutine_threadsafe(
            executor.watch(notice), client.loop.asyncio_loop
        )
        try:
            yield executor
        finally:
            watching.cancel()
            executor.shutdown()
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT)


def _connected(address: str) -> Any:
    if not ADDRESS.fullmatch(address):
        raise PoolTrouble(
            f"--dask is the address of a scheduler such as tcp://10.0.0.5:8786, not {address!r}"
        )
    try:
        distributed = import_module("distributed")
    except ModuleNotFoundError:
        raise PoolTrouble(NO_DASK) from None
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as problem:
        reason = str(problem).partition("\n")[0]
        raise PoolTrouble(
            f"no Dask scheduler answers at {address} ({reason}); start one with: dask scheduler"
        ) from None


def _wait_for_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=JOIN)
    except OSError:  # TimeoutError
        raise PoolTrouble(
            f"no worker has joined the scheduler at {address}; {_to_start(address)}"
        ) from None


def _to_start(address: str) -> str:
    return f"start some with: dask worker {address} --nworkers auto --nthreads 1"


def check_workers(client: Any) -> None:
    """Raise PoolTrouble that names a worker without the same versions of Botdrome and Python."""
    pythons = client.run(platform.python_version, on_error="return")
    versions = client.run(pkgutil.resolve_name, "botdrome:__version__", on_error="return")
    for worker, python in pythons.items():
        found = versions.get(worker)
        if isinstance(found, ImportError):
            raise PoolTrouble(
                f"the worker {worker} has no Botdrome; install it there: pip install "
                f"'botdrome[dask]=={__version__}'"
            )
        if found != __version__ or not str(python).startswith(f"{MINOR}."):
            told = (
                f"Botdrome {found} and Python {python}, not {__version__} and "
                f"{platform.python_version()}"
            )
            raise PoolTrouble(
                f"the worker {worker} has {told}; install the same versions on each machine"
            )


# Tournaments and contests on the workers of a Dask cluster.

Told = Callable[[str], None]
"""Tells the user something in one line."""


def parcel_of(plan: TournamentPlan, without: Collection[Path] = ()) -> BotParcel:
    """Pack the bots of a plan. Raise CannotStart if that is not possible."""
    sound = [
        bot
        for bot in dict.fromkeys(plan.entrants)
        if is_python(bot) and not load_fault(bot, plan.isolation)
    ]
    close_idle()
    return pack(plan, sound, without)


def play_on_dask(
    plan: TournamentPlan, address: str, unplayed: Callable[[UnplayedMatch], None], notice: Told
) -> Generator[MatchOutcome, None, None]:
    """The outcomes as they come in.

    Raise PoolTrouble if the cluster cannot be used. Closing the generator cancels the rest.
    """
    check_plan(plan)
    return _play(
        plan, address, parcel_of(plan, [Path(plan.save)] if plan.save else ()), unplayed, notice
    )


def _play(
    plan: TournamentPlan,
    address: str,
    parcel: BotParcel,
    unplayed: Callable[[UnplayedMatch], None],
    notice: Told,
) -> Generator[MatchOutcome, None, None]:
    work: Any = play_batch
    with dask_pool(address, parcel, notice) as pool:
        for played in in_batches(
            pool, work, plan.fixtures(), pool.workers, LARGEST_BATCH, BATCH_SECONDS
        ):
            if isinstance(played, UnplayedMatch):
                unplayed(played)
            else:
                yield _saved(plan, played)


def _saved(plan: TournamentPlan, played: PlayedMatch) -> MatchOutcome:
    """Write the files of a match here."""
    if not plan.save:
        return played.outcome
    for name, data in played.files.items():
        (Path(plan.save) / name).write_bytes(data)
    return replace(played.outcome, file=str(Path(plan.save) / played.outcome.file))


class PlayersOnDask:
    """Plays the fixtures of a contest on the workers of a cluster."""

    def __init__(self, pool: DaskExecutor, names: Sequence[str]) -> None:
        self._pool, self._names = pool, names

    @property
    def jobs(self) -> int:
        return self._pool.workers()

    def play(self, fixtures: Sequence[ContestFixture]) -> asyncio.Future[list[PlayedFixture]]:
        return asyncio.ensure_future(self._play(fixtures))

    async def _play(self, fixtures: Sequence[ContestFixture]) -> list[PlayedFixture]:
        results, _ = await asyncio.wrap_future(self._pool.submit(play_batch, fixtures))
        return [self._unplayed(one) if isinstance(one, UnplayedMatch) else one for one in results]

    def _unplayed(self, match: UnplayedMatch) -> PlayedFixture:
        """No bot of such a match has shown up, as far as the contest is concerned."""
        assert isinstance(match.fixture, ContestFixture)
        now, entrants = int(time() * 1000), match.fixture.entrants
        bots = " and ".join(self._names[entrant] for entrant in entrants)
        absent = dict.fromkeys(range(1, len(entrants)), "")
        return PlayedFixture(
            match.fixture, now, now, absent={0: f"{bots} could not play: {match.why}", **absent}
        )


@contextmanager
def players_on_dask(
    plan: TournamentPlan, address: str, without: Collection[Path], notice: Told
) -> Iterator[PlayersOnDask]:
    """Connect to a cluster; an exception cancels the matches that are not played yet."""
    with dask_pool(address, parcel_of(plan, without), notice) as pool:
        yield PlayersOnDask(pool, plan.names)
