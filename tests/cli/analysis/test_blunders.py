"""`botdrome blunders`: the last step at which a lost match could still be saved."""

import json
from pathlib import Path

import pytest

from botdrome.analysis.position_file import Estimate, last_question, read_position
from botdrome.cli.lost_matches import estimate_text
from tests.cli.analysis.files import saved
from tests.cli.commands import run
from tests.match.recorded_matches import new_match, noughts
from tests.match.telling import mark


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_last_chance_is_shown_and_written_as_a_puzzle(tmp_path: Path) -> None:
    saved(tmp_path)
    result = run("blunders", "lost.jsonl")
    assert result.exit_code == 0
    assert "lost.jsonl: player 1, bob.py\n" in result.stdout
    assert "  step 3 is the last one at which the match could be saved\n" in result.stdout
    assert '  played  {"mark":"O","space":[2,2]}: lost (exact)\n' in result.stdout
    assert '  better  {"mark":"O","space":[0,2]}: a draw (exact)\n' in result.stdout
    assert "Estimates: solved exactly." in result.stdout
    file, game = read_position(Path("puzzles/lost-player-1-step-3.json").read_bytes())
    assert file.puzzle is not None
    assert [move.move for move in file.puzzle.better] == [mark(1, 0, 2)]
    assert last_question(file, game).step == 3


def test_a_folder_is_searched_for_one_player_in_several_processes(tmp_path: Path) -> None:
    (tmp_path / "matches").mkdir()
    saved(tmp_path / "matches", "1.jsonl")
    saved(tmp_path / "matches", "2.jsonl", names=("eve", "bob.py"))
    saved(tmp_path / "matches", "3.jsonl", names=("bob.py", "eve"))
    saved(tmp_path / "matches", "4.jsonl", names=("ada", "eve"))
    result = run("blunders", "matches", "--player", "bob.py", "--json", "-j", "2")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert sorted((Path(row["match"]).name, row["player"], row["step"]) for row in rows) == [
        ("1.jsonl", 1, 3),
        ("2.jsonl", 1, 3),
    ]
    assert all(row["clear"] and row["lost"]["estimate"]["share"] == 0 for row in rows)
    everybody = json.loads(run("blunders", "matches", "--json").stdout)
    assert [row["player"] for row in everybody] == [1, 1, 1, 1]


def test_a_player_that_was_put_out(tmp_path: Path) -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    match.expel(1, "crash", 5, "ValueError")
    saved(tmp_path, match=match)
    result = run("blunders", "lost.jsonl")
    assert "player 1, bob.py, out by crash\n" in result.stdout
    assert "  played  no legal move\n" in result.stdout


def test_a_match_without_hope(tmp_path: Path) -> None:
    match = new_match("gomoku", size=5, win_length=3)
    for x, y in ((2, 2), (0, 0), (2, 1), (0, 4), (2, 3)):
        match.submit(match.awaited[0], {"x": x, "y": y}, 0)
    match.expel(1, "crash", 0)
    saved(tmp_path, match=match)
    result = run("blunders", "lost.jsonl", "--playouts", "4", "--player", "1")
    assert result.exit_code == 0
    assert "lost.jsonl" in result.stdout
    assert "house:threat plays for all players" in result.stdout


def test_nothing_was_lost(tmp_path: Path) -> None:
    saved(tmp_path)
    result = run("blunders", "lost.jsonl", "--player", "ada")
    assert (result.exit_code, result.stdout) == (0, "no match was lost\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing.jsonl"], "there is no file"),
        (["lost.jsonl", "--player", "eve"], "there is no player 'eve'"),
        (["running.jsonl"], "the match has no result"),
    ],
)
def test_bad_commands(tmp_path: Path, words: list[str], why: str) -> None:
    saved(tmp_path)
    saved(tmp_path, "running.jsonl", noughts())
    result = run("blunders", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr


def test_estimates_are_texts() -> None:
    assert estimate_text(Estimate(0.5, 0.5, 0.5, 0)) == "a draw (exact)"
    assert estimate_text(Estimate(0.5, 0.314, 0.686, 24)) == "50% of the points [31% .. 69%]"
