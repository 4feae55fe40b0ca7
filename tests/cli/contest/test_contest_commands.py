"""`botdrome contest`: documents, runs, reruns and withdrawals."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import run

FIRST = (
    "def bot(view):\n    return {'space': next([x, y] for x in range(3) for y in range(3) if "
    "not view['board'][x][y])}\n"
)
FAILING = "def bot(view):\n    raise ValueError('no idea')\n"
CUP = """\
name = "cup"
game = "noughts-and-crosses"
games = {games}
owner = "olga"

[entry]
versions = true

[[entrants]]
bot = "house:random"
name = "ada"

[[entrants]]
bot = "house:perfect"
name = "bob"

[[entrants]]
bot = "mine.py"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in this folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_cup(bot: str, games: int = 2) -> None:
    Path("cup.toml").write_text(CUP.format(games=games))
    Path("mine.py").write_text(bot)


def shown() -> Any:
    return json.loads(run("contest", "show", "cup.toml", "--json").stdout)


@pytest.mark.parametrize("game", ["noughts-and-crosses", "bumblebots"])
def test_a_new_document_is_correct(game: str) -> None:
    assert run("contest", "new", game).exit_code == 0
    checked = run("contest", "check", f"{game}-cup.toml")
    assert checked.exit_code == 0 and "entrants, about" in checked.stdout
    again = run("contest", "new", game)
    assert again.exit_code == 2 and "exists already" in again.stderr


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["new", "chess"], "there is no game 'chess'"),
        (["new", "gomoku", "--format", "war"], "there is no format 'war'"),
    ],
)
def test_no_document_is_written_for_what_does_not_exist(command: list[str], problem: str) -> None:
    done = run("contest", *command)
    assert done.exit_code == 2 and problem in done.stderr and not list(Path().iterdir())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('name = "cup"\ngame = "chess"\n', "line 2: game: there is no game 'chess'"),
        ('name = "cup"\ngame = \n', "line 2: this is not TOML"),
        (
            'name = "cup"\ngame = "gomoku"\n\n[entry]\nper_owner = 0\n',
            "line 5: entry.per_owner: a whole number of at least 1, not 0",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_bad_document_is_refused_with_the_line_and_an_example(
    command: str, text: str, problem: str
) -> None:
    Path("cup.toml").write_text(text)
    done = run("contest", command, "cup.toml")
    assert (
        done.exit_code == 2
        and f"cup.toml: {problem}" in done.stderr
        and 'name = "autumn-cup"' in done.stderr
    )
    assert not Path("cup.db").exists()


def test_check_tells_which_bots_cannot_start() -> None:
    a_cup(FIRST)
    assert (
        "3 entrants, about 6 matches, 6 of them in round 1"
        in run("contest", "check", "cup.toml").stdout
    )
    Path("mine.py").unlink()
    checked = run("contest", "check", "cup.toml")
    assert (
        checked.exit_code == 1
        and "mine.py cannot start: mine.py: the file cannot be read" in checked.stdout
    )
    refused = run("contest", "run", "cup.toml")
    assert refused.exit_code == 1 and "mine.py cannot start" in refused.stderr
    Path("cup.toml").write_text('name = "cup"\ngame = "gomoku"\n')
    assert "it is for a server" in run("contest", "check", "cup.toml").stdout


def test_failed_matches_are_played_again_and_the_log_keeps_the_old_results() -> None:
    a_cup(FAILING)
    assert run("contest", "run", "cup.toml", "--json").exit_code == 0
    assert (shown()["state"], shown()["standings"][-1]["crashes"]) == ("over", 4)
    Path("mine.py").write_text(FIRST)
    done = run("contest", "repeat", "cup.toml", "--only", "failed")
    assert done.exit_code == 0 and "over, 6 of 6 matches" in done.stdout
    after = shown()
    assert [standing["crashes"] for standing in after["standings"]] == [0, 0, 0]
    assert [line["action"] for line in after["log"]] == [
        "created",
        "running",
        "over",
        "annulled",
        "new version",
        "running",
        "over",
    ]
    assert len(after["log"][3]["old"]) == 4 and after["log"][0]["author"] == "olga"
    nothing = run("contest", "repeat", "cup.db", "--only", "failed")
    assert nothing.exit_code == 2 and "there are no such matches" in nothing.stderr
    assert "say which matches" in run("contest", "repeat", "cup.db").stderr
    assert (
        "no bot 'eve' in this contest; there are ada, bob, mine.py"
        in run("contest", "repeat", "cup.db", "--bot", "eve").stderr
    )


def test_a_withdrawn_bot_forfeits_and_may_come_back() -> None:
    a_cup(FIRST)
    assert run("contest", "run", "cup.toml").exit_code == 0
    assert (
        "forfeits 0 matches" in run("contest", "withdraw", "cup.toml", "bob", "--why", "ill").stdout
    )
    assert "has been withdrawn already" in run("contest", "withdraw", "cup.db", "bob", "cup").stderr
    page = run("contest", "show", "cup.db", "cup", "--log").stdout
    assert "olga withdrawn bob: ill" in page and "round 1: 6 of 6 matches" in page
    assert run("contest", "repeat", "cup.toml", "--bot", "bob").exit_code == 0
    assert not any(standing["withdrawn"] for standing in shown()["standings"])


def test_a_store_without_the_contest_is_told() -> None:
    a_cup(FIRST)
    assert "there is no store" in run("contest", "show", "cup.toml").stderr
    assert (
        "cup.toml is the document of 'cup', not of 'mug'"
        in run("contest", "show", "cup.toml", "mug").stderr
    )
    assert run("contest", "show", "none.toml").exit_code == 1
