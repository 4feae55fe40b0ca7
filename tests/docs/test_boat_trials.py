"""The commands of the page on testing boat bots work."""

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import DOCS, blocks
from tests.docs.test_first_bot import BOTDROME
from tests.patience import PATIENCE

PAGE = "testing-boat-bots.md"


def output_of(folder: Path, command: str) -> str:
    words = [
        word.strip("'")
        for word in re.findall(r"'[^']*'|\S+", command.replace("python3", sys.executable))
    ]
    assert words[:3] == ["botdrome", "boats", "test"]
    result = subprocess.run(
        [*BOTDROME, *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return result.stdout


def commands() -> list[str]:
    return [
        line
        for block in blocks(PAGE)
        for line in block.splitlines()
        if line.startswith("botdrome boats test")
    ]


def test_house_bots_and_functions_are_tested_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(blocks(PAGE, "python")[0])
    house, function = commands()
    for command, bot in ((house, "hunter"), (function, "my_bot")):
        output = output_of(tmp_path, command)
        assert f"testing {bot}" in output
        assert re.search(r"positions +20, 20 of them unique", output)
        assert re.search(r"not sunk +0\n", output)
    assert len(list((tmp_path / "testDB").glob("test.10x10.*.ini"))) == 2


def test_the_page_names_every_key_of_the_file(tmp_path: Path) -> None:
    house = commands()[0].replace("hunter", "gunner").replace("20", "2")
    output_of(tmp_path, house)
    (file,) = (tmp_path / "testDB").iterdir()
    page = (DOCS / PAGE).read_text()
    for line in file.read_text().splitlines():
        key = line.partition("=")[0]
        assert f"`{key}`" in page or f"`{key.partition('.')[2]}`" in page, key
