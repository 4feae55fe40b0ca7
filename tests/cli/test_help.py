"""The help of the commands is true: it shows what an option is when nobody gives it."""

import re

import pytest
import typer
from typer.testing import CliRunner

from botdrome.cli.app import app
from botdrome.server.settings import Settings

COMMANDS = typer.main.get_group(app).commands


def shown(command: str) -> str:
    """As one line, without the frame."""
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.output).split())


@pytest.mark.parametrize("command", COMMANDS)
def test_no_default_is_swallowed_as_markup(command: str) -> None:
    page = shown(command)
    for parameter in COMMANDS[command].params:
        for default in re.findall(r"\\?\[default: .*?\]", getattr(parameter, "help", None) or ""):
            assert default.removeprefix("\\") in page


@pytest.mark.parametrize("key", ["host", "port", "duel_port", "xbs_port", "cube_port", "bomber_port"])
def test_serve_shows_the_defaults_of_the_settings(key: str) -> None:
    (words,) = [getattr(option, "help", "") for option in COMMANDS["serve"].params if option.name == key]
    assert f"[default: {getattr(Settings(), key) or 'off'}]" in words
