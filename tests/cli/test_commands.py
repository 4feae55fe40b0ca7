"""The commands, as their users type them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from botdrome.bots.house import house_bots
from botdrome.catalogue import CATALOGUE
from botdrome.cli.app import app
from tests.cli.commands import run


def saved(folder: Path, game: str = "noughts-and-crosses") -> Path:
    result = run(
        "play",
        game,
        "house:random",
        "house:random",
        "-n",
        "1",
        "--seed",
        "3",
        "--save",
        str(folder),
    )
    assert result.exit_code == 0
    return next(folder.glob("*.jsonl"))


# play


def test_play_ends_with_a_table() -> None:
    result = run(
        "play", "noughts-and-crosses", "house:perfect", "house:random", "-n", "20", "--seed", "7"
    )
    assert result.exit_code == 0
    assert "noughts-and-crosses: 20 matches, seeds 7 to 16" in result.stdout
    header = next(line for line in result.stdout.splitlines() if "wins" in line)
    assert header.split() == [
        "bot",
        "wins",
        "draws",
        "losses",
        "points",
        "Elo",
        "95",
        "%",
        "beats",
        "next",
        "a",
        "move",
        "faults",
    ]
    rows = [line for line in result.stdout.splitlines() if "house:" in line]
    assert rows[0].split()[0] == "house:perfect", "the best comes first"
    assert rows[0].split()[-1] == "none"


def test_the_table_fits_a_narrow_terminal() -> None:
    words = ["play", "noughts-and-crosses", "house:perfect", "house:random", "-n", "4"]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "80", "TERM": "dumb"})
    assert "faults" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_play_as_json_lists_every_match_with_its_seed() -> None:
    result = run(
        "play",
        "noughts-and-crosses",
        "house:random",
        "house:random",
        "-n",
        "4",
        "--json",
        "--seed",
        "5",
    )
    data = json.loads(result.stdout)
    assert [match["seed"] for match in data["matches"]] == [5, 5, 6, 6]
    assert [match["bots"][0] for match in data["matches"]] == [
        "house:random",
        "house:random #2",
    ] * 2
    assert sum(row["wins"] + row["losses"] + row["draws"] for row in data["standings"]) == 8
    assert set(data["standings"][0]) == {
        "bot", "version", "wins", "draws", "losses", "points", "elo", "beatsNext",
        "meanSecondsPerMove", "faults",
    }  # fmt: skip


def test_options_reach_the_game() -> None:
    result = run(
        "play", "gomoku", "house:random", "house:random", "-n", "1", "--option", "size=9", "--json"
    )
    assert json.loads(result.stdout)["options"] == {"size": 9}


def test_more_bots_than_seats_meet_in_all_choices() -> None:
    result = run(
        "play",
        "noughts-and-crosses",
        "house:perfect",
        "house:random",
        "house:random",
        "-n",
        "2",
        "--json",
    )
    assert len(json.loads(result.stdout)["matches"]) == 6


def test_a_game_for_many_seats_all_unless_told_otherwise() -> None:
    together = run("play", "battleship", *["house:random"] * 3, "-n", "1", "--json")
    assert [len(match["bots"]) for match in json.loads(together.stdout)["matches"]] == [3]
    in_pairs = run(
        "play", "battleship", *["house:random"] * 3, "-n", "1", "--players", "2", "--json"
    )
    assert [len(match["bots"]) for match in json.loads(in_pairs.stdout)["matches"]] == [2, 2, 2]


def test_faults_are_counted_and_explained(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def bot(view):\n    return view['no such key']\n")
    result = run(
        "play", "noughts-and-crosses", str(tmp_path / "broken.py"), "house:random", "-n", "8"
    )
    assert result.exit_code == 0, "a bot that fails has lost, and that is all"
    assert "crash 8" in result.stdout
    assert (
        "match 1, seed 1, broken.py: lost at step 0: crash: KeyError: 'no such key' (line 2 of "
        "broken.py)" in result.stdout
    )
    assert "... and 3 more; --json lists them all" in result.stdout


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "import no_such_module\n",
            "ModuleNotFoundError: No module named 'no_such_module' (line 1 of broken.py)",
        ),
        (
            "class Bot:\n    def __init__(self):\n        raise KeyError('no')\n",
            "KeyError: 'no' (line 3 of broken.py)",
        ),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--in-process",)])
def test_a_bot_that_cannot_start_is_told_by_the_status(
    tmp_path: Path, source: str, words: str, flags: tuple[str, ...]
) -> None:
    (tmp_path / "broken.py").write_text(source)
    result = run(
        "play",
        "noughts-and-crosses",
        str(tmp_path / "broken.py"),
        "house:random",
        "-n",
        "2",
        *flags,
    )
    assert result.exit_code == 1
    assert f"match 1, seed 1, broken.py: lost at step 0: crash: {words}" in result.stdout


def test_a_program_that_ends_without_a_word_is_told_by_the_status() -> None:
    assert run("play", "noughts-and-crosses", "cmd:false", "house:random", "-n", "2").exit_code == 1


def test_a_bot_that_prints_is_told_where_that_is_kept(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("def bot(view):\n    print('here')\n    return 5\n")
    words = ("play", "noughts-and-crosses", str(tmp_path / "loud.py"), "house:random", "-n", "1")
    assert (
        "Printed something: loud.py. `--save FOLDER` keeps it beside the match files."
        in run(*words).stdout
    )
    assert "Printed something" not in run(*words, "--save", str(tmp_path / "saved")).stdout
    assert (tmp_path / "saved" / "noughts-and-crosses-1-00001.0.log").read_text() == "here\n" * 3


@pytest.mark.parametrize("flags", [(), ("--in-process",)])
def test_nan_is_called_so(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "odd.py").write_text(
        "def bot(view):\n    return {'mark': 'X', 'space': [float('nan'), 0]}\n"
    )
    result = run(
        "play", "noughts-and-crosses", str(tmp_path / "odd.py"), "house:random", "-n", "1", *flags
    )
    assert "a row is a whole number, not 'nan'" in result.stdout.replace("from 0 to 2", "").replace(
        "  ", " "
    )


def test_a_file_that_is_no_text_is_no_bot(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x00\x01")
    result = run("play", "noughts-and-crosses", str(tmp_path / "binary.py"), "house:random")
    assert result.exit_code == 1 and "binary.py: " in result.stderr and "None" not in result.stderr


def test_refused_moves_are_counted(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def bot(view):\n    return 5\n")
    result = run(
        "play", "noughts-and-crosses", str(tmp_path / "wrong.py"), "house:random", "-n", "2"
    )
    assert "illegal moves 2, refused moves 6" in result.stdout


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        (
            ["chess", "house:random", "house:random"],
            2,
            "there is no game 'chess'; there are noughts-and-crosses",
        ),
        (["gomoku", "house:random"], 2, "gomoku is for 2 players, not 1"),
        (
            ["gomoku", "house:random", "house:random", "--players", "3"],
            2,
            "gomoku is for 2 players, not 3",
        ),
        (
            ["battleship", "house:random", "house:random", "--players", "4"],
            2,
            "4 players need 4 bots",
        ),
        (
            ["battleship", "house:random", "house:random", "--players", "10"],
            2,
            "battleship is for 2 to 9 players, not 10",
        ),
        (
            ["gomoku", "house:random", "house:random", "-o", "size"],
            2,
            "an option is NAME=VALUE, not 'size'",
        ),
        (
            ["gomoku", "house:random", "house:random", "-o", "size=99"],
            2,
            "gomoku: size: expected `int` <= 25",
        ),
        (
            ["gomoku", "house:random", "house:random", "-o", "colour=red"],
            2,
            "gomoku has no option 'colour'; it has size",
        ),
        (
            ["gomoku", "house:random", "house:nobody"],
            1,
            "house:nobody: for gomoku the house has random",
        ),
        (
            ["gomoku", "house:random", "cmd:/no/such/thing"],
            1,
            "there is no program '/no/such/thing'",
        ),
    ],
)
def test_what_cannot_be_played_is_said_in_words(
    words: list[str], status: int, problem: str
) -> None:
    result = run("play", *words)
    assert result.exit_code == status
    assert problem in result.stderr
    assert result.stdout == ""


def test_a_bot_that_fails_to_start_in_the_middle_ends_it_with_status_1(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = run("play", "noughts-and-crosses", f"cmd:{script}", "house:random")
    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr


# games


def test_what_stands_in_brackets_is_no_markup() -> None:
    assert (
        "the first cell of each seat, [x, y, z]; none: drawn by lot"
        in run("games", "battlecube").stdout
    )
    assert "there is no game '[chess]'" in run("games", "[chess]").stderr


def test_games_lists_every_game_with_options_and_examples() -> None:
    text = run("games").stdout
    for row in CATALOGUE.values():
        assert row.name in text
    assert text.count("view: {") >= len(CATALOGUE)
    assert text.count("move: ") >= len(CATALOGUE)
    assert "house:perfect" in text


@pytest.mark.parametrize("game", CATALOGUE)
def test_one_game_in_full(game: str) -> None:
    text = run("games", game).stdout
    views = [
        json.loads(line.partition("view: ")[2]) for line in text.splitlines() if "view: " in line
    ]
    assert views
    assert all("you" in view for view in views)
    assert all(f"house:{bot}" in text for bot in house_bots(game))


def test_an_unknown_game_is_named() -> None:
    result = run("games", "chess")
    assert result.exit_code == 2
    assert "there is no game 'chess'" in result.stderr


# verify and replay


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_saved_match_verifies_and_replays(game: str, tmp_path: Path) -> None:
    file = saved(tmp_path, game)
    assert run("verify", str(file)).stdout.startswith(f"{file}: ")
    shown = run("replay", str(file), "--turn", "0").stdout
    assert shown.startswith(f"{game}  step 0")
    assert "house:random" in shown


def test_a_whole_match_is_printed_where_there_is_no_terminal(tmp_path: Path) -> None:
    shown = run("replay", str(saved(tmp_path))).stdout
    assert "board 1: house:random, house:random #2" in shown
    assert "step 5" in shown
    assert "wins" in shown or "a tie" in shown


def test_verify_names_the_file_and_the_line(tmp_path: Path) -> None:
    good, bad = saved(tmp_path / "good"), tmp_path / "bad.jsonl"
    lines = good.read_bytes().splitlines(keepends=True)
    bad.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"by":1', b'"by":0'), *lines[3:-2]]))
    result = run("verify", str(good), str(bad), str(tmp_path / "missing.jsonl"))
    assert result.exit_code == 1
    assert f"{good}: " in result.stdout
    assert f"{bad}: line 3: the news differ from here on" in result.stdout
    assert "missing.jsonl: [Errno 2] No such file" in result.stdout


def test_verify_says_when_a_match_has_no_result(tmp_path: Path) -> None:
    file = saved(tmp_path)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:4]))
    assert "3 inputs hold; the match has no result yet" in run("verify", str(file)).stdout


def test_a_file_of_an_unknown_game_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path)
    head, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(
        head.replace(b"noughts-and-crosses", b"chess") + b"\n" + rest.partition(b"\n")[0] + b"\n"
    )
    assert "line 1: there is no game 'chess'" in run("verify", str(file)).stdout
    result = run("replay", str(file))
    assert result.exit_code == 1
    assert "line 1: there is no game 'chess'" in result.stderr


def test_a_file_with_unknown_options_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path)
    file.write_bytes(
        file.read_bytes().partition(b"\n")[0].replace(b'"options":{}', b'"options":{"size":4}')
        + b"\n"
    )
    assert "line 1: noughts-and-crosses has no option 'size'" in run("verify", str(file)).stdout


def test_a_step_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = run("replay", str(saved(tmp_path)), "--turn", "99")
    assert result.exit_code == 1
    assert "there is no step 99; the match has steps 0 to" in result.stderr


# demo


def test_the_demo_shows_every_game_and_a_tournament() -> None:
    result = run("demo", "--pause", "0")
    assert result.exit_code == 0
    for game in CATALOGUE:
        assert f"{game}  step" in result.stdout
    assert "500 matches" in result.stdout
    assert "then open http://127.0.0.1:3000/" in result.output
