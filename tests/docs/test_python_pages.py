"""The examples of the pages about Python run."""

from pathlib import Path
from typing import Any

import pytest

import botdrome
from botdrome.encodings import ENCODINGS
from tests.docs.pages import DOCS, blocks


@pytest.mark.parametrize("page", ["python-api.md", "training.md"])
def test_the_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    codes = [
        code for code in blocks(page, "python") if "PolicyPool" not in code
    ]  # test_training_page.py runs that one
    assert codes
    for code in codes:
        exec(compile(code, page, "exec"), names)


def test_the_pages_name_everything_public() -> None:
    pages = (DOCS / "python-api.md").read_text() + (DOCS / "training.md").read_text()
    classes = {
        "GameSetup": "a set-up",
        "Position": "on a position",
        "MatchResult": "of a result",
        "ServerClient": "on a server",
        "__version__": "",
    }
    assert [
        name for name in botdrome.__all__ if classes.get(name, f"botdrome.{name}") not in pages
    ] == []


def test_the_training_page_has_every_game() -> None:
    page = (DOCS / "training.md").read_text().lower()
    assert [game for game in ENCODINGS if f"| {game.replace('-', ' ')} |" not in page] == []
