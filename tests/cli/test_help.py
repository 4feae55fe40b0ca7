"""The help of the commands shows the true defaults of the options."""

import re

import pytest
from typer.testing import CliRunner

from botdrome.cli.app import app
from botdrome.cli.serve import setting_options
from botdrome.protocols import protocol_sections
from botdrome.server.settings import Setting, all_settings, sections_of
from tests.cli.commands import all_commands
from tests.docs.pages import DOCS

COMMANDS = {" ".join(words): command for words, command in all_commands()}


def shown(command: str) -> str:
    """As one line, without the frame."""
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.output).split())


@pytest.mark.parametrize("command", COMMANDS)
def test_no_default_is_swallowed_as_markup(command: str) -> None:
    page = shown(command)
    for parameter in COMMANDS[command].params:
        for default in re.findall(r"\\?\[default: .*?\]", getattr(parameter, "help", None) or ""):
            assert default.removeprefix("\\") in page


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("play", "playing-offline.md"),
        ("duel", "how-sure-is-that.md"),
        ("join", "joining-a-server.md"),
    ],
)
def test_all_exit_statuses_of_the_docs_are_in_the_help(command: str, page: str) -> None:
    (table,) = re.findall(
        r"^\| exit status \|.*\n\|---\|---\|\n((?:\|.*\n)+)",
        (DOCS / page).read_text(),
        re.MULTILINE,
    )
    (words,) = re.findall(r"Ends with status (.*?)\. ", shown(command))
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == re.findall(r"\d+", words)


@pytest.mark.parametrize(
    "setting", list(all_settings(protocol_sections())), ids=lambda setting: setting.path
)
def test_serve_has_a_flag_for_each_setting_with_its_default(setting: Setting) -> None:
    (option,) = [option for option in setting_options() if option.name == setting.name]
    assert option.opts == [f"--{setting.name.replace('_', '-')}"]
    if setting.default not in ("", (), None):
        assert option.help.endswith(f"[default: {str(setting.default).lower()}]")


def test_serve_groups_the_flags_by_section() -> None:
    page = shown("serve")
    titles = [section.__doc__ or "" for section in sections_of(protocol_sections()).values()]
    assert all(titles)
    assert [title for title in sorted(titles, key=page.find) if title in page] == titles
