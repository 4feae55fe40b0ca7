"""The commands of the page on testing boat bots work."""

import re
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.docs.pages import DOCS, blocks

PAGE = "testing-boat-bots.md"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output_of(command: str) -> str:
    name, *words = command.split()
    assert (name, *words[:2]) == ("botdrome", "boats", "test")
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def commands() -> list[str]:
    return [
        line
        for block in blocks(PAGE)
        for line in block.splitlines()
        if line.startswith("botdrome boats test")
    ]


def test_house_bots_and_functions_are_tested_as_the_page_says(folder: Path) -> None:
    (folder / "my_bot.py").write_text(blocks(PAGE, "python")[0])
    house, function = commands()
    for command, bot in ((house, "hunter"), (function, "my_bot")):
        output = output_of(command)
        assert f"testing {bot}" in output
        assert re.search(r"positions +20, 20 of them unique", output)
        assert re.search(r"not sunk +0\n", output)
    assert len(list((folder / "testDB").glob("test.10x10.*.ini"))) == 2


def test_the_page_names_every_key_of_the_file(folder: Path) -> None:
    house = commands()[0].replace("hunter", "gunner").replace("20", "2")
    output_of(house)
    (file,) = (folder / "testDB").iterdir()
    page = (DOCS / PAGE).read_text()
    for line in file.read_text().splitlines():
        key = line.partition("=")[0]
        assert f"`{key}`" in page or f"`{key.partition('.')[2]}`" in page, key
