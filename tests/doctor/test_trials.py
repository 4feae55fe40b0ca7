"""Broken bots, each diagnosed by name, and healthy ones."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from botdrome.cli.app import app

HERE = Path(__file__).parent
DUEL = ["--protocol", "duel", "--", sys.executable, str(HERE / "duel_bot.py"), "{host}", "{port}", "{name}"]
CUBE = ["--protocol", "battlecube", "--", sys.executable, str(HERE / "cube_bot.py"), "{port}"]
FAULTS = {
    "chunks": "joined messages",
    "strict": "unknown keys",
    "order": "key order",
    "latin": "emoji name",
    "impatient": "long wait",
    "quits": "lost connection",
    "twice": "repeated question",
}


def examined(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["doctor", "--json", "--silence", "2", "--patience", "60", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if report["ok"] else 1)
    return report


def failures(report: dict[str, Any]) -> dict[str, str]:
    return {one["ailment"]: one["diagnosis"] for one in report["trials"] if not one["passed"]}


@pytest.mark.parametrize("command", [DUEL, CUBE], ids=["duel", "battlecube"])
def test_a_healthy_bot_passes(command: list[str]) -> None:
    assert failures(examined(*command, "healthy")) == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_bot_is_diagnosed(fault: str) -> None:
    """On a busy machine messages may come in other pieces and later, so two of the bots fail in a plain match already."""
    found = failures(examined(*DUEL, fault))
    assert FAULTS[fault] in found or (fault in ("chunks", "impatient") and "plain" in found)


def test_a_hasty_http_bot_is_diagnosed() -> None:
    """On a busy machine a plain match is too slow for it already."""
    assert failures(examined(*CUBE, "hasty")).keys() & {"slow HTTP", "plain"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--protocol", "chess"], "there is no protocol 'chess'"),
        ([], "--game is missing"),
        (["--protocol", "duel", "--game", "battleship"], "duel has only the game gomoku"),
        (["--protocol", "battlecube"], "battlecube needs either --url"),
        (["--protocol", "duel", "--url", "http://127.0.0.1:1"], "--url is only for battlecube"),
    ],
)
def test_a_bad_command_is_refused(words: list[str], error: str) -> None:
    result = CliRunner().invoke(app, ["doctor", *words])
    assert result.exit_code == 2
    assert error in result.stderr
