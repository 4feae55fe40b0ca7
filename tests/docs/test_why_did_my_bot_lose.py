"""The commands of the page on lost matches work, one after the other."""

import re
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.docs.pages import DOCS, blocks

PAGE = "why-did-my-bot-lose.md"
PLAY = ["play", "noughts-and-crosses", "my_bot.py", "house:perfect", "--save", "matches", "-n"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run, with the bot."""
    (tmp_path / "my_bot.py").write_text(blocks("first-bot.md", "python")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_lead_from_a_lost_match_to_a_check(folder: Path) -> None:
    commands = [
        line
        for block in blocks(PAGE)
        for line in block.splitlines()
        if line.startswith("botdrome ")
    ]
    assert [command.split()[1] for command in commands] == [
        "play",
        "why",
        "rerun",
        "fork",
        "blunders",
        "check",
        "check",
    ]
    for command in commands:
        words = command.split()[1:]
        result = run(*words)
        unsolved = "--puzzles" in words
        assert result.exit_code == (1 if unsolved else 0), f"{command}\n{result.output}"
        assert result.stdout
    assert list((folder / "puzzles").iterdir())
    assert list((folder / "forks").iterdir())


def test_the_page_shows_real_output(folder: Path) -> None:
    """The step and the moves in the example of `blunders` are those of the first match."""
    (example,) = [block for block in blocks(PAGE) if "could be saved" in block]
    assert run(*PLAY, "10").exit_code == 0
    assert example in run("blunders", "matches", "--player", "my_bot.py", width=80).stdout


def test_the_page_shows_the_real_words_of_why(folder: Path) -> None:
    (example,) = [block for block in blocks(PAGE, "text") if "What decided it" in block]
    assert run(*PLAY, "1").exit_code == 0
    assert run("why", "matches/noughts-and-crosses-1-00001.jsonl", width=80).stdout == example


def test_the_page_names_the_exit_statuses() -> None:
    page = (DOCS / PAGE).read_text()
    assert len(re.findall(r"^\| 2 \| the command is not valid \|$", page, re.MULTILINE)) == 2
