"""`botdrome play`: openings, failures as the table and JSON tell them, and what is saved."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from botdrome.catalogue import restored
from botdrome.match.record import verify
from botdrome.match.terms import Bank
from tests.cli.commands import run

TWO = ("house:random", "house:random")
NAUGHTY = "def bot(view):\n    print('thinking')\n    return view['no such key']\n"


def as_data(*words: str) -> Any:
    result = run("play", *words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# Openings.


def test_each_opening_is_played_once_per_seating(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("0,0, 1,-1, 2,3\r\n\n-7, -7,7 ,+7\n")
    data = as_data("gomoku", *TWO, "--openings", str(file), "--save", str(tmp_path))
    first, second = [[7, 7], [8, 6], [9, 10]], [[0, 0], [14, 14]]
    assert [match["opening"] for match in data["matches"]] == [first, first, second, second]
    assert [match["bots"][0] for match in data["matches"]] == [
        "house:random",
        "house:random #2",
    ] * 2
    _, game = restored(Path(data["matches"][0]["file"]).read_bytes())
    assert game.start(2, None).view(None)["moves"] == [(7, 7), (8, 6), (9, 10)]  # type: ignore[arg-type]
    again = as_data("gomoku", *TWO, "--openings", str(file), "-n", "6", "-o", "size=20")
    assert [match["opening"][0] for match in again["matches"]] == [[10, 10]] * 2 + [[3, 3]] * 2 + [
        [10, 10]
    ] * 2


EXAMPLE = (
    "an opening is x,y of each stone, counted from the centre of the board, such as 0,0, 1,-1, 2,3"
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0,0\n0,0, 1\n", f"line 2: 3 numbers are no pairs of x,y: '0,0, 1'; {EXAMPLE}"),
        ("0,a", f"line 1: 'a' is no whole number; {EXAMPLE}"),
        ("0,0, 0,0", f"line 1: stone 2: [7, 7] is taken; {EXAMPLE}"),
        ("0,8", f"line 1: stone 1: y is from 0 to 14, not 15; {EXAMPLE}"),
        ("\n \n", f"there are no openings; {EXAMPLE}"),
        (b"\xff", "is no text file"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_bad_opening_is_named_with_its_line_and_an_example(
    tmp_path: Path, text: Any, problem: str
) -> None:
    file = tmp_path / "openings.txt"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = run("play", "gomoku", *TWO, "--openings", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(file) in result.stderr
    assert problem in result.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["battleship", *TWO, "--openings", "x"],
            "--openings FILE is for gomoku, not for battleship",
        ),
        (
            ["gomoku", *TWO, "--openings", "x", "-o", "opening=[[7,7]]"],
            "--openings cannot be combined with --option opening=...",
        ),
    ],
)
def test_options_that_exclude_each_other_are_refused(words: list[str], problem: str) -> None:
    result = run("play", *words)
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (
        2,
        "",
        f"botdrome: {problem}",
    )


# Failures, and what is saved.


def test_json_has_the_headlines_and_the_logs_and_they_are_saved(tmp_path: Path) -> None:
    (tmp_path / "naughty.py").write_text(NAUGHTY)
    words = (
        "noughts-and-crosses",
        str(tmp_path / "naughty.py"),
        "house:random",
        "-n",
        "1",
        "--save",
        str(tmp_path),
    )
    (match,) = as_data(*words)["matches"]
    fault = "crash: KeyError: 'no such key' (line 3 of naughty.py)"
    assert match["headlines"] == [
        f"lost at step 0: {fault}",
        f"won at step 0: the opponent is out: {fault}",
    ]
    assert match["faults"] == {"naughty.py": f"lost at step 0: {fault}"}
    log = match["logs"]["naughty.py"]
    assert log.startswith("thinking\nTraceback (most recent call last):\n")
    assert Path(match["file"]).with_suffix(".0.log").read_text().rstrip() == log


def test_a_folder_that_cannot_be_written_is_named_before_the_first_match(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("play", "gomoku", *TWO, "--save", str(tmp_path / "file"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr.strip()
        == f"botdrome: matches cannot be saved in {tmp_path / 'file'}: File exists"
    )


def test_no_name_is_broken_at_80_columns(tmp_path: Path) -> None:
    names = [f"a_bot_with_quite_a_long_name_of_its_own_number_{number}.py" for number in range(2)]
    for name in names:
        (tmp_path / name).write_text(NAUGHTY)
    result = run(
        "play",
        "noughts-and-crosses",
        *(str(tmp_path / name) for name in names),
        "-n",
        "2",
        width=80,
    )
    for name in names:
        assert re.search(rf"^ +\d+ +\d+ +\d+ .* {name} *$", result.stdout, re.M), (
            "beside its numbers"
        )
        assert f"{name}: faults crash 1" in result.stdout
        assert (
            f"{name}: lost at step 0: crash: KeyError: 'no such key' (line 3 of {name})"
            in result.stdout
        )
    assert "wins" in result.stdout


# Clocks.


def test_a_match_on_a_chess_clock_has_it_in_its_file(tmp_path: Path) -> None:
    data = as_data(
        "noughts-and-crosses", *TWO, "-n", "1", "--clock", "40/60+0.6", "--save", str(tmp_path)
    )
    record, game = restored(Path(data["matches"][0]["file"]).read_bytes())
    assert record.setup.terms.pace.bank == Bank(60_000, 600, 40)
    verify(record, game)


def test_a_bad_clock_is_refused_with_examples() -> None:
    result = run("play", "noughts-and-crosses", *TWO, "--clock", "fast")
    assert result.exit_code == 2
    assert "--clock: there is no time control 'fast'; `40/60+0.6` is 60 s for 40 moves" in " ".join(
        result.stderr.split()
    )
