"""The help of the commands shows the true defaults of the options."""

import re

import pytest
from typer.testing import CliRunner

from botdrome.cli.app import COMMANDS as TABLE
from botdrome.cli.app import FORMER, app
from botdrome.cli.serve import setting_options
from botdrome.protocols import protocol_sections
from botdrome.server.settings import Setting, all_settings, sections_of
from tests.cli.commands import all_commands, run
from tests.docs.pages import DOCS

NAMES = {name for rows in TABLE.values() for name in rows}
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


def test_serve_shows_eleven_options_and_lists_all_settings() -> None:
    page = shown("serve")
    options = [one for one in COMMANDS["serve"].params if not one.hidden]
    options += [one for one in setting_options() if not one.hidden]
    assert len(options) == 11
    assert all(one.opts[0] in page for one in options)
    listed = " ".join(run("serve", "--settings").stdout.split())
    titles = [section.__doc__ or "" for section in sections_of(protocol_sections()).values()]
    assert all(titles)
    assert [title for title in sorted(titles, key=listed.find) if title in listed] == titles
    for setting in all_settings(protocol_sections()):
        assert f"--{setting.name.replace('_', '-')} " in listed


def test_the_first_screen_has_a_line_for_each_command_at_80_columns() -> None:
    lines = run("--help", width=80).stdout.splitlines()
    for panel, rows in TABLE.items():
        head = next(number for number, line in enumerate(lines) if f"─ {panel} ─" in line)
        for at, (name, (words, _)) in enumerate(rows.items(), head + 1):
            assert re.fullmatch(rf"│ {name} +{re.escape(words)} +│", lines[at])


@pytest.mark.parametrize(("former", "now"), FORMER.items())
def test_a_former_command_answers_with_the_new_one(former: str, now: str) -> None:
    result = run(*former.split(), "x")
    assert result.exit_code == 2
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())
    assert f"`botdrome {former}` is now `botdrome {now}`." in words
    assert now.split()[0] in NAMES


def test_a_typo_is_answered_with_what_was_meant() -> None:
    assert "Did you mean 'play'" in run("plya").stderr
    assert "--matches" in run("play", "gomoku", "a", "b", "--matchs", "3").stderr
    assert "did you mean gomoku?" in run("play", "gomuko", "house:random", "house:random").stderr
