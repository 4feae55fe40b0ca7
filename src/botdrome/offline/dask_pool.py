"""A pool of workers on many machines: a Dask cluster, as an executor of batches of matches.

Workers get a bundle of bots: the plan of the tournament, and the files of its bots. Files inside
the current folder keep their place below it, and a match is played in that folder, so commands with
relative paths work unchanged. Other files get a folder of their own, and the bot is renamed to it.

Dask plays a batch again elsewhere if its worker dies, and tells each result once. A batch whose
workers died several times is divided. A single match is a suspect then: it is played once more
while no other match is, and if that kills workers again, it is told as unplayed.
"""

import asyncio
import hashlib
import io
import logging
import os
import pickle
import pkgutil
import platform
import re
import shlex
import shutil
import sys
import tarfile
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import chdir, contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import count, takewhile
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from botdrome.client.program import CannotStart, check_sandbox
from botdrome.contest.formats.format import Fixture
from botdrome.offline.batches import (
    BATCH_SECONDS,
    LARGEST_BATCH,
    Batches,
    PoolTrouble,
    in_batches,
    timed,
)
from botdrome.offline.bot import folder_of, parts_of
from botdrome.offline.entrants import module_files
from botdrome.offline.isolation import close_idle
from botdrome.offline.project import PROGRAM, project_at
from botdrome.offline.seats import PREFIX, file_and_player, is_python, load_fault
from botdrome.offline.tournament import (
    MatchOutcome,
    PlayedMatch,
    TournamentPlan,
    UnplayedMatch,
    check_plan,
    play_fixture,
    saved,
)
from botdrome.version import __version__

BUNDLE = "botdrome-"
"""The beginning of the name of a bundle's folder."""
ROOT = "\0"
"""Stands for the folder of the bundle in the names of bots."""
HERE, THERE = "here", "there"
"""The folders of the bundle for files inside the current folder, and for others."""
MOST_BYTES = 200 << 20
MOST_FILES = 20_000
MINOR = ".".join(platform.python_version_tuple()[:2])


class BotBundle(Struct, frozen=True):
    """What a worker needs to play the matches of a plan."""

    plan: TournamentPlan
    files: bytes
    folders: tuple[tuple[str, str], ...]
    """The folders of the bundle, and the folders from which they come."""
    checksum: str
    sound: frozenset[str] = frozenset()
    """The bots that the sender could load."""
    version: str = __version__
    python: str = MINOR

    def unpacked(self, base: Path) -> Path:
        """Unpack the files below this folder, unless they are there already, and return their
        folder.
        """
        root = base / f"{BUNDLE}{self.checksum}"
        if not root.exists():
            draft = base / f"{root.name}-{os.getpid()}-{os.urandom(4).hex()}"
            (draft / HERE).mkdir(parents=True)
            with tarfile.open(fileobj=io.BytesIO(zlib.decompress(self.files))) as archive:
                archive.extractall(draft, filter="data")
            try:
                draft.rename(root)
            except OSError:  # another worker of this machine was faster
                shutil.rmtree(draft)
        return root

    def plan_in(self, root: Path) -> TournamentPlan:
        return replace(
            self.plan,
            entrants=tuple(entrant.replace(ROOT, str(root)) for entrant in self.plan.entrants),
        )

    def as_at_home(self, text: str, root: Path) -> str:
        """Return a text of a bot with the paths of its sender."""
        for folder, origin in self.folders:
            text = text.replace(str(root / folder), origin)
        return text


def pack(
    plan: TournamentPlan, sound: Collection[str] = (), without: Collection[Path] = ()
) -> BotBundle:
    """Pack the bots of a plan, without these files and folders.

    Raise CannotStart if the files cannot be read or are too many.
    """
    packing = _Packing({path.resolve() for path in without})
    names = {entrant: packing.add(entrant) for entrant in dict.fromkeys(plan.entrants)}
    plan = replace(plan, entrants=tuple(names[entrant] for entrant in plan.entrants))
    files = packing.archive()
    folders = tuple(sorted(packing.folders.items()))
    kept = frozenset(names[entrant] for entrant in sound)
    checksum = hashlib.sha256(files + pickle.dumps((plan, folders, sorted(kept)))).hexdigest()[:32]
    return BotBundle(plan, files, folders, checksum, kept)


class _Packing:
    def __init__(self, without: Collection[Path]) -> None:
        self._without, self._here = without, Path.cwd()
        self.folders = {HERE: str(self._here)}
        self._files: dict[str, Path] = {}
        self._bytes = 0

    def add(self, entrant: str) -> str:
        """Pack a bot, and return its name in the bundle."""
        if entrant.startswith("house:"):
            return entrant
        if entrant.startswith(PREFIX):
            file, _ = file_and_player(entrant, 0)
            return entrant.replace(file, self._packed(entrant, file, alone=True), 1)
        if project_at(entrant):
            return self._packed(entrant, entrant)
        if PROGRAM.match(entrant):
            return self._program(entrant)
        kind, place, name = parts_of(entrant)
        if folder := folder_of(entrant):
            return kind + ":".join(filter(None, (self._packed(entrant, str(folder)), name)))
        if place.endswith(".py"):
            return kind + ":".join(filter(None, (self._packed(entrant, place), name)))
        if any(file.resolve().is_relative_to(self._here) for file in module_files(place)):
            self._take(entrant, self._here, HERE)
        return entrant

    def _program(self, entrant: str) -> str:
        """Pack the files that a command names.

        A program outside the current folder must be installed on each worker.
        """
        prefix, _, command = entrant.partition(":")
        program, *words = shlex.split(command)
        if "/" in program and self._is_here(Path(program)):
            program = self._packed(entrant, program)
        words = [
            self._packed(entrant, word)
            if Path(word).is_file() or (Path(word).is_dir() and self._is_here(Path(word)))
            else word
            for word in words
        ]
        return f"{prefix}:{shlex.join([program, *words])}"

    def _is_here(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self._here)

    def _packed(self, entrant: str, given: str, alone: bool = False) -> str:
        """Pack a file with the folder around it, or a folder. Return its path in the bundle."""
        path = Path(given).resolve()
        top = path if path.is_dir() or alone else path.parent
        if self._is_here(path):
            place = f"{HERE}/{top.relative_to(self._here)}".removesuffix("/.")
            relative = not Path(given).is_absolute() and path == self._here / given
            told = given if relative else f"{ROOT}/{HERE}/{path.relative_to(self._here)}"
        else:
            folder = f"{THERE}/{hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]}"
            self.folders[folder] = str(path.parent)
            place = f"{folder}/{path.name}" if alone or path.is_dir() else folder
            told = f"{ROOT}/{folder}/{path.name}"
        self._take(entrant, top, place)
        return told

    def _take(self, entrant: str, top: Path, place: str) -> None:
        for file in [top] if top.is_file() else self._below(top):
            name = f"{place}/{file.relative_to(top)}".removesuffix("/.")
            if name not in self._files:
                self._files[name] = file
                self._bytes += file.stat().st_size
            if self._bytes > MOST_BYTES or len(self._files) > MOST_FILES:
                raise CannotStart(
                    f"{entrant}: {top} has more than {MOST_BYTES >> 20} MB or {MOST_FILES} files "
                    "to send to the workers; "
                    "put the bot into a folder of its own"
                )

    def _below(self, top: Path) -> Iterator[Path]:
        for folder, folders, files in os.walk(top):
            here = Path(folder)
            folders[:] = sorted(one for one in folders if self._travels(here / one))
            yield from (
                here / one
                for one in sorted(files)
                if self._travels(here / one) and (here / one).is_file()
            )

    def _travels(self, path: Path) -> bool:
        return (
            not path.name.startswith(".")
            and path.name != "__pycache__"
            and path not in self._without
        )

    def archive(self) -> bytes:
        """Return the same bytes for the same files."""
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w") as archive:
            for name, file in sorted(self._files.items()):
                try:
                    data = file.read_bytes()
                except OSError as error:
                    raise CannotStart(
                        f"{file} cannot be sent to the workers: {error.strerror}"
                    ) from None
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o755 if os.access(file, os.X_OK) else 0o644
                archive.addfile(entry, io.BytesIO(data))
        return zlib.compress(target.getvalue(), 1)


# The part that runs on a worker. It has one thread, so that a match may have the process's current
# folder for its bots, and so that a bot that ends the process ends one match.

IDLE = 60.0
"""Seconds without work after which a worker ends the processes of its bots."""


class BundlePlayer:
    """Plays the matches of one bundle."""

    def __init__(self, root: Path, bundle: BotBundle) -> None:
        self._root, self._bundle, self._plan = root, bundle, bundle.plan_in(root)
        self._unloaded = {entrant.replace(ROOT, str(root)) for entrant in bundle.sound}
        """Bots that the sender could load, and that were not loaded here yet."""
        if self._plan.isolation.sandbox:
            check_sandbox()

    def play(self, fixture: Fixture) -> MatchOutcome:
        """Raise CannotStart if a bot cannot play here, although it can where the tournament was
        started.
        """
        for number in fixture.entrants:
            self._load(self._plan.entrants[number])
        return self._as_at_home(play_fixture(self._plan, fixture))

    def _load(self, entrant: str) -> None:
        if entrant in self._unloaded:
            if fault := load_fault(entrant, self._plan.isolation):
                told = self._bundle.as_at_home(fault.removeprefix(f"{entrant}: "), self._root)
                raise CannotStart(
                    f"{Path(entrant).name} can be loaded where you started it, but not here: {told}"
                )
            self._unloaded.remove(entrant)

    def _as_at_home(self, outcome: MatchOutcome) -> MatchOutcome:
        faults, logs = (
            {seat: self._home(text) for seat, text in texts.items()}
            for texts in (outcome.faults, outcome.logs)
        )
        files = {
            name: data if name.endswith(".jsonl") else self._home(data.decode()).encode()
            for name, data in outcome.files.items()
        }
        headlines = tuple(map(self._home, outcome.headlines))
        return replace(outcome, faults=faults, logs=logs, files=files, headlines=headlines)

    def _home(self, text: str) -> str:
        return self._bundle.as_at_home(text, self._root)


class WorkerRefusal(Exception):
    """A worker cannot play, and another try would not help; the text says what to do."""


_playing = Lock()
"""Held while a batch is played."""
_players: dict[str, BundlePlayer] = {}
"""The player of the last bundle, by its checksum."""
_timers: list[Timer] = []


def play_batch(bundle: BotBundle, fixtures: Sequence[Fixture]) -> tuple[list[Any], float]:
    """Return for each fixture the match that was played, and the mean seconds per match."""
    worker = _this_worker()
    if (bundle.version, bundle.python) != (__version__, MINOR):
        told = (
            f"Botdrome {__version__} and Python {MINOR}, not {bundle.version} and {bundle.python}"
        )
        raise WorkerRefusal(
            f"the worker {worker.address} has {told}; install the same versions on each machine"
        )
    if worker.state.nthreads > 1:
        raise WorkerRefusal(
            f"the worker {worker.address} has {worker.state.nthreads} threads; "
            "start workers with: --nworkers auto --nthreads 1"
        )
    root = bundle.unpacked(Path(worker.local_directory))
    try:
        with _playing, chdir(root / HERE):
            player = _player(root, bundle)
            return timed(lambda batch: map(player.play, takewhile(_wanted, batch)), fixtures)
    except CannotStart as problem:
        raise WorkerRefusal(f"the worker {worker.address} cannot play: {problem}") from None
    finally:
        _end_bots_when_idle()


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _wanted(_: Any) -> bool:
    """Whether the batch of this thread is not cancelled."""
    worker = _this_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state != "cancelled"


def _player(root: Path, bundle: BotBundle) -> BundlePlayer:
    if bundle.checksum not in _players:
        close_idle()
        _players.clear()
        _forget_modules(str(root.parent / BUNDLE))
        _players[bundle.checksum] = BundlePlayer(root, bundle)
    return _players[bundle.checksum]


def _forget_modules(beginning: str) -> None:
    """Forget the modules of other bundles, for bots that play in this process."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(beginning):
            del sys.modules[name]
    sys.path[:] = [path for path in sys.path if not path.startswith(beginning)]


def _end_bots_when_idle() -> None:
    while _timers:
        _timers.pop().cancel()
    timer = Timer(IDLE, _end_bots)
    timer.daemon = True
    timer.start()
    _timers.append(timer)


def _end_bots() -> None:
    with _playing:
        close_idle()


# The part that runs where the tournament was started.

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
    """Works on batches on the workers of a cluster, each with the same bundle, which is sent once
    to each worker.
    """

    def __init__(self, client: Any, address: str, bundle: Any) -> None:
        """`bundle` is a Dask future."""
        self._client, self._address, self._bundle = client, address, bundle
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
        """Call `work(bundle, batch)` on a worker: it returns results, and the seconds per item."""
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
                part.whole.work, self._bundle, part.items, key=f"{self._name}-{next(self._keys)}"
            )
            self._tasks.add(task)
            task.add_done_callback(partial(self._done, part))

    def _done(self, part: "_Part", task: Any) -> None:
        self._tasks.discard(task)
        killed = 0
        try:
            results, each = task.result()
            part.whole.add(part.first, results, each)
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
    address: str, bundle: BotBundle, notice: Callable[[str], None]
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
            sent = client.submit(_same, bundle, key=f"botdrome-bots-{bundle.checksum}")
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


def bundle_of(plan: TournamentPlan, without: Collection[Path] = ()) -> BotBundle:
    """Pack the bots of a plan. Raise CannotStart if that is not possible."""
    sound = [
        bot
        for bot in dict.fromkeys(plan.entrants)
        if is_python(bot) and not load_fault(bot, plan.isolation)
    ]
    close_idle()
    return pack(plan, sound, without)


@contextmanager
def matches_on_dask(
    plan: TournamentPlan, address: str, without: Collection[Path], notice: Told
) -> Iterator[Batches[Fixture, PlayedMatch]]:
    """Connect to a cluster that plays; an exception cancels the matches that are not played yet.

    Raise PoolTrouble if the cluster cannot be used.
    """
    work: Any = play_batch  # the executor adds the bundle
    with dask_pool(address, bundle_of(plan, without), notice) as pool:
        yield Batches(pool, work, pool.workers, LARGEST_BATCH, BATCH_SECONDS)


def play_on_dask(
    plan: TournamentPlan, address: str, unplayed: Callable[[UnplayedMatch], None], notice: Told
) -> Generator[MatchOutcome, None, None]:
    """The outcomes as they come in. Closing the generator cancels the rest."""
    check_plan(plan)
    return _play(plan, address, unplayed, notice)


def _play(
    plan: TournamentPlan, address: str, unplayed: Callable[[UnplayedMatch], None], notice: Told
) -> Generator[MatchOutcome, None, None]:
    without = [Path(plan.save)] if plan.save else ()
    with matches_on_dask(plan, address, without, notice) as batches:
        for played in in_batches(batches, plan.progress().rounds[0].fixtures):
            if isinstance(played, UnplayedMatch):
                unplayed(played)
            else:
                yield saved(plan, played)
