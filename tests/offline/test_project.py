"""Projects: folders with a `bot.toml`, as bots of all commands."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import bubblewrap
from typer.testing import CliRunner

from botdrome.cli.app import app
from botdrome.cli.join import bot_name
from botdrome.cli.new import LANGUAGES
from botdrome.cli.options import game_and_bot
from botdrome.client import sandbox
from botdrome.client.program import CannotStart
from botdrome.client.sandbox import SANDBOXED, BotFiles, files_of_command
from botdrome.offline.entrants import bot_version, distinct_names
from botdrome.offline.isolation import ISOLATED, Isolation, close_idle
from botdrome.offline.project import KEYS, LARGEST, BotProject, project_at
from botdrome.offline.seats import check_bot, is_python
from tests.offline.failing_bots import GAME, NEVER, played_by
from tests.offline.test_bot_bundle import names, packed

NEEDED = "NEED_BUBBLEWRAP"
"""With this variable set, a missing bubblewrap is a failure."""
FUNCTION = """
def first(view):
    free = [[row, column] for row in range(3) for column in range(3)
            if not view["board"][row][column]]
    return {"mark": view["marks"][view["you"]], "space": free[0]}
"""
PROGRAM = (
    FUNCTION
    + """
import json, sys
for path in [open("words.txt").read(), *sys.argv[1:]]:
    try:
        print(open(path).read(), file=sys.stderr)
    except OSError as error:
        print(error.strerror, file=sys.stderr)
for line in sys.stdin:
    told = json.loads(line)
    if "end" not in told:
        print(json.dumps(first(told["view"]) if "view" in told else "ready"), flush=True)
"""
)


@pytest.fixture
def ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a bot, seen from the folder above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "strategy.py").write_text(FUNCTION)
    (folder / "words.txt").write_text("words.txt")
    (folder / "program.py").write_text(PROGRAM)
    return folder


@pytest.fixture
def bwrap() -> Iterator[None]:
    if shutil.which("bwrap") is None:
        assert not os.environ.get(NEEDED), sandbox.NO_BUBBLEWRAP
    if why := bubblewrap.problem():
        pytest.skip(why)
    yield
    close_idle()


def described(folder: Path, text: str) -> None:
    (folder / "bot.toml").write_text(text)


IN_SANDBOX = Isolation(sandbox=True, limits=SANDBOXED)
COMMANDS = {
    "strategy.py:first": "",
    "view:python3 program.py": "words.txt",
}


@pytest.mark.parametrize("isolation", [ISOLATED, IN_SANDBOX], ids=["plain", "sandbox"])
@pytest.mark.parametrize(("command", "log"), COMMANDS.items())
def test_a_project_plays_from_elsewhere_in_its_own_folder(
    ada: Path, command: str, log: str, isolation: Isolation, bwrap: None
) -> None:
    described(ada, f"command = {json.dumps(command)}")
    ada.chmod(0o755)
    check_bot("ada", GAME, isolation)
    _, table, told = played_by("ada", NEVER, isolation, "house:random")
    assert table.faults == {} and told.strip() == log
    assert is_python("ada") is not command.startswith("view:")
    assert len(bot_version("ada")) == 12


def test_a_command_of_a_project_shows_no_file_of_the_user(ada: Path, bwrap: None) -> None:
    """Its author wrote it, and not the user."""
    secret = ada.parent / "secret"
    secret.write_text("do not tell")
    secret.chmod(0o644)
    described(ada, f'command = "view:python3 program.py {secret}"')
    ada.chmod(0o755)
    _, table, told = played_by("ada", NEVER, ISOLATED, "house:random")
    assert table.faults == {} and "do not tell" in told
    _, table, told = played_by("ada", NEVER, IN_SANDBOX, "house:random")
    assert table.faults == {} and told.split("\n")[1] == "No such file or directory"


def test_a_program_of_a_project_adds_no_folder_to_the_sandbox(ada: Path) -> None:
    tool = ada.parent / "private" / "bin" / "tool"
    (ada.parent / "private" / "lib").mkdir(parents=True)
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    assert files_of_command([str(tool)], ada) == BotFiles((ada,))
    assert files_of_command([str(tool)]) == BotFiles((ada.parent / "private",))


def test_a_program_of_a_project_does_not_show_the_folder_of_the_users_own_programs(
    ada: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has keyrings, too."""
    tool = ada.parent / ".local" / "bin" / "tool"
    (ada.parent / ".local" / "lib").mkdir(parents=True)
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    monkeypatch.setenv("HOME", str(ada.parent))
    monkeypatch.setenv("PATH", str(tool.parent))
    assert files_of_command(["tool"], ada) == BotFiles((ada,))


def test_a_project_has_a_name_and_a_game(ada: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described(ada, 'command = "strategy.py:first"')
    assert bot_name("ada") == bot_name("ada/") == "ada" and game_and_bot(["ada"]) == ("", "ada")
    described(ada, f'command = "strategy.py:first"\nname = "Ada L."\ngame = "{GAME}"')
    assert bot_name("ada") == "Ada L." and game_and_bot(["ada"]) == (GAME, "ada")
    assert game_and_bot(["gomoku", "ada"]) == ("gomoku", "ada")
    with pytest.raises(CannotStart, match=f"^ada: its bot.toml is for {GAME}, not for gomoku$"):
        check_bot("ada", "gomoku")
    monkeypatch.chdir(ada)
    assert distinct_names([".", "../ada", "house:random"]) == (
        "Ada L.",
        "Ada L. #2",
        "house:random",
    )


def test_a_project_of_a_link_to_itself_has_an_end(ada: Path) -> None:
    (ada / "loop.py").symlink_to(ada)
    described(ada, 'command = "loop.py"')
    with pytest.raises(CannotStart, match=r"^ada: this is a directory"):
        check_bot("ada", GAME)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", 'command: this key is missing; for example command = "view:./bot"'),
        ('name = "x"\ncomand = "x.py"', "line 2: comand: there is no such key; there are command,"),
        ('\ngame = 3\ncommand = "x.py"', "line 2: game: one of noughts-and-crosses, "),
        ('command = "x.py"\ngame = "chess"', "line 2: game: one of noughts-and-crosses, "),
        ('command = "house:random"', "line 1: command: FILE.py[:NAME], policy:FILE.py, or a "),
        ('command = "view: "', "line 1: command: FILE.py[:NAME], policy:FILE.py, or a program"),
        ('command = "x.py"\nname = ""', "line 2: name: 1 to 64 characters, not ''; for example"),
        (f'command = "x.py"\nname = "{65 * "x"}"', "line 2: name: 1 to 64 characters, not 'xxx"),
        ('command = "x.py"\noptions = 3', "line 2: options: a table with options of the game, not"),
        ('command = "/x/bot.py"', "line 1: command: the file of a bot in Python is in the folder"),
        ('command = "policy:../x.py"', "line 1: command: the file of a bot in Python is in the f"),
        ('command = "x.py"\nbuild = [', "line 2: this is not TOML: "),
        ("#" * LARGEST + "\n", f"the file has more than {LARGEST} bytes"),
        ("a = " + 5000 * "[" + 5000 * "]", "line 1: at most 8 tables and lists inside each other"),
    ],
)
def test_a_wrong_file_is_told_with_its_line_and_key(ada: Path, text: str, problem: str) -> None:
    described(ada, text)
    result = CliRunner().invoke(app, ["play", GAME, "ada", "house:random"])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"botdrome: ada/bot.toml: {problem}")


def test_a_file_that_is_not_text_is_refused(ada: Path) -> None:
    (ada / "bot.toml").write_bytes(b"\xff")
    with pytest.raises(CannotStart, match=r"^ada/bot.toml: 'utf-8' codec can't decode"):
        project_at("ada")


def test_a_project_travels_whole(ada: Path, tmp_path: Path) -> None:
    described(ada, 'command = "view:python3 program.py"')
    bundle = packed("ada", "ada/")
    root = bundle.unpacked(tmp_path / "worker")
    assert bundle.plan_in(root).entrants == ("ada", "ada/")
    expected = ["bot.toml", "program.py", "strategy.py", "words.txt"]
    assert names(root / "here" / "ada") == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_new_writes_the_file_for_every_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["new", "gomoku", 'a "bot"', "--lang", language]
    assert CliRunner().invoke(app, words).exit_code == 0
    row = LANGUAGES[language]
    assert project_at('a "bot"') == BotProject(row.bot, "gomoku", language, row.build, 'a "bot"')
    assert "botdrome play gomoku . house:random" in Path('a "bot"/README.md').read_text()


def test_the_page_describes_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs/playing-offline.md").read_text()
    section = page.partition("### Projects")[2].partition("\n### ")[0]
    rows = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted(KEYS) == sorted(BotProject.__struct_fields__)
