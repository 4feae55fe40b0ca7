"""The page on adding a game is true: two steps, and the game is played through every door that is
not tied to another game.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from botdrome.bots.house import any_legal_move, seated
from botdrome.bots.simulate import simulate
from botdrome.games.game import BadOption
from botdrome.games.options import options_in, options_of, with_options
from botdrome.match.match import Match
from botdrome.match.record import match_file, read, verify
from tests.docs.example_game import CODE, FORMAT, ROW, RockPaperScissors

ROOT = Path(__file__).parents[2]
DOORS = {
    "contract of all games": "tests/contract/test_games.py",
    "golden file": "tests/golden/test_golden.py",
    "games, play, verify and replay in the terminal": "tests/cli/test_commands.py",
    "REST": "tests/api/test_rest.py",
    "GraphQL": "tests/api/test_graphql_games.py",
    "films": "tests/api/test_films.py",
    "live spectators": "tests/api/test_watching.py",
    "native WebSocket, and bots with a URL": "tests/server/lobby/test_url_bots.py",
    "people with the generic page, and house bots": "tests/server/battlebot/test_people.py",
}
"""Tests that run for each game in `CATALOGUE`."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the two steps of the page were taken."""
    folder = tmp_path_factory.mktemp("sources")
    package = shutil.copytree(ROOT / "src" / "botdrome", folder / "botdrome")
    (package / "games" / "rock_paper_scissors.py").write_text(CODE)
    catalogue = (package / "catalogue.py").read_text()
    catalogue = catalogue.replace(
        "    for row in (\n", f"    for row in (\n        {ROW.strip()},\n"
    )
    catalogue = catalogue.replace(
        "\nclass CatalogueEntry",
        "\nfrom botdrome.games.rock_paper_scissors import RockPaperScissors\n\nclass CatalogueEntry",
    )
    (package / "catalogue.py").write_text(catalogue)
    return folder


def test_two_steps_open_every_door(sources: Path) -> None:
    options = [
        "-p",
        "no:cacheprovider",
        "-o",
        f"pythonpath={sources} .",
        "-k",
        "rock",
        "-rA",
        "--no-header",
    ]
    command = [sys.executable, "-m", "pytest", *options, *DOORS.values()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for door, file in DOORS.items():
        assert re.search(
            rf"^PASSED {file}::\S+\[.*rock", done.stdout, re.MULTILINE | re.IGNORECASE
        ), door


def test_the_example_plays_by_its_row_and_replays() -> None:
    bots = [seated(any_legal_move, player) for player in range(2)]
    match = simulate(Match(FORMAT.game, 2, FORMAT.terms, 3), bots)
    assert match.steps == 5
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    record = read(match_file(match, ["a", "b"]))
    verify(record, FORMAT.game)


def test_paper_beats_rock_and_anything_beats_nothing() -> None:
    position = RockPaperScissors(rounds=2)
    position = position.play(
        {0: position.parse(0, {"throw": "rock"}), 1: position.parse(1, {"throw": "paper"})}, None
    )
    assert position.scores == (0, 1)
    assert position.play({0: 2}, None).scores == (1, 1)


def test_its_option_is_found_and_checked() -> None:
    assert list(options_of(FORMAT.game)) == ["rounds"]
    assert options_in(with_options(FORMAT.game, {"rounds": "9"})) == {"rounds": 9}
    with pytest.raises(BadOption, match="rounds: expected `int` >= 1"):
        with_options(FORMAT.game, {"rounds": 0})


def test_a_simple_game_is_short() -> None:
    assert len(CODE.splitlines()) < 80
