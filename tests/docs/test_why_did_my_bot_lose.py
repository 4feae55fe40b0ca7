"""The commands of the page on lost matches work, one after the other."""

import re
import subprocess
from pathlib import Path

from tests.docs.pages import DOCS, blocks
from tests.docs.test_first_bot import BOTDROME
from tests.patience import PATIENCE

PAGE = "why-did-my-bot-lose.md"


def test_the_commands_lead_from_a_lost_match_to_a_check(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(blocks("first-bot.md", "python")[0])
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
        result = subprocess.run(
            [*BOTDROME, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        unsolved = "--puzzles" in words
        assert result.returncode == (1 if unsolved else 0), (
            f"{command}\n{result.stdout}{result.stderr}"
        )
        assert result.stdout
    assert list((tmp_path / "puzzles").iterdir())
    assert list((tmp_path / "forks").iterdir())


def test_the_page_shows_real_output(tmp_path: Path) -> None:
    """The step and the moves in the example of `blunders` are those of the first match."""
    (tmp_path / "my_bot.py").write_text(blocks("first-bot.md", "python")[0])
    (example,) = [block for block in blocks(PAGE) if "could be saved" in block]
    play = [
        "play",
        "noughts-and-crosses",
        "my_bot.py",
        "house:perfect",
        "-n",
        "10",
        "--save",
        "matches",
    ]
    subprocess.run(
        [*BOTDROME, *play], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True
    )
    command = [*BOTDROME, "blunders", "matches", "--player", "my_bot.py"]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert example in result.stdout


def test_the_page_shows_the_real_words_of_why(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(blocks("first-bot.md", "python")[0])
    (example,) = [block for block in blocks(PAGE, "text") if "What decided it" in block]
    play = [
        "play",
        "noughts-and-crosses",
        "my_bot.py",
        "house:perfect",
        "-n",
        "1",
        "--save",
        "matches",
    ]
    subprocess.run(
        [*BOTDROME, *play], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True
    )
    command = [*BOTDROME, "why", "matches/noughts-and-crosses-1-00001.jsonl"]
    assert (
        subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True
        ).stdout
        == example
    )


def test_the_page_names_the_exit_statuses() -> None:
    page = (DOCS / PAGE).read_text()
    assert len(re.findall(r"^\| 2 \| the command is not valid \|$", page, re.MULTILINE)) == 2
