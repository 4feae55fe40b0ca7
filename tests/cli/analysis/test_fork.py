"""`botdrome fork`: a recorded match is continued from one of its steps."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from botdrome.analysis.position_file import encoded, position_file
from botdrome.catalogue import CATALOGUE, restored
from botdrome.cli.app import app
from botdrome.cli.fork import typed_move
from botdrome.games.chance import Chance
from botdrome.match.questions import questions
from botdrome.match.record import verify
from tests.cli.analysis.files import saved
from tests.cli.commands import run
from tests.match.recorded_matches import lost_by_bob, recorded


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typing(text: str, *words: str) -> Result:
    return CliRunner().invoke(
        app, list(words), input=text, env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False
    )


def test_a_match_continues_with_house_bots_and_is_saved(tmp_path: Path) -> None:
    saved(tmp_path)
    result = run("fork", "lost.jsonl", "--step", "3", "house:perfect", "house:perfect", "-n", "2")
    assert result.exit_code == 0
    assert (
        result.stdout.count(
            "a tie (house:perfect 0, house:perfect #2 0), after 9 steps: forks/lost-step-3-fork-"
        )
        == 2
    )
    assert "recorded: ada wins (ada 1, bob.py 0)\n" in result.stdout
    assert (
        "player 1, house:perfect #2: 0 wins, 2 draws, 0 losses; recorded place 2\n" in result.stdout
    )
    for file in ("forks/lost-step-3-fork-1.jsonl", "forks/lost-step-3-fork-2.jsonl"):
        verify(*restored(Path(file).read_bytes()))


def test_without_bots_the_house_plays(tmp_path: Path) -> None:
    saved(tmp_path)
    result = run("fork", "lost.jsonl", "--step", "0", "--json", "--save", "other")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["players"] == ["house:perfect", "house:perfect #2"]
    assert told["recorded"]["places"] == [1, 2]
    (row,) = told["continuations"]
    assert (row["places"], row["steps"], row["file"]) == (
        [1, 1],
        9,
        "other/lost-step-0-fork-1.jsonl",
    )


def test_recorded_players_and_faults_are_explained(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "bad.py").write_text("def bot(view):\n    return 1 / 0")
    crash = run("fork", "lost.jsonl", "--step", "3", "recorded", "bad.py")
    assert crash.exit_code == 0
    assert "  bad.py: crash: ZeroDivisionError" in crash.stdout
    (tmp_path / "corner.py").write_text('def bot(view):\n    return {"mark": "O", "space": [0, 2]}')
    left = run("fork", "lost.jsonl", "--step", "3", "recorded", "corner.py")
    assert (
        "ada (recorded): no legal recorded move at step 4; house:perfect took over" in left.stdout
    )


def test_a_position_file_is_continued(tmp_path: Path) -> None:
    record, game = recorded(lost_by_bob())
    (tmp_path / "puzzle.json").write_bytes(
        encoded(position_file(questions(record, game, 1)[-1], record))
    )
    result = run("fork", "puzzle.json", "house:perfect", "house:perfect")
    assert result.exit_code == 0
    assert "forks/puzzle-step-3-fork-1.jsonl" in result.stdout
    assert "recorded: player 0 wins" in result.stdout


def test_a_person_plays_in_the_terminal(tmp_path: Path) -> None:
    saved(tmp_path)
    words = ("fork", "lost.jsonl", "--step", "3", "recorded", "human")
    result = typing('nonsense\n1 1\n{"mark": "O"\n0 2\n1 2\n1 0\n2 0\n2 1\n0 0\n', *words)
    assert result.exit_code == 0
    assert "step 3: human moves" in result.stdout
    assert "no legal move ends like that" in result.stdout
    assert "this is not JSON" in result.stdout
    assert "after " in result.stdout
    gone = typing("quit\n", *words)
    assert gone.exit_code == 1
    assert "stopped; nothing was saved" in gone.stdout
    assert typing("", *words).exit_code == 1
    assert len(list(Path("forks").iterdir())) == 1


def test_an_illegal_move_of_a_person_costs_nothing(tmp_path: Path) -> None:
    saved(tmp_path)
    text = '{"mark": "O", "space": [0, 0]}\n' * 5 + "0 2\n1 0\n1 2\n2 0\n2 1\n"
    result = typing(text, "fork", "lost.jsonl", "--step", "3", "recorded", "human")
    assert result.exit_code == 0
    assert result.stdout.count("space [0, 0] is taken") == 5


@pytest.mark.parametrize(
    ("game", "text", "move"),
    [
        ("gomoku", "7,7", {"x": 7, "y": 7}),
        ("gomoku", "(3, 4)", {"x": 3, "y": 4}),
        ("bomberman", "wait", {"action": "WAIT"}),
        ("bomberman", "bomb", {"action": "PLACE_BOMB"}),
        ("battlecube", "+x", [{"task": "MOVE", "direction": "+X"}]),
        ("battlecube", "1 2 3", [{"task": "BOMB", "x": 1, "y": 2, "z": 3}]),
        ("gomoku", '{"x": 1, "y": 2}', {"x": 1, "y": 2}),
    ],
)
def test_moves_are_typed_in_short(game: str, text: str, move: object) -> None:
    position = CATALOGUE[game].game.start(2, Chance(1))
    assert typed_move(text, list(position.moves(0))) == (move, "")


def test_a_short_move_must_be_unique() -> None:
    position = CATALOGUE["gomoku"].game.start(2, Chance(1))
    assert typed_move("7", list(position.moves(0))) == (None, "15 legal moves end like that")
    drones = CATALOGUE["bumblebots"].game.start(2, Chance(1))
    named = [raw for raw in drones.moves(0) if raw["orders"]]
    ((drone, direction),) = named[0]["orders"].items()
    assert typed_move(f"{drone} {direction}", named) == (named[0], "")
    assert typed_move("", named)[1] == "no legal move ends like that"


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["lost.jsonl"], 2, "--step is missing"),
        (
            ["lost.jsonl", "--step", "9"],
            2,
            "there is no step 9 to continue from; the match has steps 0 to 4",
        ),
        (["lost.jsonl", "--step", "3", "house:perfect"], 2, "name a bot for each player"),
        (["nothing.jsonl", "--step", "3"], 2, "there is no file"),
        (["lost.jsonl", "--step", "3", "house:perfect", "house:nobody"], 1, "the house has"),
    ],
)
def test_bad_commands(tmp_path: Path, words: list[str], status: int, why: str) -> None:
    saved(tmp_path)
    result = run("fork", *words)
    assert (result.exit_code, result.stdout) == (status, "")
    assert why in result.stderr
