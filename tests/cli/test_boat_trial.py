"""`botdrome boats test`: its output, files and exit status."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from botdrome import __version__
from botdrome.cli.boats import trial as boat_trial
from botdrome.cli.boats.trial import Figures, trial_file
from botdrome.offline.boat_trial import BoardRun, Trial
from tests.offline.boat_bots import walker


def run_trial(**options: Any) -> int:
    with pytest.raises(typer.Exit) as ended:
        boat_trial.test_command(**options)
    return ended.value.exit_code


def kept(folder: Path, name: str) -> dict[str, str]:
    lines = (folder / name).read_text().splitlines()
    assert lines == sorted(lines)
    return dict(line.split("=", 1) for line in lines)


def test_a_trial_prints_its_figures_and_keeps_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "db"
    assert run_trial(bot="Gunner", positions=5, seed=3, jobs=1, test_db=folder) == 0
    printed = capsys.readouterr().out
    assert re.match(
        r"testing gunner \S+ on 5 positions of 10 by 10, A5 B4 C3 D3 E2\nseed 3, at least 0 %",
        printed,
    )
    (file,) = (tmp_path / "new" / "db").iterdir()
    assert re.fullmatch(r"test\.10x10\.gunner-[\d.]+\.ini", file.name)
    entries = kept(file.parent, file.name)
    least, most, shots = (
        int(entries[f"last.{key}"]) for key in ("minShotCount", "maxShotCount", "shotCount")
    )
    assert (
        f"positions        5, 5 of them unique\nminimum shots    {least}\nmaximum shots    {most}\n"
        in printed
    )
    assert f"average shots    {shots / 5:.2f}, +- " in printed
    assert "perfect games    0\nnot sunk         0\n" in printed
    assert printed.endswith(f"kept in {file}\n")
    for key, value in (
        ("testsRun", "1"),
        ("board.width", "10"),
        ("last.seed", "3"),
        ("last.minSurfaceArea", "0"),
    ):
        assert entries[key] == value


def test_trials_of_one_bot_are_added_up(tmp_path: Path) -> None:
    file = tmp_path / f"test.8x9.pilot-{__version__}.ini"
    options = {"bot": "house:pilot", "positions": 4, "jobs": 1, "width": 8, "height": 9, "msa": 60}
    assert run_trial(**options, seed=1, test_db=tmp_path) == 0
    once = kept(tmp_path, file.name)
    file.write_text(file.read_text() + "# a remark\nnote=mine\n")
    assert run_trial(**options, seed=2, test_db=tmp_path) == 0
    twice = kept(tmp_path, file.name)
    assert twice["testsRun"] == "2"
    assert twice["note"] == "mine"
    for key in (
        "positionCount",
        "uniquePositionCount",
        "shotCount",
        "minShotCount",
        "maxShotCount",
        "perfectCount",
        "time",
    ):
        assert int(twice[f"total.{key}"]) == int(once[f"last.{key}"]) + int(twice[f"last.{key}"])
    assert int(twice["minShotCount"]) == min(
        int(once["minShotCount"]), int(twice["last.minShotCount"])
    )
    assert int(twice["maxShotCount"]) == max(
        int(once["maxShotCount"]), int(twice["last.maxShotCount"])
    )
    assert (twice["board.height"], twice["total.minSurfaceArea"]) == ("9", "120")


def test_the_same_seed_gives_the_same_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for jobs in (1, 2):
        assert run_trial(bot="trawler", positions=6, seed=9, jobs=jobs, test_db=tmp_path) == 0
        found.append(
            re.findall(r"(?m)^(?:minimum|maximum|average|positions).*$", capsys.readouterr().out)
        )
    assert found[0] == found[1]
    assert len(found[0]) == 4


def test_without_a_seed_any_is_taken_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert run_trial(bot="random", positions=1, jobs=1, test_db=tmp_path) == 0
    one, other = re.findall(r"(?m)^seed (\d+),", capsys.readouterr().out)
    assert one != other


def test_progress_is_shown_every_second(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(1000))
    monkeypatch.setattr(boat_trial, "monotonic", lambda: next(seconds))
    assert run_trial(bot="trawler", positions=4, seed=1, jobs=1, test_db=tmp_path) == 0
    lines = re.findall(
        r"(?m)^ *(\d+) %  (\d) of 4 positions, \d+\.\d\d shots on average, 1\.0 positions a second$",
        capsys.readouterr().out,
    )
    assert lines == [("25", "1"), ("50", "2"), ("75", "3"), ("100", "4")]


def test_progress_without_a_game_that_was_finished_has_no_average(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(1000))
    monkeypatch.setattr(boat_trial, "monotonic", lambda: next(seconds))
    assert (
        run_trial(bot="skipper", positions=1, seed=1, width=8, height=8, jobs=1, test_db=tmp_path)
        == 1
    )
    assert (
        "100 %  1 of 1 position, no game was finished, 1.0 positions a second\n"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"bot": "nobody"},
            "there is no bot 'nobody'; there are random, skipper, drifter, trawler, gunner, pilot, "
            "plotter, hunter",
        ),
        ({"bot": "house:nobody"}, "there is no bot 'house:nobody'"),
        ({"bot": "random", "width": 7}, "--width is from 8 to 22, not 7"),
        ({"bot": "random", "height": 23}, "--height is from 8 to 22, not 23"),
        ({"bot": "random", "msa": 101}, "--msa is from 0 to 100, not 101"),
        ({"bot": "random", "positions": 0}, "--positions is from 1 to"),
    ],
)
def test_what_makes_no_sense_is_refused(
    given: dict[str, object], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_trial(**given, test_db=tmp_path) == 2
    assert words in capsys.readouterr().err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_a_bot_that_cannot_start_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_trial(bot="cmd:no-such-program", test_db=tmp_path) == 1
    assert "there is no program 'no-such-program'" in capsys.readouterr().err


def test_a_bot_that_sinks_nothing_is_told_where_it_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run_trial(bot="skipper", positions=7, seed=1, width=8, height=8, jobs=1, test_db=tmp_path)
        == 1
    )
    printed = capsys.readouterr().out
    assert "not sunk         7\n" in printed
    assert "shots            no game was finished\n" in printed
    assert "average" not in printed
    assert "  position 1, turn 128: not sunk after 128 turns\n" in printed
    assert "  ... and 2 more\n" in printed
    entries = kept(tmp_path, f"test.8x8.skipper-{__version__}.ini")
    assert entries["last.unsunkCount"] == "7"
    assert "minShotCount" not in entries


def test_a_program_is_tried_under_the_name_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = walker(tmp_path, "native")
    assert run_trial(bot=bot, positions=2, seed=1, test_db=tmp_path) == 0
    assert "on 2 positions" in capsys.readouterr().out
    assert len(list(tmp_path.glob("test.10x10.*-0.ini"))) == 1


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    path = trial_file(tmp_path, Trial("x", 1, 1), "../../etc/pass wd", "1/2")
    assert path == tmp_path / "test.10x10..._.._etc_pass_wd-1_2.ini"


def test_a_file_that_cannot_be_written_costs_only_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "db").write_text("not a folder")
    assert run_trial(bot="random", positions=1, seed=1, jobs=1, test_db=tmp_path / "db") == 0
    captured = capsys.readouterr()
    assert "average shots" in captured.out
    assert "db/test.10x10.random" in captured.err.replace("\n", "")


def test_watching_waits_after_every_shot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\n\nq\n"))
    assert run_trial(bot="pilot", positions=3, seed=1, watch=True, test_db=tmp_path) == 130
    printed = capsys.readouterr().out
    assert printed.count("Enter: the next shot") == 4
    shots = re.findall(
        r"(?m)round (\d+), goal 17: pilot (?:hits|misses) Skipper at [a-j]\d+$", printed
    )
    assert shots == ["0", "1", "2", "3"]
    assert "   a b c d e f g h i j \n 1 " in printed, "squares are called as in the client"
    assert "positions        0" in printed and "no game was finished" in printed
    assert not list(tmp_path.iterdir()), "no position was finished"


# Figures


def test_figures() -> None:
    figures = Figures()
    assert (figures.average, figures.error, figures.spread, figures.seconds_a_shot) == (0, 0, 0, 0)
    for number, (board, shots) in enumerate(((1, 17), (2, 40), (1, 63))):
        figures.add(BoardRun(number, board, shots, 0.1))
    figures.add(BoardRun(3, 4, 30, 0.2, "it left"))
    assert (figures.hunted, figures.sunk, figures.unique, figures.perfect) == (4, 3, 3, 1)
    assert (figures.least, figures.most, figures.shots, figures.average) == (17, 63, 120, 40)
    assert figures.spread == pytest.approx((2 * 23**2 / 3) ** 0.5)
    assert figures.error == pytest.approx(figures.spread / 3**0.5)
    assert figures.seconds_a_shot == pytest.approx(0.5 / 150)
    assert figures.examples() == ["position 4, turn 30: it left"]
