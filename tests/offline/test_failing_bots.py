"""Bots in Python that fail: each in its own process, each loses with its true cause, and none
outlives its match.
"""

import os
import re
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from botdrome.client.sandbox import Limits
from botdrome.match.terms import Pace, Terms
from botdrome.offline.isolation import Isolation, close_idle
from botdrome.offline.seats import ProcessSeat, make_seat
from tests.offline import failing_bots, programs
from tests.offline.failing_bots import GAME, NEVER, SOON, daemon, played, played_by
from tests.offline.programs import program


@pytest.fixture(autouse=True)
def no_warm_processes() -> Iterator[None]:
    yield
    close_idle()


@pytest.mark.parametrize(
    ("code", "terms", "words"),
    [
        (failing_bots.SYS_EXIT, NEVER, r"crash: SystemExit: 3 \(line 3 of my_bot.py\)"),
        (failing_bots.OS_EXIT, NEVER, "crash: it ended with status 3: about to leave"),
        (failing_bots.EXIT_IN_IMPORT, NEVER, "crash: it ended with status 4"),
        (
            failing_bots.BAD_IMPORT,
            NEVER,
            r"crash: ModuleNotFoundError: No module named 'no_such_library' \(line 1 of my_bot.py\)",
        ),
        (failing_bots.BAD_INIT, NEVER, r"crash: ValueError: no idea \(line 3 of my_bot.py\)"),
        (failing_bots.BAD_BEGIN, NEVER, r"crash: ValueError: no idea \(line 3 of my_bot.py\)"),
        (
            failing_bots.NO_JSON,
            NEVER,
            "crash: TypeError: Encoding objects of type object is unsupported",
        ),
        (
            failing_bots.SEGFAULT,
            NEVER,
            r"crash: it was ended by SIGSEGV: Segmentation fault \(line 3 of my_bot.py\)",
        ),
        (
            failing_bots.SWALLOWS,
            SOON,
            r"timeout: no move within 1 ms(, stopped in line [2345] of my_bot.py)?",
        ),
        (
            failing_bots.POWER,
            SOON,
            r"timeout: no move within 1 ms(, stopped in line 2 of my_bot.py)?",
        ),
        (
            failing_bots.STOPS,
            SOON,
            r"timeout: no move within 1 ms(, its process was stopped by a signal)?",
        ),
        (failing_bots.CLOSES, NEVER, "crash: it closed its output"),
        (
            failing_bots.ANSWERS_ITSELF,
            NEVER,
            "unreadable: the bot wrote into its answers: 5",
        ),
        (failing_bots.FLOODS, NEVER, "flood: more than 64 MiB of output"),
        (failing_bots.FLOODS_STDERR, NEVER, "flood: more than 64 MiB of output"),
    ],
)
def test_a_bot_that_fails_loses_with_its_cause(
    tmp_path: Path, code: str, terms: Terms, words: str
) -> None:
    match, table, _ = played(tmp_path, code, terms)
    assert match.result is not None
    assert match.result.places == (2, 1)
    assert match.result.causes == (words.partition(":")[0], "complete")
    assert re.fullmatch(words, table.faults[0])
    assert {now for now, *_ in match.inputs} == {0}, "no wall time is in the record"
    assert table.headline(0).startswith("lost at step 0: ")


@pytest.mark.parametrize(
    ("code", "limits", "words"),
    [
        (failing_bots.GREEDY, Limits(memory=200), r"crash: MemoryError \(line 3 of my_bot.py\)"),
        (
            failing_bots.GREEDY_FAMILY,
            Limits(memory=200),
            "crash: it used more than 200 MB of memory",
        ),
        (failing_bots.FORK_BOMB, Limits(processes=20), "crash: it had more than 20 processes"),
        (failing_bots.SWALLOWS, Limits(cpu=1), "crash: it was ended by SIGXCPU"),
    ],
)
def test_a_bot_that_exceeds_its_resources_loses(
    tmp_path: Path, code: str, limits: Limits, words: str
) -> None:
    _, table, _ = played(tmp_path, code, isolation=Isolation(limits=limits))
    assert re.match(words, table.faults[0])


def test_a_program_that_exceeds_its_memory_loses(tmp_path: Path) -> None:
    entrant = program(tmp_path, "import sys\nsys.stdin.readline()\nkept = bytearray(1 << 30)")
    _, table, _ = played_by(entrant, NEVER, Isolation(limits=Limits(memory=200)), "house:random")
    assert table.faults[0] == "crash: it ended with status 1: MemoryError (line 3 of prog.py)"


@pytest.mark.parametrize(
    "code", [failing_bots.FORKS, failing_bots.FORKS_TWICE, failing_bots.THREADS]
)
def test_a_bot_may_fork_and_start_threads(tmp_path: Path, code: str) -> None:
    _, table, _ = played(tmp_path, code)
    assert table.faults == {}


def test_a_bot_that_does_not_start_is_out_of_time_whichever_its_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("table", "seats"):
        monkeypatch.setattr(f"botdrome.offline.{module}.START", 0.2)
    (tmp_path / "slow.py").write_text(failing_bots.SLOW_IMPORT)
    for bots in (
        (str(tmp_path / "slow.py"), "house:random"),
        ("house:random", str(tmp_path / "slow.py")),
    ):
        match, table, _ = played_by(bots[0], NEVER, Isolation(), bots[1])
        assert "timeout" in match.result.causes
        (fault,) = table.faults.values()
        assert re.fullmatch(
            r"timeout: not loaded within 0.2 s(, stopped in line 2 of slow.py)?", fault
        )


@pytest.mark.usefixtures("answers_in_no_time")
def test_time_to_start_is_no_time_to_move(tmp_path: Path) -> None:
    """A program that starts slowly is not late, though the limit is short, and has its turn in the
    second step.
    """
    slow = program(tmp_path, "import time\ntime.sleep(0.5)" + programs.GOOD)
    for bots in ((slow, "house:random"), ("house:random", slow)):
        match, _, _ = played_by(bots[0], Terms(Pace(300), late="pass"), Isolation(), bots[1])
        assert [kind for _, kind, *_ in match.inputs][:2] == ["move", "move"]


def test_the_traceback_is_in_the_log(tmp_path: Path) -> None:
    *_, log = played(
        tmp_path, "def bot(view):\n    print('thinking')\n    return view['no such key']"
    )
    assert log.startswith("thinking\nTraceback (most recent call last):\n")
    assert log.endswith("KeyError: 'no such key'\n")
    assert "bot_host" not in log


def test_a_process_stays_warm_for_a_fresh_instance_and_is_replaced_after_a_fault(
    tmp_path: Path,
) -> None:
    path = tmp_path / "counting.py"
    path.write_text(
        "import os\nclass Bot:\n    seen = 0\n    def move(self, view):\n"
        "        self.seen += 1 / view\n        return self.seen"
    )
    pids = []
    for view in (1, 1, 0, 1):
        seat = make_seat(str(path), GAME, "one", 1)
        assert isinstance(seat, ProcessSeat)
        seat.begin({"seed": 1}, 60)
        pids.append(seat.pid)
        if view:
            assert seat.ask(view, 60)[0] == 1  # type: ignore[arg-type]
        else:
            with pytest.raises(Exception, match="ZeroDivisionError"):
                seat.ask(view, 60)  # type: ignore[arg-type]
        seat.close()
    assert pids[0] == pids[1] == pids[2] != pids[3]


def test_a_bot_that_plays_itself_has_two_processes(tmp_path: Path) -> None:
    code = (
        failing_bots.PLAY + "import os\nseen = set()\ndef bot(view):\n    seen.add(view['you'])\n"
        "    assert len(seen) == 1\n    return play(view)"
    )
    path = tmp_path / "my_bot.py"
    _, table, _ = played(tmp_path, code, opponent=str(path))
    assert table.faults == {}


def test_the_same_seed_gives_the_same_match(tmp_path: Path) -> None:
    code = (
        "import random\ndef bot(view):\n    free = {f'{r}{c}' for r in range(3) for c in "
        "range(3) if not view['board'][r][c]}\n"
    )
    code += (
        "    r, c = random.choice(list(free))\n"
        "    return {'mark': view['marks'][view['you']], 'space': [int(r), int(c)]}"
    )
    once, _, _ = played(tmp_path, code)
    close_idle()
    again, _, _ = played(tmp_path, code)
    assert once.inputs == again.inputs


def test_an_end_that_fails_is_told_and_changes_nothing(tmp_path: Path) -> None:
    code = (
        failing_bots.PLAY + "class Bot:\n    def move(self, view): return play(view)\n"
        "    def end(self, result): raise KeyError('x')"
    )
    match, table, _ = played(tmp_path, code)
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    assert table.faults[0].startswith("after the match, in `end`: crash: KeyError: 'x'")


def test_a_process_that_left_its_group_and_its_parent_ends_with_the_match(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    played(tmp_path, daemon(pids))
    close_idle()
    for pid in {int(word) for word in pids.read_text().split()}:
        assert gone(pid)


def gone(pid: int) -> bool:
    """Wait until a process is gone."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready = select.select([process], [], [], 60)[0]
    os.close(process)
    return bool(ready)
