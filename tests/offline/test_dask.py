"""Tournaments on a real Dask cluster: the same bytes as on this machine, killed workers, lost
schedulers, wrong workers.
"""

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from botdrome.client.program import CannotStart
from botdrome.contest.formats.format import Fixture
from botdrome.offline import dask_pool
from botdrome.offline.dask_pool import BotBundle, BundlePlayer, DaskExecutor, pack
from botdrome.offline.tournament import TournamentPlan, UnplayedMatch
from tests.cli.commands import run
from tests.offline import programs
from tests.offline.dask_cluster import Cluster, cluster

NOUGHTS = ("play", "noughts-and-crosses")
HELPED = (
    "from mine.helper import first\n\ndef bot(view):\n    print('hello')\n    return first(view)\n"
)
HELPER = (
    "def first(view):\n    return {'space': next([x, y] for x in range(3) for y in range(3) "
    "if not view['board'][x][y])}\n"
)
NAUGHTY = "def bot(view):\n    return view['no such key']\n"
WAITING = """\
import os
import time

def bot(view):
    while os.path.exists("{folder}/wait"):
        try:
            pipe = os.open("{folder}/waits", os.O_WRONLY | os.O_NONBLOCK)
            os.write(pipe, b"%d " % os.getpid())
            os.close(pipe)
        except OSError:
            time.sleep(0.01)
    return {{"space": next([x, y] for x in range(3) for y in range(3) if not view["board"][x][y])}}
"""
CUP = """\
name = "cup"
game = "noughts-and-crosses"
games = 4
clock = {limit = 600000}
entrants = [{bot = "waiting.py"}, {bot = "house:random"}, {bot = "house:perfect"}]
"""
TWO = ("house:random", "house:random")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/helper.py").write_text(HELPER)
    (tmp_path / "helped.py").write_text(HELPED)
    (tmp_path / "naughty.py").write_text(NAUGHTY)
    (tmp_path / "program.py").write_text(programs.GOOD)
    (tmp_path / "waiting.py").write_text(WAITING.format(folder=tmp_path))
    os.mkfifo(tmp_path / "waits")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(*words: str, status: int = 0) -> str:
    result = run(*words, "--json")
    assert result.exit_code == status, result.output
    return without_times(result.stdout)


def without_times(text: str) -> str:
    return re.sub(r'("meanSecondsPerMove":)[\d.e-]+', r"\g<1>0", text)


def test_a_cluster(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cluster for all steps, since it takes seconds to start."""
    with cluster(tmp_path_factory.mktemp("cluster")) as it:
        it.add_worker()
        the_same_seed_gives_the_same_bytes_as_on_this_machine(it)
        workers_with_other_versions_are_named(it, monkeypatch)
        a_bot_that_only_loads_here_is_no_loser(it, folder, monkeypatch)
        a_killed_worker_loses_nothing_and_repeats_nothing(it, folder)
        a_contest_that_is_interrupted_or_loses_its_scheduler_continues(it, folder)


def the_same_seed_gives_the_same_bytes_as_on_this_machine(it: Cluster) -> None:
    bots = ("helped.py", "naughty.py", f"cmd:{sys.executable} program.py", "house:random")
    words = (*NOUGHTS, *bots, "-n", "1", "--save", "saved")
    there, saved = printed(*words, "--dask", it.address), contents("saved")
    assert there == printed(*words) and saved == contents("saved")
    assert len(saved) > 6 and [match["number"] for match in json.loads(there)["matches"]] == [
        *range(1, 7)
    ]


def contents(folder: str) -> dict[str, bytes]:
    """Take the files of a folder."""
    found = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    shutil.rmtree(folder)
    return found


def workers_with_other_versions_are_named(it: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(dask_pool, "__version__", "0.0.1")
        result = run(*NOUGHTS, *TWO, "--dask", it.address)
    assert result.exit_code == 1
    assert re.search(
        r"the worker tcp://\S+ has Botdrome \S+ and Python \S+, not 0.0.1 and", result.stderr
    )
    assert "; install the same versions on each machine" in result.stderr


def a_bot_that_only_loads_here_is_no_loser(
    it: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bots").mkdir()
    (folder / "bots/needy.py").write_text("import helper\n\ndef bot(view):\n    return 1\n")
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{os.environ.get('PYTHONPATH', '')}:{folder}/mine")
        result = run(*NOUGHTS, "bots/needy.py", "house:random", "--dask", it.address)
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "needy.py can be loaded where you started it, but not here: crash: ModuleNotFoundError"
        in result.stderr
    )


def a_killed_worker_loses_nothing_and_repeats_nothing(it: Cluster, folder: Path) -> None:
    words = (
        *NOUGHTS,
        "waiting.py",
        "house:random",
        "house:perfect",
        "-n",
        "20",
        "--limit",
        "600000",
        "--in-process",
    )
    process = started([], folder, *words, "--json", "--dask", it.address)
    (worker,) = it.workers
    it.kill(worker)
    (folder / "wait").unlink()
    it.add_worker()
    there, _ = process.communicate()
    assert process.returncode == 0 and without_times(there) == printed(*words)


def started(seen: list[bytes], folder: Path, *words: str) -> Popen[str]:
    """Run a command until one of its bots waits on a worker, in a process that has not waited
    before.
    """
    (folder / "wait").touch()
    process = Popen([sys.executable, "-m", "botdrome", *words], stdout=PIPE, stderr=PIPE, text=True)
    while (waits := (folder / "waits").read_bytes().split()[-1:]) in (
        seen,
        [],
    ):  # ends when a bot opens it
        pass
    seen[:] = waits
    return process


def a_contest_that_is_interrupted_or_loses_its_scheduler_continues(
    it: Cluster, folder: Path
) -> None:
    seen: list[bytes] = []
    for name in ("cup", "calm"):
        (folder / f"{name}.toml").write_text(CUP.replace("cup", name))
    words = ("contest", "run", "cup.toml", "--in-process")
    process = started(seen, folder, *words, "--dask", it.address)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (
        process.returncode == 130
        and "Paused. Continue it with: botdrome contest run cup.toml" in errors
    )
    assert "Traceback" not in errors
    (worker,) = it.workers  # it still plays the match, which waits
    it.kill(worker)
    it.add_worker()
    process = started(seen, folder, *words, "--dask", it.address)
    it.scheduler.kill()
    _, errors = process.communicate()
    (folder / "wait").unlink()
    assert (
        process.returncode == 1
        and f"the connection to the Dask scheduler at {it.address} is lost" in errors
    )
    assert "then continue the contest with: botdrome contest run cup.toml" in errors
    shown = []
    for name in ("cup", "calm"):
        assert run("contest", "run", f"{name}.toml", "--in-process").exit_code == 0
        shown.append(json.loads(run("contest", "show", f"{name}.toml", "--json").stdout))
    assert shown[0]["standings"] == shown[1]["standings"] and shown[0]["state"] == "over"


# Without a cluster.


class KillingClient:
    """A cluster whose workers die when they get such an item."""

    def __init__(
        self, deadly: Callable[[Any], bool], play: Callable[[Any], Any] = lambda item: item
    ) -> None:
        self._deadly, self._play, self.submitted = deadly, play, list[list[Any]]()

    def submit(self, work: Any, bundle: Any, part: Sequence[Any], key: str) -> Any:
        class KilledWorker(Exception):
            pass

        self.submitted.append(list(part))
        future: Future[Any] = Future()
        if any(map(self._deadly, part)):
            future.set_exception(KilledWorker("task", "worker", 3))
        else:
            future.set_result((list(map(self._play, part)), 0.1))
        return future


def test_a_batch_that_kills_workers_is_divided_until_the_match_is_found() -> None:
    client = KillingClient(lambda item: item == 2)
    results, _ = DaskExecutor(client, "tcp://127.0.0.1:9", None).submit(list, range(6)).result()
    assert [one for one in results if not isinstance(one, UnplayedMatch)] == [0, 1, 3, 4, 5]
    assert results[2].why == "all workers that played it died, 8 in a row"
    assert client.submitted.count([2]) == 2


def test_a_bot_that_cannot_be_loaded_loses_no_match_of_its_worker(folder: Path) -> None:
    """Its second match may begin before the first one has ended the tournament."""
    (folder / "needy.py").write_text("import no_such_module\n")
    bots = ("needy.py", "house:random")
    plan = TournamentPlan("noughts-and-crosses", bots, bots, 2, 2, 1)
    bundle = pack(plan, sound=bots[:1])
    play = BundlePlayer(bundle.unpacked(folder), bundle).play
    for number, entrants in enumerate([(0, 1), (1, 0)]):
        with pytest.raises(CannotStart, match=r"needy\.py can be loaded where you started it"):
            play(Fixture(str(number), entrants, 1))


def test_a_match_that_kills_every_worker_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def deadly_pool(address: str, bundle: BotBundle, _: Any) -> Iterator[DaskExecutor]:
        play = BundlePlayer(bundle.unpacked(tmp_path), bundle).play
        client = KillingClient(lambda fixture: fixture.entrants == (1, 0), play)
        yield DaskExecutor(client, address, None)

    monkeypatch.setattr(dask_pool, "dask_pool", deadly_pool)
    result = run(*NOUGHTS, *TWO, "-n", "2", "--seed", "7", "--dask", "tcp://127.0.0.1:9")
    assert result.exit_code == 1 and "noughts-and-crosses: 1 match, seed 7" in result.stdout
    assert "Not played: match 2, seed 7, house:random" in result.stdout
    assert "all workers that played it died, 8 in a row" in result.stdout


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "tcp://127.0.0.1:9",
            r"no Dask scheduler answers at tcp://127.0.0.1:9 .*; start one with: dask scheduler",
        ),
        (
            "localhost",
            "--dask is the address of a scheduler such as tcp://10.0.0.5:8786, not 'localhost'",
        ),
    ],
)
def test_a_wrong_address_is_one_line(
    address: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT", 0.5)
    result = run(*NOUGHTS, *TWO, "--dask", address)
    assert result.exit_code == 1 and re.fullmatch(f"botdrome: {told}", result.stderr.strip())


def test_without_distributed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run(*NOUGHTS, *TWO, "--dask", "tcp://127.0.0.1:9")
    assert (result.exit_code, result.stderr.strip(), result.stdout) == (
        1,
        f"botdrome: {dask_pool.NO_DASK}",
        "",
    )


def test_options_that_exclude_dask_are_refused(folder: Path) -> None:
    assert (
        "--dask cannot be combined with -j" in run(*NOUGHTS, *TWO, "--dask", "x", "-j", "2").stderr
    )
    assert (
        "--dask cannot be combined with --open"
        in run(*NOUGHTS, *TWO, "--dask", "x", "--open").stderr
    )
    assert (
        "--dask cannot be combined with -j"
        in run("contest", "run", "x.toml", "--dask", "x", "-j", "2").stderr
    )
