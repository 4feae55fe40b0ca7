"""Boat trials of bots that run here: of the house, functions and programs."""

from pathlib import Path

import pytest

from botdrome.client.program import CannotStart
from botdrome.games.game import View
from botdrome.offline.boat_trial import BoardRun, Trial, entered, runs
from tests.offline.boat_bots import walker
from tests.offline.programs import program


def walked(trial: Trial, number: int) -> int:
    """The shots that square by square takes."""
    squares = "".join(trial.position(number))
    return len(squares.rstrip("."))


def results(trial: Trial, jobs: int = 1) -> list[BoardRun]:
    return sorted(runs(trial, jobs), key=lambda run: run.number)


def test_a_house_bot_hunts_the_same_with_the_same_seed_in_one_process_or_in_several() -> None:
    trial = Trial("house:gunner", 6, 3)
    found = [(run.number, run.board, run.turns, run.fault) for run in results(trial)]
    assert found == [
        (run.number, run.board, run.turns, run.fault) for run in results(trial, jobs=2)
    ]
    assert [number for number, _, _, _ in found] == list(range(6))
    assert all(17 <= turns <= 100 and not fault for _, _, turns, fault in found)
    other = [run.turns for run in results(Trial("house:gunner", 6, 4))]
    assert other != [turns for _, _, turns, _ in found]


def test_a_bot_that_never_ends_is_told_so() -> None:
    (run,) = results(Trial("house:skipper", 1, 1, 8, 8))
    assert (run.turns, run.fault) == (128, "not sunk after 128 turns")


@pytest.mark.parametrize("kind", ["function", "native"])
def test_any_bot_can_be_tried(tmp_path: Path, kind: str) -> None:
    trial = Trial(walker(tmp_path, kind), 3, 5, 9, 8)
    found = results(trial)
    assert [run.turns for run in found] == [walked(trial, number) for number in range(3)]
    assert not any(run.fault for run in found)
    assert all(run.seconds > 0 for run in found)


def test_programs_play_in_several_processes(tmp_path: Path) -> None:
    trial = Trial(walker(tmp_path, "native"), 4, 5, 9, 8)
    assert [run.turns for run in results(trial, jobs=2)] == [
        walked(trial, number) for number in range(4)
    ]


def test_a_bot_is_known_by_its_file_or_its_house_name(tmp_path: Path) -> None:
    native, function = (
        entered(Trial(walker(tmp_path, kind), 1, 1)) for kind in ("native", "function")
    )
    assert (native.name, native.version) == ("native_walker", "")
    assert function.name == "function_walker"
    assert entered(Trial("house:hunter", 1, 1)).name == "hunter"


@pytest.mark.parametrize("bot", ["cmd:no-such-program", "no_such_file.py", "house:nobody", "cmd:"])
def test_a_bot_that_is_not_there_is_named_at_once(bot: str) -> None:
    with pytest.raises(CannotStart):
        entered(Trial(bot, 1, 1))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import sys\nsys.exit(3)", "crash: it ended with status 3"),
        (
            "import sys\nsys.stdin.readline()\nprint('hello', flush=True)\nsys.stdin.read()",
            "unreadable",
        ),
    ],
    ids=["crash", "rubbish"],
)
def test_a_bot_at_fault_sinks_nothing_and_stops_nobody(
    tmp_path: Path, code: str, fault: str
) -> None:
    found = results(Trial(program(tmp_path, code), 2, 1))
    assert [fault in run.fault for run in found] == [True, True], found


@pytest.mark.parametrize("kind", ["house", "function", "native"])
def test_every_shot_can_be_watched(tmp_path: Path, kind: str) -> None:
    trial = Trial("house:pilot" if kind == "house" else walker(tmp_path, kind), 1, 5, 8, 8)
    seen: list[View] = []
    (run,) = runs(trial, 2, seen.append)
    assert len(seen) == run.turns
    assert [sum(mark != "." for row in view["boards"][1] for mark in row) for view in seen] == list(
        range(1, run.turns + 1)
    )
    assert "".join(seen[-1]["own"]).upper().replace("0", ".") == "".join(trial.position(0))
